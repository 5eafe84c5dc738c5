"""Symptoms that people tell in their own words, and the causes that each can have."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from . import _data

# A word of denial close before a symptom: "no crash", "没有报错".
_DENIED = re.compile(
    r"(?:\b(?:no|not|never|without|isn't|aren't|doesn't|didn't|kein\w{0,2}|nicht|sans|sin)\s{1,2}(?:\w{1,10}\s)?|没有|没|不会|不是|未|并不)$",
    re.I,
)
_REACH = 24
_FLAGS = re.IGNORECASE | re.ASCII  # ASCII: a word also ends where Chinese or Japanese begins


@dataclass(frozen=True)
class Symptom:
    """One symptom; ``causes`` the most likely first. ``patterns`` are tried on prose, without regard to case."""

    id: str
    causes: tuple[str, ...]
    means: str
    patterns: tuple[re.Pattern[str], ...]


@cache
def symptoms() -> tuple[Symptom, ...]:
    """Every symptom, the more telling first."""
    return tuple(
        Symptom(
            row["id"],
            tuple(row["causes"]),
            row["means"],
            tuple(re.compile(pattern, _FLAGS) for pattern in row["patterns"]),
        )
        for row in _data.rows("symptoms")
    )


def symptom(identifier: str) -> Symptom | None:
    """The symptom of that id."""
    return next((row for row in symptoms() if row.id == identifier), None)


def told(line: str) -> Iterator[Symptom]:
    """The symptoms that one line of prose tells."""
    for row in symptoms():
        if any(_said(pattern, line) for pattern in row.patterns):
            yield row


def _said(pattern: re.Pattern[str], line: str) -> bool:
    found = pattern.search(line)
    return found is not None and not _DENIED.search(line[max(0, found.start() - _REACH) : found.start()])
