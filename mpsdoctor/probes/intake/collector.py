"""Collects what a ticket says into facts: the stronger statement wins, and what contradicts it is kept and told."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from typing import Any

from mpsdoctor.facts import (
    Claim,
    Conda,
    CondaPackage,
    Contradiction,
    Distribution,
    Environment,
    Facts,
    Host,
    Interpreter,
    Message,
    Messages,
    Packages,
    Torch,
    normalize,
)
from mpsdoctor.facts.messages import TOLD

# How strong a statement is: prose, a form that a person filled in, what a message implies, what a tool printed.
PROSE, FORM, IMPLIED, PRINTED = 0, 1, 2, 3
_MOST_PACKAGES = 2_000
_SUBJECTS = {
    "host": Host,
    "interpreter": Interpreter,
    "torch": Torch,
    "conda": Conda,
    "environment": Environment,
}


@dataclass(frozen=True)
class _Statement:
    value: Any
    source: str
    rank: int


@dataclass
class Collector:
    """Takes statements one by one. Values are those of the facts' fields; lines count from 1."""

    _found: dict[tuple[str, str], _Statement] = field(default_factory=dict)
    _against: dict[tuple[str, str], list[_Statement]] = field(default_factory=dict)
    _variables: dict[str, str] = field(default_factory=dict)
    _variable_lines: list[int] = field(default_factory=list)
    _packages: dict[str, tuple[str | None, int, int]] = field(default_factory=dict)
    _conda: dict[str, CondaPackage] = field(default_factory=dict)
    whole_list: bool = False
    messages: list[Message] = field(default_factory=list)
    claims: list[Claim] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)

    def put(self, subject: str, name: str, value: Any, line: int, rank: int, *, how: str = "") -> None:
        """Take one statement. `how` is added to its source in brackets; a None says nothing and is left out."""
        if value is None:
            return
        source = f"line {line}{f' ({how})' if how else ''}{TOLD if rank == PROSE else ''}"
        new, key = _Statement(value, source, rank), (subject, name)
        old = self._found.get(key)
        if old is None:
            self._found[key] = new
        elif _agree(old.value, value):
            better = _longer(old.value, value)
            stronger = new if rank > old.rank or (better is value and old.value != value and rank == old.rank) else old
            self._found[key] = dataclasses.replace(stronger, value=better)
        else:
            winner, loser = (new, old) if rank > old.rank else (old, new)
            self._found[key] = winner
            against = self._against.setdefault(key, [])
            if len(against) < 5 and all(not _agree(other.value, loser.value) for other in against):
                against.append(loser)

    def get(self, subject: str, name: str) -> Any:
        """Return the value that stands at the moment, or None."""
        found = self._found.get((subject, name))
        return found.value if found else None

    def rank(self, subject: str, name: str) -> int:
        """Return how strong the present statement is, -1 where there is none."""
        found = self._found.get((subject, name))
        return found.rank if found else -1

    def line(self, subject: str, name: str) -> int:
        """Return the line of the present statement, 1 where there is none."""
        found = self._found.get((subject, name))
        return int(found.source.split(" ")[1]) if found else 1

    def drop(self, subject: str, name: str) -> None:
        """Forget a statement that has turned out to say something else."""
        self._found.pop((subject, name), None)
        self._against.pop((subject, name), None)  # what is not stated at all is not contradicted

    def variable(self, name: str, value: str, line: int) -> None:
        """Take one environment variable; the first value of a name counts."""
        self._variables.setdefault(name, value)
        self._variable_lines.append(line)

    def package(self, name: str, version: str | None, line: int, rank: int) -> None:
        """Take one installed distribution."""
        key = normalize(name)
        old = self._packages.get(key)
        if (old is None and len(self._packages) < _MOST_PACKAGES) or (old is not None and old[2] < rank):
            self._packages[key] = (version, line, rank)

    def conda_package(self, package: CondaPackage) -> None:
        """Take one line of conda list."""
        if len(self._conda) < _MOST_PACKAGES:
            self._conda.setdefault(normalize(package.name), package)

    def facts(self) -> Facts:
        """Return everything as facts. Absent from a list that is only an extract says nothing: `partial` tells so."""
        subjects = {name: self._subject(name, cls) for name, cls in _SUBJECTS.items()}
        packages = Packages()
        if self._packages:
            listed = tuple(Distribution(name=name, version=version) for name, (version, _, _) in self._packages.items())
            first = min(line for _, line, _ in self._packages.values())
            weakest = max(rank for _, _, rank in self._packages.values())
            source = f"line {first}{TOLD if weakest == PROSE else ''}"
            packages = Packages(distributions=listed, partial=None if self.whole_list else True, sources={"*": source})
        return Facts(**subjects, packages=packages, messages=self._messages())

    def _subject(self, subject: str, cls: Any) -> Any:
        mine = {name: found for (owner, name), found in self._found.items() if owner == subject}
        values = {name: found.value for name, found in mine.items()}
        sources = {name: found.source for name, found in mine.items()}
        if subject == "environment" and self._variables:
            values["variables"] = dict(self._variables)
            sources["variables"] = f"line {min(self._variable_lines)}"
        if subject == "conda" and self._conda:
            values["packages"] = tuple(self._conda.values())
        return cls(**values, sources=sources)

    def _messages(self) -> Messages:
        contradictions = tuple(
            Contradiction(
                fact=f"{subject}.{name}",
                values=(_shown(self._found[(subject, name)].value), *(_shown(other.value) for other in others)),
                places=(self._found[(subject, name)].source, *(other.source for other in others)),
            )
            for (subject, name), others in self._against.items()
        )
        ordered = sorted(self.messages, key=lambda message: message.line or 0)
        return Messages(
            items=tuple(ordered),
            claims=tuple(self.claims) or None,
            contradictions=contradictions or None,
            errors=tuple(self.errors[:20]) or None,
        )


def _shown(value: Any) -> str:
    return ", ".join(map(str, value)) if isinstance(value, tuple) else str(value)


def _agree(old: Any, new: Any) -> bool:
    """True where one statement only says more than the other: "3.10" and "3.10.14", "Apple M1" and "Apple M1 Pro"."""
    if old == new:
        return True
    if not isinstance(old, str) or not isinstance(new, str):
        return False
    short, long = sorted((old.lower(), new.lower()), key=len)
    return short == long or (long.startswith(short) and long[len(short)] in ". +") or (short == "intel" in long)


def _longer(old: Any, new: Any) -> Any:
    if isinstance(old, str) and isinstance(new, str):
        return new if len(new) > len(old) else old
    return old
