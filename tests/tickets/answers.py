"""What the tests of tickets share: the carried tickets and the answer to a text."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import date
from functools import cache
from pathlib import Path

from mpsdoctor.diagnosis import Diagnosis, diagnose
from mpsdoctor.facts import Facts
from mpsdoctor.probes.intake import read_ticket
from mpsdoctor.registry import Finding, Registry, judge, load_registry

TODAY = date(2026, 12, 1)
FOLDER = Path(__file__).resolve().parent


@dataclass(frozen=True)
class Ticket:
    """A public ticket in our own words: its text, its right cause, and others that are right too."""

    name: str
    text: str
    cause: str
    also_right: tuple[str, ...]
    source: str

    @property
    def right(self) -> set[str]:
        return {self.cause, *self.also_right}


@dataclass(frozen=True)
class Answer:
    """What `check --from` makes of a text."""

    facts: Facts
    findings: tuple[Finding, ...]
    diagnosis: Diagnosis

    @property
    def cause(self) -> str | None:
        return self.diagnosis.causes[0].cause if self.diagnosis.causes else None

    @property
    def certain(self) -> str | None:
        """The first cause, where it is certain."""
        first = self.diagnosis.causes[0] if self.diagnosis.causes else None
        return first.cause if first is not None and first.confidence == "certain" else None

    @property
    def crashed(self) -> list[str]:
        return [finding.id for finding in self.findings if finding.outcome == "crash"]


@cache
def registry() -> Registry:
    return load_registry()


def answer(text: str | bytes) -> Answer:
    facts, _ = read_ticket(text.encode() if isinstance(text, str) else text)
    findings = judge(facts, registry(), today=TODAY)
    return Answer(facts, findings, diagnose(findings, facts))


@cache
def tickets(folder: Path = FOLDER) -> tuple[Ticket, ...]:
    labels = json.loads((folder / "labels.json").read_text("utf-8"))
    return tuple(
        Ticket(
            name,
            (folder / f"{name}.txt").read_text("utf-8"),
            entry["cause"],
            tuple(entry["also_right"]),
            entry["source"],
        )
        for name, entry in labels.items()
    )
