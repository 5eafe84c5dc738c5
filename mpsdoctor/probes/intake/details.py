"""The parts of a message that decide: what was wanted, what was offered, operators, architectures, sizes."""

from __future__ import annotations

import re
from collections.abc import Iterator

_PIP = re.compile(
    r"satisfies the requirement (?P<name>[A-Za-z][\w.-]{0,60})(?:\[[\w,-]{1,60}\])? "
    r"?(?P<spec>[=~<>!]=[^\s()\"']{1,80}|[<>][^\s()\"'=]{1,80})?"
)
_FROM = re.compile(r"\(from versions: (?P<list>[^()\n]{1,20000})\)?")
_NO_MATCH = re.compile(
    r"No matching distribution found for (?P<name>[A-Za-z][\w.-]{0,60})(?:\[[\w,-]{1,60}\])? "
    r"?(?P<spec>[=~<>!]=[^\s()\"']{1,80})?"
)
_UV = re.compile(
    r"(?:Distribution )?[`'\"]?(?P<name>[A-Za-z][\w.-]{0,60})==(?P<version>[\w.+!]{1,60})(?: @ "
    r"[^`'\"\n]{1,200})?[`'\"]? can't be installed because"
)
_UV_HINT = re.compile(
    r"but [`'\"]?(?P<name>[A-Za-z][\w.-]{0,60})[`'\"]? \(v(?P<version>[^)\s]{1,60})\) only has wheels"
)
_UV_TAG = re.compile(r"You're on \w+ \([`'\"]?(?P<tag>\w{1,40})[`'\"]?\)")
_UV_CPYTHON = re.compile(r"You're using CPython (?P<version>3\.\d{1,2}) \([`'\"]?cp(?P<tag>\d{2,3}t?)")
_POETRY = re.compile(
    r"(?:installation candidates for|Installing|Updating|Downgrading|Upgrading) (?P<name>[A-Za-z][\w.-]{0,"
    r"60}) \((?P<version>[^()\s]{1,60})\)"
)
_OPERATOR = re.compile(r"(?:operator|run) [`'\"](?P<operator>[\w]{1,30}::[\w.]{1,120})[`'\"]")
_HAVE_NEED = re.compile(r"have [('\"]{0,2}(?P<have>[\w, ]{3,40}?)[)'\"]{0,2}, need [('\"]{0,2}(?P<need>\w{3,12})")
_ALLOCATED = re.compile(
    r"MPS allocated: (?P<allocated>[\d.]{1,12} \w{2,5})(?:, other allocations: (?P<other>[\d.]{1,12} \w{2,5}))?"
    r"(?:, max allowed: (?P<max>[\d.]{1,12} \w{2,5}))?"
)
_TRIED = re.compile(r"[Tt]ried to allocate (?P<tried>[\d.]{1,14} \w{2,5})")
_MISSING = re.compile(r"(?:ModuleNotFoundError: )?No module named ['\"](?P<module>[\w.]{1,80})['\"]")
_WHEEL = re.compile(
    r"(?P<name>[A-Za-z][\w.]{0,60})-(?P<version>\d[\w.+!]{0,40})-(?:\d\w{0,8}-)?"
    r"(?P<python_tag>cp\d{2,3}|py\d{1,2}(?:\.py\d{1,2})?)"
    r"-(?P<abi_tag>\w{2,12})-(?P<platform_tag>[\w.]{3,120})\.whl is not a supported"
)
_TYPES = re.compile(r"Input type \((?P<input>[\w.:]{1,40})\) and (?:weight|bias) type \((?P<weight>[\w.:]{1,40})\)")
_ATTRIBUTE = re.compile(
    r"module ['\"](?P<module>torch[\w.]{0,40})['\"] has no attribute ['\"](?P<attribute>\w{1,60})['\"]"
)
_EXPECTED = re.compile(r"Expected in: (?:<[0-9A-Fa-f-]{8,40}> )?['\"]?(?P<expected>[^'\"\n]{1,300})")
_CONDA_LIST = re.compile(r"^\s{0,6}- (?P<name>[a-z][\w.-]{1,60})(?:[=<>~ ].{0,60})?$", re.MULTILINE)
_PATTERNS = (
    _PIP,
    _NO_MATCH,
    _UV,
    _UV_HINT,
    _UV_TAG,
    _UV_CPYTHON,
    _POETRY,
    _OPERATOR,
    _HAVE_NEED,
    _ALLOCATED,
    _TRIED,
    _MISSING,
    _EXPECTED,
    _WHEEL,
    _TYPES,
    _ATTRIBUTE,
)
# A pattern is tried only where its word stands in the text: most lines of a log have none of them.
_WORDS = (
    "satisfies the", "No matching", "can't be", "only has", "You're on", "You're using", " (", "::",
    "need ", "allocated", "allocate", "No module", "Expected in", "not a supported", "Input type",
    "no attribute",
)  # fmt: skip
_UNITS = {
    "bytes": 1,
    "b": 1,
    "kb": 1 << 10,
    "kib": 1 << 10,
    "mb": 1 << 20,
    "mib": 1 << 20,
    "gb": 1 << 30,
    "gib": 1 << 30,
    "tb": 1 << 40,
}


def details(text: str) -> dict[str, str]:
    """Return the deciding parts of one message by name; empty where there is none."""
    found: dict[str, str] = {}
    for word, pattern in zip(_WORDS, _PATTERNS, strict=True):
        if word in text and (match := pattern.search(text)):
            for name, value in match.groupdict().items():
                if value is not None:
                    found.setdefault(name, value.strip())
    if "spec" in found and found["spec"].startswith("=="):
        found.setdefault("version", found["spec"].lstrip("="))
    found.update(_offered(text))
    for name in ("allocated", "other", "max", "tried"):
        number = size(found[name]) if name in found else None
        if number is not None:
            found[f"{name}_bytes"] = str(round(number))
    return found


def _offered(text: str) -> dict[str, str]:
    match = _FROM.search(text) if "from versions" in text else None
    if match is None:
        return {}
    offered = [part.strip() for part in match["list"].split(",") if part.strip()]
    if not offered or offered == ["none"]:
        return {"offered": "none"}
    return {"first": offered[0][:30], "last": offered[-1][:30], "offered": str(len(offered))}


def conda_names(lines: str) -> Iterator[str]:
    """The packages that conda lists below "not available from current channels"."""
    for found in _CONDA_LIST.finditer(lines):
        yield found["name"]


def size(text: str) -> float | None:
    """Return a size as torch writes it ("1024.00 MB", "256 bytes") in bytes."""
    number, _, unit = text.partition(" ")
    factor = _UNITS.get(unit.lower())
    try:
        return float(number) * factor if factor else None
    except ValueError:
        return None
