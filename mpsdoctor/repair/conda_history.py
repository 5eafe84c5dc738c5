"""What the user asked conda for, by the environment's own history; the other packages are only dependencies."""

from __future__ import annotations

import ast
import re

from mpsdoctor.repair.names import is_conda_name

_SPECS = re.compile(r"^# (?P<kind>update|remove|neutered) specs: (?P<list>\[.*\])\s*$", re.MULTILINE)
# name, a relation with a version, and perhaps a build, which is for one architecture: "pandas=1.5.3=py39h_0".
_SPEC = re.compile(
    r"(?:[\w./-]+::)?(?P<name>[a-z0-9_][a-z0-9._-]*)\s*(?P<version>(?:[<>=!~]=?)[\w.*,<>=!~|]*?)?(?:=[\w*]+)?"
)


def requested(history: str) -> tuple[str, ...]:
    """Return the specs that stand at the end of conda-meta/history, without channels and builds.

    >>> requested("# update specs: ['python=3.9', 'conda-forge::pandas=1.5.3=py39h_0', 'x']\\n# remove specs: ['x']")
    ('python=3.9', 'pandas=1.5.3')
    """
    found: dict[str, str] = {}
    for match in _SPECS.finditer(history):
        for text in _texts(match["list"]):
            # Of the bracket form (pandas[version=">=1"]) the name is enough.
            spec = _SPEC.fullmatch(text.strip().lower().partition("[")[0])
            if spec is None or not is_conda_name(spec["name"]):
                continue
            found.pop(spec["name"], None)
            if match["kind"] == "update":
                found[spec["name"]] = spec["name"] + (spec["version"] or "")
    return tuple(found.values())


def _texts(text: str) -> list[str]:
    try:
        items = ast.literal_eval(text)
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        return []
    return [item for item in items if isinstance(item, str)] if isinstance(items, list) else []
