"""A conda environment, by the records in its conda-meta folder and by conda's own configuration."""

from __future__ import annotations

from dataclasses import dataclass

from mpsdoctor.facts.codec import Subject
from mpsdoctor.facts.packages import normalize


@dataclass(frozen=True, kw_only=True)
class CondaPackage:
    """One record of conda-meta. `subdir` is osx-64, osx-arm64 or noarch."""

    name: str
    version: str | None = None
    build: str | None = None
    channel: str | None = None
    subdir: str | None = None


@dataclass(frozen=True, kw_only=True)
class Conda(Subject):
    """The conda side of the target. `present` False: it was looked for, and the target is no conda environment."""

    present: bool | None = None
    prefix: str | None = None
    root_prefix: str | None = None
    environment_name: str | None = None
    is_base: bool | None = None
    family: str | None = None  # miniforge, miniconda, anaconda, micromamba, pixi
    subdir: str | None = None  # of the packages installed: osx-64 or osx-arm64
    tool_platform: str | None = None  # `platform` of conda info: what conda itself runs as
    conda_version: str | None = None
    configured_subdir: str | None = None
    configured_channels: tuple[str, ...] | None = None
    packages: tuple[CondaPackage, ...] | None = None
    unreadable: tuple[str, ...] | None = None  # conda-meta files that are damaged

    def get(self, name: str) -> CondaPackage | None:
        """Return the package of that name, or None."""
        wanted = normalize(name)
        return next((p for p in self.packages or () if normalize(p.name) == wanted), None)

    @property
    def channels(self) -> tuple[str, ...]:
        """The channels that the installed packages came from, most used first."""
        counts: dict[str, int] = {}
        for package in self.packages or ():
            if package.channel and package.channel != "pypi":
                counts[package.channel] = counts.get(package.channel, 0) + 1
        return tuple(sorted(counts, key=lambda channel: (-counts[channel], channel)))
