"""How the terminal's report is laid out: labels, wrapped words, commands that stand whole on a line. Pure."""

from __future__ import annotations

import shlex
import textwrap
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from rich.text import Text

from mpsdoctor.report.commands import parts as split
from mpsdoctor.report.words import printable, shorten
from mpsdoctor.verdict import CRASH, FAIL, PASS, SKIP, UNKNOWN, WARN

LABEL = 14  # columns of "How we know   "
SIGNS = {PASS: "✓", WARN: "!", FAIL: "✗", SKIP: "·", UNKNOWN: "?", CRASH: "‼"}
STYLES = {PASS: "green", WARN: "bold yellow", FAIL: "bold red", SKIP: "dim", UNKNOWN: "cyan", CRASH: "magenta"}
_GLUE = "\u2420"  # stands for a blank within a command; no command holds one
_WORST = (FAIL, CRASH, WARN, UNKNOWN, PASS, SKIP)


@dataclass(frozen=True)
class Style:
    """How to print: columns, details of every check, and the home folder to shorten paths by."""

    width: int = 80
    verbose: bool = False
    home: str | None = None


def link(outcomes: Collection[str], usable: bool | None) -> str:
    """Return what one link of the chain shows: the worst outcome of its checks.

    Behind a GPU that allocated and agreed with the CPU, a fact that nobody recorded makes no link doubtful that passed
    otherwise; the line of counts tells it all the same.
    """
    worst = next(outcome for outcome in _WORST if outcome in outcomes)
    return PASS if worst == UNKNOWN and usable and PASS in outcomes else worst


def headline(outcome: str, summary: str, check_id: str, width: int) -> list[Text]:
    """Return the sign and the sentence, with the check's id at the right edge."""
    style = "bold" if outcome == SKIP else STYLES[outcome]
    parts = textwrap.wrap(printable(summary), width - 3 - len(check_id) - 2) or [""]
    first = Text().append(f"{SIGNS[outcome]} {parts[0]}", style=style)
    if check_id:
        first.append(" " * max(2, width - len(first.plain) - len(check_id)) + check_id, style="dim")
    return [first, *(Text(f"  {part}", style=style) for part in parts[1:])]


def advice(label: str, text: str, width: int) -> list[Text]:
    """Words are wrapped; a command in them stands whole on a line of its own, so that it can be copied as it is."""
    lines: list[Text] = []
    for part in split(text):
        if part.command:
            lines.append(command_text(part.text, "" if lines else label))
        else:
            lines += labelled("" if lines else label, part.text, width)
    return lines


def command_text(text: str, label: str = "") -> Text:
    """Return a command on a line of its own, beside a label at most: it begins in the same column everywhere."""
    return Text(f"  {label:<{LABEL}}", style="bold", no_wrap=True).append(printable(text), style="bold cyan")


def quote(part: str, home: str | None) -> str:
    """Return one word of a command for a shell; ~ stays outside of the quotes."""
    short = shorten(part, home)
    quoted = shlex.quote(short[2:]) if short.startswith("~/") else shlex.quote(part)
    return f"~/{quoted}" if short.startswith("~/") else quoted


def labelled(
    label: str, value: str, width: int, *, columns: int = LABEL, indent: str = "  ", label_style: str = "bold"
) -> list[Text]:
    """Return a label and its value, which goes on below itself."""
    room = max(20, width - len(indent) - columns)
    parts = textwrap.wrap(printable(value), room, break_on_hyphens=False) or [""]
    first = Text(indent)
    first.append(f"{label:<{columns}}", style=label_style)
    first.append(parts[0], style="none")
    rest: Sequence[Text] = [Text(" " * (len(indent) + columns) + part) for part in parts[1:]]
    return [first, *rest]


def wrapped(text: str, width: int, *, indent: str, style: str = "none") -> list[Text]:
    """Return words in as many lines as they need; what is `whole` stays on one line."""
    parts = textwrap.wrap(
        printable(text),
        width,
        initial_indent=indent if style else "",
        subsequent_indent=indent,
        break_long_words=_GLUE not in text,
        break_on_hyphens=_GLUE not in text,
    )
    return [Text(parted(part), style=style) for part in parts]


def whole(command: str) -> str:
    """Return a command that `wrapped` does not break: it is to be copied."""
    return command.replace(" ", _GLUE)


def parted(text: str) -> str:
    """Return a line whose `whole` commands have their blanks again."""
    return text.replace(_GLUE, " ")
