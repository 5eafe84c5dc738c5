"""The table of torch releases itself; ``releases`` asks it questions."""

from __future__ import annotations

import datetime
import re
from dataclasses import dataclass
from functools import cache

from . import _data, versions

_TAG = re.compile(r"(?:\d+-)?cp(\d)(\d+)-(\w+)-macosx_(\d+)_(\d+)_(?:arm64|x86_64|universal2)")


@dataclass(frozen=True)
class Release:
    """One stable release of torch as its macOS wheels are; ``mps_floor`` and the like are macOS versions.

    A field that nobody has looked up yet (a release newer than the last hand check) is None.
    """

    version: str
    date: datetime.date
    requires_python: str | None
    arm64_pythons: tuple[str, ...]
    arm64_tags: tuple[str, ...]
    x86_64_pythons: tuple[str, ...]
    x86_64_tags: tuple[str, ...]
    mps_floor: str | None
    mps_floor_enforced: str | None
    mps_floor_in_error: str | None
    mps_error: str | None
    no_gpu_error: str | None
    gpu_probe: str | None
    minos: str | None
    sdk: str | None
    torchvision: str | None
    torchvision_pin: str | None
    torchaudio: str | None
    torchaudio_pin: str | None
    torchaudio_in_step: bool | None
    numpy2_abi: bool | None
    bundled_openmp: str | None
    git_version: str | None
    notes: tuple[str, ...]

    def pythons(self, machine: str) -> tuple[str, ...]:
        """The Python versions with a wheel for ``machine``, such as ``("3.10", "3.13t")``."""
        return {"arm64": self.arm64_pythons, "x86_64": self.x86_64_pythons}.get(machine, ())

    def tags(self, machine: str) -> tuple[str, ...]:
        """The wheel tags for ``machine``, such as ``cp310-none-macosx_11_0_arm64``."""
        return {"arm64": self.arm64_tags, "x86_64": self.x86_64_tags}.get(machine, ())

    @property
    def key(self) -> tuple[int, int, int]:
        """``(major, minor, patch)``, for ordering."""
        return versions.stable(self.version) or (0, 0, 0)


@dataclass(frozen=True)
class WheelTag:
    """What the name of a macOS wheel asks for: ``"3.13t"`` and ``"14.0"`` for ``cp313-cp313t-macosx_14_0_arm64``."""

    python: str
    macos: str


def wheel_tag(text: str) -> WheelTag | None:
    """The Python and the macOS in a tag of a CPython wheel for macOS, with or without a build number before it."""
    found = _TAG.fullmatch(text)
    if found is None:
        return None
    free_threaded = "t" if found[3].endswith("t") else ""
    return WheelTag(f"{found[1]}.{found[2]}{free_threaded}", f"{found[4]}.{found[5]}")


@cache
def releases() -> tuple[Release, ...]:
    """Every stable release with macOS wheels since 1.12.0, the first with MPS; oldest first."""
    return tuple(sorted((_release(row) for row in _data.rows("releases")), key=lambda one: one.key))


def release(version: str) -> Release | None:
    """The release that ``version`` names (``2.9.1``, ``2.9.1+cpu``, ``2.9.1.post0``); None for any other build."""
    wanted = versions.stable(version)
    return next((one for one in releases() if one.key == wanted), None)


def newest() -> Release:
    """The newest stable release in the table."""
    return releases()[-1]


def _release(row: _data.Row) -> Release:
    fields: _data.Row = {name: row.get(name) for name in Release.__dataclass_fields__}
    fields |= {name: tuple(value) for name, value in fields.items() if isinstance(value, list)}
    return Release(**{**fields, "date": datetime.date.fromisoformat(row["date"])})
