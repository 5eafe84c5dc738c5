"""Messages that torch, installers, macOS and programs print, and what each points to."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache

from . import _data, versions

LEVELS = ("error", "crash", "warning")
MOST_PER_ROW = 20  # a log may repeat one message a million times
_BEFORE, _AFTER = 300, 4000  # characters around a needle that a pattern may see; pip's version lists are the longest
_SHOWN = 500
_LONG = 200_000  # characters; from there on a log is worth a look at its different lines first
_DIGITS = bytes(ord("0") if 48 <= code <= 57 else code for code in range(256))
_COLOURS = re.compile(r"\x1b\[[0-9;]{0,20}m")


@dataclass(frozen=True)
class Message:
    """One message. ``torch`` says that the text is torch's own, so that ``since``..``until`` date the torch.

    ``match`` is ``literal`` or ``regex``; every match of a regex begins near one of its ``needles``. ``causes`` are
    slugs of the vocabulary, the most likely first, and empty for messages that point to nothing.
    """

    id: str
    pattern: str
    match: str
    level: str
    torch: bool
    causes: tuple[str, ...]
    means: str
    remedy: str
    since: str | None
    until: str | None
    source: str
    needles: tuple[str, ...] = ()


@dataclass(frozen=True)
class Match:
    """A message found in a text: its row, the number of the line (from 1), and that line, shortened if very long."""

    row: Message
    line_no: int
    line: str


@cache
def messages() -> tuple[Message, ...]:
    """Every message; where two can stand in one line, the more exact one comes first."""
    return tuple(
        Message(**{**row, "causes": tuple(row["causes"]), "needles": _data.texts(row.get("needles"))})
        for row in _data.rows("messages")
    )


def message(identifier: str) -> Message | None:
    """The message of that id."""
    return next((row for row in messages() if row.id == identifier), None)


def find(text: str) -> tuple[Match, ...]:
    """The messages in ``text``, by line, and within a line the more exact first.

    Any text will do: a log, a traceback, an issue form; terminal colours and typographic apostrophes are put
    right. Each row is reported for at most its first ``MOST_PER_ROW`` lines. The time grows with the length of
    the text and not with its content.
    """
    text = _plain(text)
    rows = _present(text) if len(text) <= _LONG else _likely(text)
    spots = sorted((start, order) for order, row in rows for start in _starts(row, text))
    found: list[tuple[int, int, int]] = []
    number, counted = 1, 0
    for start, order in spots:
        number += text.count("\n", counted, start)
        counted = start
        found.append((number, order, start))
    return tuple(Match(messages()[order], number, _shown(text, start)) for number, order, start in sorted(found))


def dated(rows: Iterable[Message]) -> tuple[str | None, str | None]:
    """The first and last torch release that fits all of these messages; None for an end that nothing bounds.

    ``(None, None)`` also where they contradict each other: then the text speaks of more than one torch.
    """
    listed = list(rows)
    since = max((row.since for row in listed if row.since), key=_order, default=None)
    until = min((row.until for row in listed if row.until), key=_order, default=None)
    if since and until and _order(since) > _order(until):
        return None, None
    return since, until


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    """Kept here: re's own cache is smaller than the table."""
    return re.compile(pattern, re.MULTILINE)


def _needles(row: Message) -> tuple[str, ...]:
    return row.needles or (row.pattern,)


def _present(text: str) -> list[tuple[int, Message]]:
    holds = text.__contains__
    return [(order, row) for order, row in enumerate(messages()) if any(map(holds, _needles(row)))]


def _likely(text: str) -> list[tuple[int, Message]]:
    """The rows that can be in a long text: their needles, digits aside, are in its different lines."""
    different = _different_lines(text)
    return [
        (order, row)
        for order, row in enumerate(messages())
        if any(_alike(needle) in different for needle in _needles(row))
    ]


def _different_lines(text: str) -> bytes:
    """The lines of a log that differ by more than their digits, once each: of a long log there are few."""
    return b"\n".join(dict.fromkeys(_alike(text).split(b"\n")))


def _alike(text: str) -> bytes:
    return text.encode("utf-8", "replace").translate(_DIGITS)


def _starts(row: Message, text: str) -> Iterator[int]:
    """Where the row's message begins, once a line and not more than ``MOST_PER_ROW`` times."""
    pattern = _compiled(row.pattern) if row.match == "regex" else None
    places = [_places(needle, pattern, text) for needle in _needles(row)]
    lines: set[int] = set()
    for start in (start for place in places for start in place):
        line = text.rfind("\n", 0, start)
        if line not in lines:
            lines.add(line)
            yield start
        if len(lines) >= MOST_PER_ROW:
            return


def _places(needle: str, pattern: re.Pattern[str] | None, text: str) -> Iterator[int]:
    """Where ``needle`` stands and, if there is a pattern, the text around it matches."""
    at = text.find(needle)
    while at >= 0:
        reach = at + len(needle) + _AFTER
        stop = text.find("\n", at, reach)
        stop = min(reach, len(text)) if stop < 0 else stop
        if pattern is None:
            yield at
        elif found := pattern.search(text, _line_start(text, at, _BEFORE), stop):
            yield found.start()
        # On from the end of what was looked at, so that no part of a text is searched twice for one needle.
        at = text.find(needle, stop)


def _plain(text: str) -> str:
    if "\x1b" in text:
        text = _COLOURS.sub("", text)
    return text.replace("\u2019", "'") if "\u2019" in text else text


def _shown(text: str, start: int) -> str:
    first = _line_start(text, start, _SHOWN // 2)
    end = text.find("\n", start, first + _SHOWN)
    return text[first : first + _SHOWN if end < 0 else end].strip()


def _line_start(text: str, at: int, most: int) -> int:
    """Where the line of ``at`` begins, or ``most`` characters before ``at`` if that is nearer."""
    earliest = max(at - most, 0)
    found = text.rfind("\n", earliest, at)
    return earliest if found < 0 else found + 1


def _order(version: str) -> tuple[int, int, int]:
    return versions.stable(version) or (0, 0, 0)
