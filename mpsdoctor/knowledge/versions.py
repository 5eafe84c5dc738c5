"""Versions as tuples of integers: of torch and its companions (PEP 440), and of macOS."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from packaging.version import Version

_MACOS = re.compile(r"\s*(?:macOS\s+)?(\d{1,3})(?:\.(\d{1,4}))?(?:\.(\d{1,4}))?", re.IGNORECASE)


@lru_cache(maxsize=1024)
def parse(version: str) -> Version | None:
    """The PEP 440 version in ``version``, or None when it is none."""
    # packaging builds large regular expressions on import; a run that asks nothing should not pay for them.
    from packaging.version import InvalidVersion, Version

    try:
        return Version(version.strip())
    except InvalidVersion:
        return None


def stable(version: str) -> tuple[int, int, int] | None:
    """``(major, minor, patch)`` of a final release; a ``+local`` part or ``.postN`` is ignored.

    None for text that is no version, and for nightlies, alphas and release candidates, whose contents the
    number does not tell.
    """
    parsed = parse(version)
    if parsed is None or parsed.is_prerelease or parsed.epoch:
        return None
    major, minor, patch = (*parsed.release, 0, 0)[:3]
    return major, minor, patch


def at_least(version: str | None, bound: str) -> bool | None:
    """Is torch ``version`` the release ``bound`` or later? None when nothing tells.

    A pre-release of ``bound`` itself is undecided: what it holds depends on the day that it was built.
    """
    parsed, limit = parse(version or ""), parse(bound)
    if parsed is None or limit is None:
        return None
    if parsed.is_prerelease and parsed.release == limit.release:
        return None
    return parsed >= limit


def macos(text: str | None) -> tuple[int, ...] | None:
    """``"14.4.1"`` -> ``(14, 4, 1)``; None when the version is missing, unreadable or disguised.

    Programs linked against an old SDK are shown two false versions (cpython issue 135675): 16.x stands for 26.x
    and is put right; 10.16 stands for any macOS from 11 on and is therefore unknown.
    """
    found = _MACOS.match(text or "")
    if not found:
        return None
    parts = tuple(int(part) for part in found.groups() if part is not None)
    if parts[:2] == (10, 16):
        return None
    return (26, *parts[1:]) if parts[0] == 16 else parts


def macos_in(version: tuple[int, ...], first: str | None, last: str | None) -> bool:
    """Lies ``version`` in ``first``..``last``, both included? ``last="14.4"`` includes 14.4.1, ``"26"`` all of 26."""
    low, high = macos(first), macos(last)
    if low is not None and _padded(version) < _padded(low):
        return False
    return high is None or _padded(version)[: len(high)] <= high


def _padded(version: tuple[int, ...]) -> tuple[int, ...]:
    return (*version, 0, 0, 0)[:3]
