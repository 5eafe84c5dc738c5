"""What a check answers: an outcome with evidence and remedies."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from mpsdoctor.facts.codec import Subject, encode
from mpsdoctor.facts.messages import BY_PLACE, TOLD

PASS, WARN, FAIL, SKIP, UNKNOWN, CRASH = "pass", "warn", "fail", "skip", "unknown", "crash"
CERTAIN, LIKELY, POSSIBLE = "certain", "likely", "possible"


@dataclass(frozen=True)
class Evidence:
    """One fact that a verdict rests on: its name ("host.chip"), its value, and where it came from."""

    fact: str
    value: Any
    source: str = ""

    @classmethod
    def of(cls, subject: Subject, field: str) -> Evidence:
        """Take a field of a subject of facts, with its source."""
        value: object = getattr(subject, field)
        if isinstance(value, tuple):
            value = [encode(item) for item in value]
        elif isinstance(value, Mapping):
            value = dict(value)
        else:
            value = encode(value)
        return cls(f"{type(subject).__name__.lower()}.{field}", value, subject.source(field))


@dataclass(frozen=True)
class Remedy:
    """What to do, in plain words, with commands to copy (each a list of arguments, never a shell line)."""

    text: str
    commands: tuple[tuple[str, ...], ...] = ()
    fix: str | None = None


@dataclass(frozen=True)
class Verdict:
    """The answer of one check.

    `cause` overrides the cause that the check was declared with. `gpu` False says that with this finding the GPU
    cannot be used. `missing` names the facts that would decide an unknown; `ask` says in words how to get them.
    """

    outcome: str
    detail: str = ""
    evidence: tuple[Evidence, ...] = ()
    remedies: tuple[Remedy, ...] = ()
    cause: str | None = None
    confidence: str = CERTAIN
    gpu: bool | None = None
    missing: tuple[str, ...] = ()
    ask: tuple[str, ...] = ()
    short: str = ""  # the same in a few words, for the list of what a cause explains


def passed(detail: str = "", evidence: Iterable[Evidence] = ()) -> Verdict:
    """The tested thing holds."""
    return Verdict(PASS, detail, tuple(evidence))


def fail(
    detail: str,
    evidence: Iterable[Evidence] = (),
    remedies: Iterable[Remedy] = (),
    *,
    cause: str | None = None,
    confidence: str = CERTAIN,
    gpu: bool | None = None,
    ask: Iterable[str] = (),
    short: str = "",
) -> Verdict:
    """The tested thing does not hold, and the user's work fails or cannot be trusted because of it."""
    return Verdict(FAIL, detail, tuple(evidence), tuple(remedies), cause, confidence, gpu, (), tuple(ask), short)


def warn(
    detail: str,
    evidence: Iterable[Evidence] = (),
    remedies: Iterable[Remedy] = (),
    *,
    cause: str | None = None,
    confidence: str = CERTAIN,
    gpu: bool | None = None,
    ask: Iterable[str] = (),
    short: str = "",
) -> Verdict:
    """It works, with something that the user should know and can act on."""
    return Verdict(WARN, detail, tuple(evidence), tuple(remedies), cause, confidence, gpu, (), tuple(ask), short)


def skip(because: str) -> Verdict:
    """The check does not apply here."""
    return Verdict(SKIP, because)


def unknown(*missing: str, detail: str = "", ask: Iterable[str] = ()) -> Verdict:
    """The named facts are missing, so nothing can be said. Never counts as a pass."""
    return Verdict(UNKNOWN, detail or f"not known: {', '.join(missing)}", missing=missing, ask=tuple(ask))


def explains(cause: Verdict, verdict: Verdict) -> bool:
    """A failure explains what stands behind it, a warning only warnings and guesses, a guess only guesses."""
    guess = verdict.confidence == POSSIBLE
    if cause.outcome not in (FAIL, WARN) or (cause.confidence == POSSIBLE and not guess):
        return False
    return cause.outcome == FAIL or verdict.outcome == WARN or guess


def capped(verdict: Verdict) -> Verdict:
    """What rests on prose alone is possible at most; what rests on it in part, or on a place in a ticket, is likely."""
    places = [item.source for item in verdict.evidence if item.source.startswith("line ")]
    if not places or verdict.outcome not in (FAIL, WARN):
        return verdict
    if all(place.endswith(TOLD) for place in places):
        return replace(verdict, confidence=POSSIBLE)
    if any(TOLD in place or BY_PLACE in place for place in places) and verdict.confidence == CERTAIN:
        return replace(verdict, confidence=LIKELY)
    return verdict
