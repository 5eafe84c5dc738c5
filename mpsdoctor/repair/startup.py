"""Files that set variables: shell profiles, activate scripts and conda's own list. Pure: text in, text out."""

from __future__ import annotations

import json
import re
from collections.abc import Collection

OPENING = "# >>> mpsdoctor took this out >>>"
CLOSING = "# <<< mpsdoctor <<<"


def sets(text: str, names: Collection[str], *, conda: bool = False) -> tuple[str, ...]:
    """Return the variables of `names` that this file sets."""
    if conda:
        return tuple(name for name in names if name in _conda_variables(text))
    return tuple(name for name in names if _assignment(name).search(text))


def without(text: str, names: Collection[str], *, conda: bool = False) -> str:
    """Return the text without the settings of these variables: in a shell's file they stay, as comments in a block."""
    if conda:
        return _conda_without(text, names)
    patterns = [_assignment(name) for name in names]
    lines = []
    for line in text.splitlines(keepends=True):
        body = line.rstrip("\r\n")
        if not any(pattern.search(body) for pattern in patterns):
            lines.append(line)
            continue
        end = line[len(body) :] or "\n"
        lines += [f"{OPENING}{end}", f"# {body}{end}", f"{CLOSING}{end}"]
    return "".join(lines)


def _assignment(name: str) -> re.Pattern[str]:
    """A line that does nothing but set the variable, in sh (export A=b) or fish (set -gx A b)."""
    return re.compile(
        rf"^[ \t]*(?:(?:export[ \t]+)?{re.escape(name)}=|set[ \t]+-[a-zA-Z]+[ \t]+{re.escape(name)}[ \t])", re.MULTILINE
    )


def _conda_variables(text: str) -> dict[str, str]:
    try:
        found = json.loads(text).get("env_vars", {})
    except (ValueError, AttributeError):
        return {}
    return found if isinstance(found, dict) else {}


def _conda_without(text: str, names: Collection[str]) -> str:
    """conda-meta/state, which `conda env config vars` writes."""
    data = json.loads(text)
    data["env_vars"] = {name: value for name, value in data["env_vars"].items() if name not in names}
    return json.dumps(data)
