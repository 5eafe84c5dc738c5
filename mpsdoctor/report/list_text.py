"""Lists for the terminal: names with their descriptions. Pure."""

from __future__ import annotations

import textwrap

from rich.text import Text

from mpsdoctor.knowledge import causes
from mpsdoctor.report.words import printable

_NARROWEST = 28  # columns of a description beside its name
FAMILY_WORDS = {
    "environment": "the environment; there is something to repair",
    "platform": "a limit of the Mac, macOS or the release; the remedy is a choice",
    "code": "the program; the setup is fine",
    "fine": "nothing is wrong",
}


def list_causes(width: int) -> list[Text]:
    """Return every cause by family with its meaning, wrapped at the width."""
    lines: list[Text] = []
    column = max(len(cause.slug) for cause in causes.causes())
    for family, words in FAMILY_WORDS.items():
        lines += [Text()] if lines else []
        lines.append(Text(f"{family}: {words}", style="bold"))
        for cause in causes.causes():
            if cause.family == family:
                lines += described(cause.slug, cause.means, column, width)
    return lines


def described(name: str, text: str, column: int, width: int) -> list[Text]:
    """Return a name and its whole description, which goes on below itself; on a narrow screen below the name."""
    beside = width - column - 4 >= _NARROWEST
    indent = column + 4 if beside else 6
    pieces = textwrap.wrap(printable(text), max(_NARROWEST, width - indent), break_on_hyphens=False) or [""]
    first = Text(f"  {name:<{column}}".rstrip() if not beside else f"  {name:<{column}}  ", style="cyan")
    if beside:
        first.append(pieces.pop(0), style="none")
    return [first, *(Text(" " * indent + piece) for piece in pieces)]
