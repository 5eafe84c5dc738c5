"""Recognises what machines printed: the message table on the text as it is, unwrapped, and without any blanks."""

from __future__ import annotations

import bisect
import re
from collections.abc import Sequence
from functools import cache

from mpsdoctor.facts import Message
from mpsdoctor.knowledge import messages as table
from mpsdoctor.probes.intake.details import details
from mpsdoctor.probes.intake.text import Line
from mpsdoctor.probes.intake.wrapping import Joined, join, rejoin

_PER_ROW = 3  # places of one message that are kept
_SHOWN = 400
_SHORTEST = 16  # characters without blanks; shorter patterns could meet by chance where lines touch
_BLANKS = re.compile(r"\s+")


def recognise(lines: Sequence[Line], logical: Sequence[Joined]) -> list[Message]:
    """Return the messages of a ticket in its order, each with the number of its line and its deciding parts."""
    found: dict[tuple[str, int], Message] = {}
    full = {one.number: one.text for one in logical}
    _search("\n".join(line.text for line in lines), [line.number for line in lines], full, found)
    if any(one.parts > 1 for one in logical):
        # Where a line is as wide as the widest, it may have been cut in a word or between two: both are tried.
        for variant in (logical, join(lines, cut=True), join(lines, cut=False)):
            texts = {one.number: one.text for one in variant}
            _search("\n".join(texts.values()), list(texts), texts, found)
    found = _at_their_beginning(found, logical)
    seen = {identifier for identifier, _ in found}
    found = _at_their_beginning(found, _search_unseen(rejoin(lines), seen, found))
    seen = {identifier for identifier, _ in found}
    for row, number in _without_blanks(lines, seen):
        found.setdefault((row.id, number), _message(row, full.get(number, ""), number))
    kept: dict[str, int] = {}
    ordered = []
    for message in _most_exact(sorted(found.values(), key=lambda one: (one.line or 0, _order(one.id)))):
        kept[message.id] = kept.get(message.id, 0) + 1
        if kept[message.id] <= _PER_ROW:
            ordered.append(message)
    return ordered


def _at_their_beginning(
    found: dict[tuple[str, int], Message], logical: Sequence[Joined]
) -> dict[tuple[str, int], Message]:
    """Move what stands in a later part of a wrapped line to its first part, where the whole line shows it too."""
    wholes = {one.number: one for one in logical if one.parts > 1}
    moved: dict[tuple[str, int], Message] = {}
    starts = sorted(wholes)
    for (identifier, number), message in found.items():
        place = bisect.bisect_right(starts, number) - 1
        one = wholes[starts[place]] if place >= 0 else None
        row = table.message(identifier)
        if one is not None and row is not None and number < one.number + one.parts and any(_span(row, one.text)):
            moved.setdefault((identifier, one.number), _message(row, one.text, one.number))
        else:
            moved.setdefault((identifier, number), message)
    return moved


def _search_unseen(joined: Sequence[Joined], seen: set[str], found: dict[tuple[str, int], Message]) -> list[Joined]:
    """Find the rows that nothing else has shown, in lines that were perhaps one; return the lines that were."""
    texts = {one.number: one.text for one in joined if one.parts > 1}
    more: dict[tuple[str, int], Message] = {}
    _search("\n".join(texts.values()), list(texts), texts, more)
    new = {key: message for key, message in more.items() if key[0] not in seen}
    found.update(new)
    places = {number for _, number in new}
    return [one for one in joined if one.number in places]


def _most_exact(messages: list[Message]) -> list[Message]:
    """Of rows that match the same words of a line only the first, the most exact one, is kept."""
    kept: list[Message] = []
    spans: list[tuple[int | None, int, int]] = []
    for message in messages:
        row = table.message(message.id)
        start, end = _span(row, message.text) if row else (0, 0)
        if any(line == message.line and start < stop and begin < end for line, begin, stop in spans):
            continue
        kept.append(message)
        if row is not None and row.causes and end > start:
            spans.append((message.line, start, end))
    return kept


def _span(row: table.Message, text: str) -> tuple[int, int]:
    if row.match == "regex":
        found = re.search(row.pattern, text, re.MULTILINE)
        return found.span() if found else (0, 0)
    start = text.find(row.pattern)
    return (start, start + len(row.pattern)) if start >= 0 else (0, 0)


def spans(messages: Sequence[Message], logical: Sequence[Joined]) -> dict[int, list[tuple[int, int]]]:
    """Where in each logical line, by its number, its messages stand."""
    texts = {one.number: one.text for one in logical}
    found: dict[int, list[tuple[int, int]]] = {}
    for message in messages:
        row, number = table.message(message.id), message.line or 0
        if row is not None and number in texts:
            found.setdefault(number, []).append(_span(row, texts[number]))
    return found


def _search(text: str, numbers: Sequence[int], full: dict[int, str], found: dict[tuple[str, int], Message]) -> None:
    for match in table.find(text):
        number = numbers[match.line_no - 1]
        whole = full.get(number) or match.line
        found.setdefault((match.row.id, number), _message(match.row, whole, number))


def _message(row: table.Message, text: str, number: int) -> Message:
    return Message(
        id=row.id,
        text=_around(text, row)[:_SHOWN],
        line=number,
        since=row.since if row.torch else None,
        until=row.until if row.torch else None,
        values=details(text) or None,
    )


def _around(text: str, row: table.Message) -> str:
    """Return the part of a very long line that shows the message."""
    if len(text) <= _SHOWN:
        return text.strip()
    needle = (row.needles or (row.pattern,))[0]
    at = max(0, text.find(needle) - _SHOWN // 4)
    return text[at : at + _SHOWN].strip()


@cache
def _order(identifier: str) -> int:
    return next((place for place, row in enumerate(table.messages()) if row.id == identifier), 0)


@cache
def _squeezed_rows() -> tuple[tuple[str, table.Message], ...]:
    rows = ((_BLANKS.sub("", row.pattern), row) for row in table.messages() if row.match == "literal")
    return tuple((pattern, row) for pattern, row in rows if len(pattern) >= _SHORTEST)


def _without_blanks(lines: Sequence[Line], seen: set[str]) -> list[tuple[table.Message, int]]:
    """Find fixed texts however they were wrapped: blanks are taken out of both."""
    pieces = [_BLANKS.sub("", line.text) for line in lines]
    text = "".join(pieces)
    starts: list[int] = []
    at = 0
    for piece in pieces:
        starts.append(at)
        at += len(piece)
    found = []
    for pattern, row in _squeezed_rows():
        if row.id in seen:
            continue
        place = text.find(pattern)
        if place >= 0:
            found.append((row, lines[bisect.bisect_right(starts, place) - 1].number))
    return found
