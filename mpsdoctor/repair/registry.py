"""Finds fixes by entry point; a fix that does not load or breaks harms no other."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import ModuleType
from typing import TYPE_CHECKING

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
        return (inspect.getdoc(self.function) or self.id).split("\n", 1)[0].strip()

    @functools.cached_property
    def sections(self) -> Mapping[str, str]:
        """The paragraphs of its docstring by heading: the steps it makes, what it keeps, how undo takes it back."""
        found: dict[str, str] = {}
        for paragraph in (inspect.getdoc(self.function) or "").split("\n\n")[1:]:
            heading, colon, text = paragraph.strip().partition(":")
            if colon and heading in SECTIONS:
                found[heading] = " ".join(text.split())
        return found


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
    from importlib.metadata import entry_points

    found: dict[str, Fix] = {}
    broken: dict[str, str] = {}
    points = entry_points(group=ENTRY_POINT_GROUP)
    for point in sorted(points, key=lambda p: (not p.value.startswith("mpsdoctor."), p.name)):
        try:
            fixes = list(_fixes_of(point.load()))
        except Exception as error:
            broken[point.name] = f"{type(error).__name__}: {error}"
            continue
        for item in fixes:
            if item.id in found:
                broken[point.name] = f"the id {item.id} is taken by {found[item.id].origin}"
                continue
            found[item.id] = replace(item, origin=point.dist.name if point.dist else point.value)
    return Fixes(tuple(found.values()), broken)


def _fixes_of(thing: object) -> Iterable[Fix]:
    if isinstance(thing, Fix):
        yield thing
    elif isinstance(thing, ModuleType):
        yield from (item for item in vars(thing).values() if isinstance(item, Fix))
    else:
        raise TypeError("the entry point names neither a module with fixes nor a fix")
