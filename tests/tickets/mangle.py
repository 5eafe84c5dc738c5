"""Ways in which tickets are damaged on their way: lines get lost, moved, wrapped, quoted, indented, translated."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable
from random import Random

from mpsdoctor.probes.intake.prose import is_prose

# What people say around a ticket, with nothing in it about a machine or a symptom.
REMARKS = (
    "请问这个怎么解决？谢谢大家",
    "同じ状況の方はいらっしゃいますか。よろしくお願いします",
    "Hat jemand eine Idee, woran das liegen kann?",
    "Bonjour à tous, je ne comprends pas ce qui se passe.",
    "Всем привет, подскажите, пожалуйста, в чём дело.",
    "¿Alguien sabe qué significa esto? Gracias.",
    "여러분 안녕하세요, 이것 좀 봐 주세요.",
    "Any help is appreciated, thank you!",
)
WIDTHS = (40, 56, 72, 80, 100, 120)
Mangle = Callable[[list[str], Random], list[str]]


def drop(lines: list[str], random: Random) -> list[str]:
    """Lose some lines, wherever."""
    return [line for line in lines if random.random() > 0.25]


def cut(lines: list[str], random: Random) -> list[str]:
    """Lose the beginning or the end, as who copies from a terminal does."""
    at = random.randrange(len(lines) + 1)
    return lines[at:] if random.random() < 0.5 else lines[:at]


def reorder(lines: list[str], random: Random) -> list[str]:
    """Exchange parts of the text."""
    at = random.randrange(len(lines) + 1)
    return [*lines[at:], *lines[:at]]


def shuffle(lines: list[str], random: Random) -> list[str]:
    """Put all lines into another order."""
    mixed = list(lines)
    random.shuffle(mixed)
    return mixed


def wrap_words(lines: list[str], random: Random) -> list[str]:
    """Break long lines between words, as a mail program does."""
    width = random.choice(WIDTHS)
    return [part for line in lines for part in (textwrap.wrap(line, width, break_long_words=False) or [""])]


def wrap_hard(lines: list[str], random: Random) -> list[str]:
    """Break long lines at one column, as a terminal does."""
    width = random.choice(WIDTHS)
    return [line[at : at + width] for line in lines for at in range(0, max(1, len(line)), width)]


def quote(lines: list[str], random: Random) -> list[str]:
    """Answer to the text."""
    mark = random.choice(("> ", ">", ">> ", "| "))
    return [mark + line for line in lines]


def indent(lines: list[str], random: Random) -> list[str]:
    """Indent all of it."""
    return [random.choice(("  ", "    ", "\t")) + line for line in lines]


def crlf(lines: list[str], random: Random) -> list[str]:
    """End the lines as Windows does, and some with blanks before that."""
    return [line + random.choice(("\r", " \r", "\r")) for line in lines]


def fence(lines: list[str], random: Random) -> list[str]:
    """Put all of it, or a part of it, into a code block."""
    first, last = sorted((random.randrange(len(lines) + 1), random.randrange(len(lines) + 1)))
    if random.random() < 0.5:
        first, last = 0, len(lines)
    mark = random.choice(("```", "~~~", "```text", "```bash", "````"))
    return [*lines[:first], mark, *lines[first:last], mark.rstrip("abcdefghijklmnopqrstuvwxyz"), *lines[last:]]


def translate(lines: list[str], random: Random) -> list[str]:
    """Put lines of prose into words of another language, and say something before and behind."""
    remark = random.choice(REMARKS)
    told = [remark if _only_prose(line) and random.random() < 0.5 else line for line in lines]
    return [random.choice(REMARKS), *told, random.choice(REMARKS)]


def _only_prose(line: str) -> bool:
    """Words without a label, a number or code, which a translation would keep."""
    return is_prose(line) and not re.search(r"[:=|`\d]", line)


MANGLES: dict[str, Mangle] = {
    one.__name__: one
    for one in (drop, cut, reorder, shuffle, wrap_words, wrap_hard, quote, indent, crlf, fence, translate)
}


def mangled(text: str, names: tuple[str, ...], seed: int) -> str:
    """Return the text after these damages, one after the other."""
    random, lines = Random(seed), text.split("\n")
    for name in names:
        lines = MANGLES[name](lines, random)
    return "\n".join(lines)
