"""The vocabulary of causes: what each means, how it is recognised, and what to do."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from . import _data

FAMILIES = ("environment", "platform", "code", "fine")


@dataclass(frozen=True)
class Cause:
    """One cause. ``family`` says who can act; ``since``..``until`` bound the torch releases that can have it.

    ``what_to_do`` holds lines to print as they are: sentences, and commands to copy.
    """

    slug: str
    family: str
    means: str
    how_to_tell: str
    what_to_do: tuple[str, ...]
    since: str | None
    until: str | None
    sources: tuple[str, ...]


@cache
def causes() -> tuple[Cause, ...]:
    """Every cause, in the order of the vocabulary."""
    return tuple(
        Cause(**{**row, "what_to_do": tuple(row["what_to_do"]), "sources": tuple(row["sources"])})
        for row in _data.rows("causes")
    )


def cause(slug: str) -> Cause | None:
    """The cause of that name; None for a slug that is not in the vocabulary (a plug-in's own, perhaps)."""
    return next((one for one in causes() if one.slug == slug), None)
