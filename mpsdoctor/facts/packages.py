"""Installed distributions, by their metadata."""

from __future__ import annotations

import re
from dataclasses import dataclass

from mpsdoctor.facts.codec import Subject


def normalize(name: str) -> str:
    """Return the comparison form of a distribution name (PEP 503)."""
    return re.sub(r"[-_.]+", "-", name).lower()


@dataclass(frozen=True, kw_only=True)
class Distribution:
    """One installed distribution. `tags` are those of its WHEEL file, which is no proof of its architecture."""

    name: str
    version: str | None = None
    location: str | None = None
    installer: str | None = None
    direct_url: str | None = None
    tags: tuple[str, ...] | None = None
    editable: bool | None = None
    requires: tuple[str, ...] | None = None  # only for the distributions that checks look into
    missing_files: int | None = None  # files of RECORD that are gone; only for those, too
    requested: bool | None = None


@dataclass(frozen=True, kw_only=True)
class Packages(Subject):
    """Every distribution that the target interpreter can see, in sys.path order (the first of a name wins)."""

    distributions: tuple[Distribution, ...] | None = None
    partial: bool | None = None  # True: an extract in a ticket; what is not in it may be installed all the same

    def get(self, name: str) -> Distribution | None:
        """Return the distribution that an import would find, or None."""
        wanted = normalize(name)
        return next((d for d in self.distributions or () if normalize(d.name) == wanted), None)

    def version(self, name: str) -> str | None:
        """Return its version, or None where it is not installed or not known."""
        found = self.get(name)
        return found.version if found else None

    def copies(self, name: str) -> tuple[Distribution, ...]:
        """Return every copy of one distribution."""
        wanted = normalize(name)
        return tuple(d for d in self.distributions or () if normalize(d.name) == wanted)
