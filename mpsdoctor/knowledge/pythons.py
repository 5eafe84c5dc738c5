"""CPython's versions and who builds the interpreters that people use."""

from __future__ import annotations

import datetime
import re
from dataclasses import dataclass
from functools import cache

from . import _data

VENDORS = (
    "python.org",
    "homebrew",
    "apple",
    "pyenv",
    "asdf",
    "uv",
    "conda-forge",
    "anaconda",
    "nix",
    "macports",
    "mise",
    "debian",
    "unknown",
)
# The arm64 installer; its checksum lies beside it, with .sha256 at the end: conda-forge/miniforge, README.
MINIFORGE = "https://github.com/conda-forge/miniforge/releases/latest/download/Miniforge3-MacOSX-arm64.sh"
_MINOR = re.compile(r"\s*(3\.\d{1,2})(?![\d])")


@dataclass(frozen=True)
class Python:
    """A minor version of CPython. The dates are the last days that the Developer's Guide's statement allows."""

    minor: str
    released: datetime.date
    end_of_life: datetime.date


@cache
def pythons() -> tuple[Python, ...]:
    """The minor versions from 3.7, the oldest with an MPS build of torch, to the newest."""
    return tuple(
        Python(row["minor"], _last_day(row["released"]), _last_day(row["end_of_life"])) for row in _data.rows("pythons")
    )


def python(version: str) -> Python | None:
    """The row for ``3.12``, ``3.12.4``, or ``3.13t``; None for a version that the table lacks."""
    found = _MINOR.match(version)
    return next((one for one in pythons() if found and one.minor == found[1]), None)


def end_of_life(version: str, today: datetime.date) -> bool | None:
    """Has this Python stopped getting even security fixes by ``today``? None for a version that the table lacks."""
    found = python(version)
    if found is None:
        return None
    return found.end_of_life < today


def vendor(
    sys_version: str, executable: str, base_prefix: str, conda: bool, externally_managed: str | None, platform: str
) -> str:
    """Who built this interpreter: one of ``VENDORS``.

    Asks ``sys.version``, ``sys.executable`` and ``sys.base_prefix`` of the interpreter, whether its base prefix
    holds ``conda-meta``, the text of its EXTERNALLY-MANAGED file, and ``sys.platform`` or sysconfig's platform.
    """
    system = "darwin" if platform.startswith(("darwin", "macosx")) else platform.split("-")[0]
    # A virtual environment's executable says where the environment is; the base prefix says whose Python it is.
    paths = (base_prefix,) if _settled(base_prefix) else (base_prefix, executable)
    for rule in _data.document("pythons")["vendors"]:
        if rule.get("platform", system) != system or (rule.get("conda") and not conda):
            continue
        if not _holds(rule.get("version"), sys_version) or not _holds(rule.get("managed"), externally_managed or ""):
            continue
        if any(_holds(rule.get("path"), path) for path in paths):
            return str(rule["vendor"])
    return "unknown"


def _settled(base_prefix: str) -> bool:
    """Does a rule decide on the base prefix alone, so that the executable must not?"""
    return any(rule.get("path") and _holds(rule["path"], base_prefix) for rule in _data.document("pythons")["vendors"])


def _holds(pattern: str | None, text: str) -> bool:
    return pattern is None or re.search(pattern, text) is not None


def _last_day(text: str) -> datetime.date:
    """``2026-10-31`` as it is, and for a bare month its last day."""
    if len(text) == len("2026-10-31"):
        return datetime.date.fromisoformat(text)
    year, month = map(int, text.split("-"))
    return datetime.date(year + month // 12, month % 12 + 1, 1) - datetime.timedelta(days=1)
