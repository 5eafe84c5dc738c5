"""The values in torch/version.py, read as text: importing it would run it."""

from __future__ import annotations

import ast
import re
from pathlib import Path

from mpsdoctor.facts import Torch
from mpsdoctor.probes.files import read_text

# A backslash is left out because Python warns on standard error of escapes that it does not know.
_ASSIGNMENT = re.compile(
    r"^(?P<name>__version__|git_version|cuda|debug)\s*(?::[^=\n]{1,80})?=(?P<value>[^\n\\]{1,200})$", re.MULTILINE
)


def read_torch_version(file: Path) -> Torch | None:
    """Return version, git_version, cuda and debug; None where there is no such file, unknown where it is damaged."""
    text = read_text(file)
    if text is None:
        return None
    values = {match["name"]: _literal(match["value"]) for match in _ASSIGNMENT.finditer(text)}
    version, git_version, cuda, debug = (values.get(key) for key in ("__version__", "git_version", "cuda", "debug"))
    return Torch(
        version=version if isinstance(version, str) else None,
        git_version=git_version if isinstance(git_version, str) else None,
        cuda=cuda if isinstance(cuda, str) else None,
        debug=debug if isinstance(debug, bool) else None,
    )


def _literal(text: str) -> object:
    try:
        return ast.literal_eval(text.strip())
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
        return None
