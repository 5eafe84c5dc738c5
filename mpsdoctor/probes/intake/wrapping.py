"""Joins what a terminal or a mail program broke into several lines."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from dataclasses import dataclass

from mpsdoctor.probes.intake.text import Line

# What begins a line of its own, however wide the line above is: what a tool says, and what a person tells next.
_TOOL_SPEAKS = re.compile(
    r"(?:[\w.]{1,80}\.)?[A-Z]\w{1,40}(?:Error|Exception|Warning): |(?:ERROR|WARNING|error|warning|fatal|hint|note): |"
    r"Traceback \(|File \"|zsh: |[×╰│] ?|(?:pip3?|uv|conda|python3?) (?:install|add|-m|create) "
)
_PERSON_TELLS = re.compile(
    r"(?:Apple )?M[1-9]\b|Mac(?:Book|mini|Pro)?\b|i?Mac\b|mac ?OS\b|Intel\b|Python 3|(?:Py)?[Tt]orch[ :=]{1,2}\d|"
    r"(?:I|My|We|It|This|On|Using|Running|Any|How|Why|What|Please|Thanks) \w|[\u3040-\u30ff\u4e00-\u9fff]"
)
_OPEN_END = re.compile(
    r"(?:\b(?:on|in|for|by|to|from|of|with|than|and|or|the|an?|is|are|at|least|requires?|needs?|supports?|only|my|this|our|your|new|"
    r"have|has|requirement|requirements|versions|named|module|install|installing|depends)|[,(=\[{:/-])$|[\u3040-\u30ff\u4e00-\u9fff]$"
)
NARROWEST = 30  # columns; a shorter longest line is a list of short lines, not wrapped text
WIDEST = 400
MOST_JOINED = 12  # lines that one width must explain; a paragraph may be longer


@dataclass(frozen=True)
class Joined:
    """One logical line: its text, the number of its first line, and whether a word was broken inside it."""

    number: int
    text: str
    parts: int = 1
    broken_word: bool = False


def join(lines: Sequence[Line], *, cut: bool | None = None) -> tuple[Joined, ...]:
    """Return the logical lines of a text.

    A line was wrapped where the next line's first word would not have fitted behind it. A line as wide as the widest
    one was cut in the middle of a word, as terminals do, where word characters meet at the cut; `cut` True or False
    settles that for all such lines.
    """
    found: list[Joined] = []
    for block in _blocks(lines):
        found += _join_block(block, cut)
    return tuple(found)


def rejoin(lines: Sequence[Line]) -> tuple[Joined, ...]:
    """Return the lines joined wherever some width explains the breaks, even where a long path is wider than that.

    This finds more than `join`, and joins lines now and then that stand below each other by chance.
    """
    found: list[Joined] = []
    for block in _blocks(lines):
        run: list[Line] = []
        for line in block:
            if run and (_begins_anew(run[-1].text, line.text) or not _one_width([*run[1 - MOST_JOINED :], line])):
                found.append(_run(run))
                run = []
            run.append(line)
        found.append(_run(run))
    return tuple(found)


def _one_width(run: Sequence[Line]) -> bool:
    """Can one width have broken a text into these lines? A line of one word may be wider."""
    least = max((len(line.text) for line in run if " " in line.text), default=0)
    most = min(len(line.text) + 1 + len(following.text.split(" ", 1)[0]) for line, following in itertools.pairwise(run))
    return max(least, NARROWEST) < most


def _run(run: Sequence[Line]) -> Joined:
    text = run[0].text
    for line, following in itertools.pairwise(run):
        text += ("" if _hyphenated(line.text, following.text) else " ") + following.text
    return Joined(run[0].number, text, len(run))


def _blocks(lines: Sequence[Line]) -> list[list[Line]]:
    """Split at empty lines: no program wraps across them."""
    blocks: list[list[Line]] = [[]]
    for line in lines:
        if line.text:
            blocks[-1].append(line)
        elif blocks[-1]:
            blocks.append([])
    return [block for block in blocks if block]


def _join_block(block: list[Line], always: bool | None) -> list[Joined]:
    width = max(len(line.text) for line in block)
    if len(block) == 1 or not NARROWEST <= width <= WIDEST:
        return [Joined(line.number, line.text) for line in block]
    full = sum(len(line.text) == width for line in block) > 1
    found: list[Joined] = []
    parts: list[str] = []
    number, count, broken = block[0].number, 0, False
    for line, following in zip(block, [*block[1:], None], strict=True):
        if not parts:
            number, count, broken = line.number, 0, False
        parts.append(line.text)
        count += 1
        cut = following is not None and len(line.text) == width and _cut_word(line.text, following.text, full)
        cut = cut if always is None else always and len(line.text) == width
        if following is not None and _begins_anew(line.text, following.text):
            found.append(Joined(number, "".join(parts), count, broken))
            parts = []
            continue
        if following is not None and (cut or _did_not_fit(line.text, following.text, width)):
            parts.append("" if cut or _hyphenated(line.text, following.text) else " ")
            broken = broken or cut
            continue
        found.append(Joined(number, "".join(parts), count, broken))
        parts = []
    return found


def _begins_anew(text: str, following: str) -> bool:
    """A widest line says nothing of the next one where that speaks of something else."""
    if _TOOL_SPEAKS.match(following):
        return True
    return _PERSON_TELLS.match(following) is not None and not _OPEN_END.search(text)


def _did_not_fit(text: str, following: str, width: int) -> bool:
    first = following.split(" ", 1)[0]
    return len(text) + 1 + len(first) > width


def _hyphenated(text: str, following: str) -> bool:
    """Text is also wrapped behind a hyphen, without a blank."""
    return text[-1] == "-" and text[-2:-1].isalnum() and following[0].isalnum()


def _cut_word(text: str, following: str, full: bool) -> bool:
    """`full`: several lines are as wide as the widest. One alone may just be the longest: digits tell a cut then."""
    if not full and not (following[0].isdigit() or following[0] in "_.+"):
        return False
    return _inside(text[-1]) and _inside(following[0])


def _inside(character: str) -> bool:
    return character.isalnum() or character in "_.-/'`+=()"
