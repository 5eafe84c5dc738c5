"""Symptoms that people tell in their own words, and the causes that each can have."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, lru_cache

from . import _data

# A word of denial close before a symptom: "no crash", "没有报错".
_DENIED = re.compile(
    r"(?:\b(?:no|not|never|without|isn't|aren't|doesn't|didn't|kein\w{0,2}|nicht|sans|sin)\s{1,2}(?:\w{1,10}\s)?"
    r"|没有|没|不会|不是|未|并不)$",
    re.IGNORECASE,
)
_REACH = 24
_FLAGS = re.IGNORECASE | re.ASCII  # ASCII: a word also ends where Chinese or Japanese begins
_SENTENCE = re.compile(r"(?<=[.!?])\s+|(?<=[。！？；;])|\n")
_MOST_SENTENCES = 12
# Concepts that are faults by themselves, which a word of denial before them takes back; others are things.
_FAULTS = frozenset({"black", "noise", "nan", "crash", "hang", "slower", "gibberish", "wrong"})


@dataclass(frozen=True)
class Symptom:
    """One symptom; ``causes`` the most likely first.

    It is told where a pattern stands in a line, or all the concepts of one entry of ``together`` in one or two
    sentences, unless a concept of ``unless`` stands there too.
    """

    id: str
    causes: tuple[str, ...]
    means: str
    patterns: tuple[re.Pattern[str], ...]
    together: tuple[tuple[str, ...], ...]
    unless: frozenset[str] = frozenset()


@cache
def symptoms() -> tuple[Symptom, ...]:
    """Every symptom, the more telling first."""
    return tuple(
        Symptom(
            row["id"],
            tuple(row["causes"]),
            row["means"],
            tuple(re.compile(pattern, _FLAGS) for pattern in row["patterns"]),
            tuple(tuple(names) for names in row["all"]),
            frozenset(row.get("unless", ())),
        )
        for row in _data.rows("symptoms")
    )


@cache
def concepts() -> dict[str, re.Pattern[str]]:
    """The concepts that symptoms are made of: words for one thing in several languages."""
    found: dict[str, list[str]] = _data.document("symptoms")["concepts"]
    return {name: re.compile("|".join(patterns), _FLAGS) for name, patterns in found.items()}


def symptom(identifier: str) -> Symptom | None:
    """The symptom of that id."""
    return next((row for row in symptoms() if row.id == identifier), None)


def told(line: str, following: str = "") -> Iterator[Symptom]:
    """The symptoms that one line of prose tells, the more telling first.

    A story may go on in the ``following`` line; a symptom that stands there alone is not told by this line.
    """
    spoken = _windows(line, following)
    for row in symptoms():
        if row.unless and any(not row.unless.isdisjoint(own) for own, _ in spoken):
            continue
        if any(_together(names, own, later) for names in row.together for own, later in spoken) or any(
            _said(pattern, line) for pattern in row.patterns
        ):
            yield row


def _together(names: tuple[str, ...], own: frozenset[str], later: frozenset[str]) -> bool:
    """All of them in a sentence and the next one, and not in the next one alone."""
    return own.union(later).issuperset(names) and not own.isdisjoint(names)


def _windows(line: str, following: str) -> list[tuple[frozenset[str], frozenset[str]]]:
    """The concepts of each sentence, beside those of the next one."""
    found = [_concepts_in(part) for part in _sentences(line)]
    after = [_concepts_in(part) for part in _sentences(following)[:1]]
    return list(itertools.pairwise([*found, *(after or [frozenset()])]))


def _sentences(text: str) -> list[str]:
    return [part for part in _SENTENCE.split(text) if len(part) > 1][:_MOST_SENTENCES]


@lru_cache(maxsize=2048)
def _concepts_in(text: str) -> frozenset[str]:
    known = concepts()
    found = {name for name, pattern in known.items() if (_said if name in _FAULTS else re.search)(pattern, text)}
    # "The loss is fine, no NaN": what is said of numbers there is praise.
    if found.isdisjoint(_FAULTS) and any(known[name].search(text) for name in _FAULTS):
        found -= {"numbers-differ", "zero-metric"}
    return frozenset(found)


def _said(pattern: re.Pattern[str], line: str) -> bool:
    """Does it stand in the line, and not only behind a word of denial: "no black image", "the loss has no NaN"?"""
    return any(not _is_denied(line, found) for found in pattern.finditer(line))


def _is_denied(line: str, found: re.Match[str]) -> bool:
    if _DENIED.search(line[max(0, found.start() - _REACH) : found.start()]):
        return True
    faults = [
        fault.start()
        for name in sorted(_FAULTS)
        for fault in concepts()[name].finditer(line, found.start() + 1, found.end())
    ]
    return bool(faults) and all(_DENIED.search(line[max(0, start - _REACH) : start]) for start in faults)
