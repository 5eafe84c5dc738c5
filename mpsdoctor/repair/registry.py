"""Finds fixes by entry point; a fix that does not load or breaks harms no other."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from mpsdoctor.plugins import docstring_sections, docstring_title, load_plugins
from mpsdoctor.repair.plan import Proposal

if TYPE_CHECKING:
    from mpsdoctor.repair.situation import Situation

ENTRY_POINT_GROUP = "mpsdoctor.fixes"
SECTIONS = ("Steps", "Keeps", "Undo")

Function = Callable[["Situation"], "Sequence[Proposal]"]


@dataclass(frozen=True)
class Fix:
    """One fix: a pure function of a situation that proposes steps, or none where another fix is meant.

    `packages` False: it changes files, variables or settings and no package, so that a new environment does not make
    it needless.
    """

    id: str
    causes: tuple[str, ...]
    function: Function
    packages: bool = True
    origin: str = "mpsdoctor"

    def __call__(self, situation: Situation) -> Sequence[Proposal]:
        """Propose."""
        return self.function(situation)

    @functools.cached_property
    def title(self) -> str:
        """The first line of its docstring."""
        return docstring_title(self.function, self.id)

    @functools.cached_property
    def sections(self) -> Mapping[str, str]:
        """The paragraphs of its docstring by heading: the steps it makes, what it keeps, how undo takes it back."""
        return docstring_sections(self.function, SECTIONS)


@dataclass(frozen=True)
class Fixes:
    """All fixes, ours before those of plug-ins, and the plug-ins that could not be loaded (name -> why)."""

    fixes: tuple[Fix, ...]
    broken: Mapping[str, str] = field(default_factory=dict)

    def for_cause(self, cause: str) -> tuple[Fix, ...]:
        """Return the fixes for a cause, in the order in which they are asked."""
        return tuple(item for item in self.fixes if cause in item.causes)


def fix(id: str, *, causes: Sequence[str], packages: bool = True) -> Callable[[Function], Fix]:  # noqa: A002
    """Declare a fix for these causes."""
    return lambda function: Fix(id, tuple(causes), function, packages)


@functools.cache
def load_fixes() -> Fixes:
    """Load every fix of every installed package."""
    found, broken = load_plugins(ENTRY_POINT_GROUP, Fix, ("fix", "fixes"))
    return Fixes(tuple(found.values()), broken)
