"""Questions about the macOS releases of torch: which Pythons and macOS versions each serves, what goes with it."""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterable
from dataclasses import dataclass

from . import versions
from ._table import Release, newest, release, releases, wheel_tag
from .companions import companion_matches, companions

__all__ = [
    "Floor",
    "Nightly",
    "Release",
    "companion_matches",
    "companions",
    "floor_for",
    "newest",
    "newest_for",
    "nightly",
    "nightly_left_index",
    "pythons_for",
    "release",
    "release_for_git",
    "releases",
    "wheel_tag",
]

NIGHTLY_KEPT = 60  # versions that the nightly index shows (pytorch/test-infra, s3_management/manage.py)
NIGHTLY_GONE_DAYS = 90  # 60 versions reach back 60 days, or further where nights failed; a third more is allowed


@dataclass(frozen=True)
class Floor:
    """The macOS that MPS needs. ``certain`` is False where it is carried over from the release before."""

    version: str
    certain: bool


@dataclass(frozen=True)
class Nightly:
    """A nightly build: the day it was made and the release that it leads to."""

    date: datetime.date
    base: str


def newest_for(macos: str | None, python: str | None, machine: str, *, exclude: Iterable[str] = ()) -> Release | None:
    """The newest release that can use the GPU of a Mac with this macOS, Python and architecture.

    ``python`` is ``"3.12"``, or ``"3.13t"`` for a free-threaded build; ``machine`` is that of the interpreter.
    The MPS floor, the macOS in the wheel's name and the Python must all be met; None when no release fits.
    A macOS or Python that is not known (None, unreadable, the disguised 10.16) does not restrict the answer:
    whoever asks without one must not present it as fit for that machine.
    """
    running = versions.macos(macos)
    left_out = {versions.stable(version) for version in exclude}
    for one in reversed(releases()):
        if one.key not in left_out and _serves(one, running, python, machine):
            return one
    return None


def pythons_for(version: str, machine: str) -> tuple[str, ...]:
    """The Pythons for which ``version`` has a wheel on ``machine``; empty for a build that is not in the table."""
    found = release(version)
    return found.pythons(machine) if found else ()


def floor_for(version: str) -> Floor | None:
    """The oldest macOS whose GPU ``version`` supports.

    Nightlies, source builds and releases that the table lacks get the floor of the newest release that is not
    above them, marked as not certain. None before 1.12, and for text that is no version.
    """
    asked = versions.parse(version)
    if asked is None:
        return None
    exact = release(version)
    if exact and exact.mps_floor:
        return Floor(exact.mps_floor, certain=True)
    for one in reversed(releases()):
        known = versions.parse(one.version)
        if one.mps_floor and known is not None and known <= asked:
            return Floor(one.mps_floor, certain=False)
    return None


def release_for_git(git_version: str) -> Release | None:
    """The release built from this commit: the full hash, or at least its first 7 digits."""
    prefix = git_version.strip().lower()
    if not re.fullmatch(r"[0-9a-f]{7,40}", prefix):
        return None
    found = [one for one in releases() if one.git_version and one.git_version.startswith(prefix)]
    return found[0] if len(found) == 1 else None


def nightly(version: str) -> Nightly | None:
    """The date and base in a nightly's version (``2.12.0.dev20260316``); None for anything else."""
    parsed = versions.parse(version)
    stamp = "" if parsed is None or parsed.dev is None else str(parsed.dev)
    if parsed is None or len(stamp) != 8:
        return None
    try:
        day = datetime.date(int(stamp[:4]), int(stamp[4:6]), int(stamp[6:]))
    except ValueError:
        return None
    return Nightly(day, parsed.base_version)


def nightly_left_index(date: datetime.date, today: datetime.date) -> bool | None:
    """Has the nightly of ``date`` left the nightly index, which keeps the newest 60 versions?

    One version a night at most: a build younger than 60 days is still there. Missed nights make the 60 reach
    further back, so the weeks after that are undecided (None), as is a date in the future.
    """
    age = (today - date).days
    if age < 0:
        return None
    if age < NIGHTLY_KEPT:
        return False
    return True if age >= NIGHTLY_GONE_DAYS else None


def _serves(one: Release, macos: tuple[int, ...] | None, python: str | None, machine: str) -> bool:
    if macos is None:
        return python in one.pythons(machine) if python else bool(one.pythons(machine))
    if one.mps_floor is None or not versions.macos_in(macos, one.mps_floor, None):
        return False
    wheels = [tag for tag in map(wheel_tag, one.tags(machine)) if tag and python in (None, tag.python)]
    return any(versions.macos_in(macos, wheel.macos, None) for wheel in wheels)
