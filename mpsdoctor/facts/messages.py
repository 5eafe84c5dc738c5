"""What a ticket or log says: lines that a machine printed, and what people tell in their own words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from mpsdoctor.facts.codec import Subject

# Marks at the end of a source. A fact that people tell in prose, or that only its place below a question connects with
# the question, is weaker than one that a tool printed; the registry lowers what rests on such facts alone.
TOLD = " (told)"
BY_PLACE = " (by its place)"


@dataclass(frozen=True, kw_only=True)
class Message:
    """One recognised line that a machine printed.

    `id` names the row of the message table, `line` counts from 1. `values` are the parts that decide: the wanted
    version, the operator, what an architecture is and should be, bytes.
    """

    id: str
    text: str = ""
    line: int | None = None
    since: str | None = None
    until: str | None = None
    values: Mapping[str, str] | None = None


@dataclass(frozen=True, kw_only=True)
class Claim:
    """One symptom that somebody tells in prose. `id` names the row of the symptom table."""

    id: str
    text: str = ""
    line: int | None = None
    values: Mapping[str, str] | None = None


@dataclass(frozen=True, kw_only=True)
class Contradiction:
    """One fact for which the ticket gives several values. The first is the one that was taken."""

    fact: str
    values: tuple[str, ...] = ()
    places: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Messages(Subject):
    """What was recognised, in the order of the ticket. `items` None: there was no ticket to read.

    `errors` are lines that report an error which no table knows.
    """

    items: tuple[Message, ...] | None = None
    claims: tuple[Claim, ...] | None = None
    contradictions: tuple[Contradiction, ...] | None = None
    errors: tuple[str, ...] | None = None

    @property
    def from_ticket(self) -> bool:
        """True where a text was read, whatever was found in it."""
        return self.items is not None

    def get(self, *ids: str) -> Message | None:
        """Return the first message of one of these rows."""
        return next((message for message in self.items or () if message.id in ids), None)

    def claim(self, *ids: str) -> Claim | None:
        """Return the first claim of one of these rows."""
        return next((claim for claim in self.claims or () if claim.id in ids), None)
