"""Lines of a ticket or log that a machine printed."""

from __future__ import annotations

from dataclasses import dataclass

from mpsdoctor.facts.codec import Subject


@dataclass(frozen=True, kw_only=True)
class Message:
    """One recognised line. `id` names the row of the message table, `line` counts from 1."""

    id: str
    text: str = ""
    line: int | None = None
    since: str | None = None
    until: str | None = None


@dataclass(frozen=True, kw_only=True)
class Messages(Subject):
    """The recognised messages, in the order of the ticket."""

    items: tuple[Message, ...] | None = None
