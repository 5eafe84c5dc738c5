"""Explanations for the terminal: a check, a cause, messages, a pasted text. Pure: knowledge in, styled lines out."""

from __future__ import annotations

import re
import shlex
import textwrap
from collections.abc import Iterable, Sequence

from rich.text import Text

from mpsdoctor.diagnosis import Diagnosis
from mpsdoctor.facts import Facts
from mpsdoctor.knowledge import causes, releases, versions
from mpsdoctor.knowledge.causes import Cause
from mpsdoctor.knowledge.messages import Message
from mpsdoctor.registry import Check
from mpsdoctor.report.commands import parts
from mpsdoctor.report.layout import LABEL, command_text
from mpsdoctor.report.list_text import FAMILY_WORDS
from mpsdoctor.report.program import command
from mpsdoctor.report.words import printable
from mpsdoctor.verdict import Remedy

__all__ = [
    "Text",
    "explain_cause",
    "explain_check",
    "explain_messages",
    "explain_ticket",
    "unknown",
]

_MOST_ROWS = 2
_MOST_STEPS = 6
_MOST_SOURCES = 3
# Advice that leads to a newer torch without saying which.
_NEWER_TORCH = re.compile(
    r"\b[Uu]pgrade torch\b|\binstall (?:-[\w-]+ )*torch\b(?!==)|\b(?:a )?newer torch\b|\btorch anew\b|"
    r"\binstall[^\n]{0,40} pytorch\b|\bordinary wheel\b|\banother torch release\b"
)


def explain_check(check: Check, width: int) -> list[Text]:
    """Return what a check tests, why, what to do, and the causes that it can name."""
    lines = [_head(check.id, check.title, width)]
    for heading, text in check.sections.items():
        lines += _labelled(heading, text, width)
    named = list(dict.fromkeys(filter(None, (check.cause, *check.causes))))
    if named:
        lines += _labelled("Causes", ", ".join(named), width)
        lines.append(_hint(command(f"explain {named[0]}")))
    return lines


def explain_cause(cause: Cause, checks: Iterable[Check], width: int) -> list[Text]:
    """Return what a cause means, how to tell it, what to do, and which checks find it."""
    lines = [_head(cause.slug, cause.means, width)]
    lines += _labelled("Who can act", FAMILY_WORDS.get(cause.family, cause.family), width)
    lines += _labelled("How to tell", cause.how_to_tell, width)
    lines += _steps(cause.what_to_do, width)
    lines += _ceiling(cause.what_to_do, width)
    lines += _since(cause.since, cause.until, width)
    lines += _labelled("Sources", "; ".join(cause.sources[:_MOST_SOURCES]), width)
    found_by = [check.id for check in checks if cause.slug in (check.cause, *check.causes)]
    if found_by:
        lines += _labelled("Found by", ", ".join(found_by), width)
    return lines


def explain_messages(rows: Sequence[Message], width: int) -> list[Text]:
    """Return what messages mean, which causes they can have, and how to tell these apart."""
    lines: list[Text] = []
    for row in rows[:_MOST_ROWS]:
        lines += [Text()] if lines else []
        lines.append(_head(row.id, row.means, width))
        lines += _steps([row.remedy], width) + _ceiling([row.remedy], width) if row.remedy else []
        lines += _since(row.since, row.until, width)
        lines += _labelled("Sources", row.source, width)
        if len(row.causes) > 1:
            lines += _labelled("Can also be", ", ".join(row.causes[1:]), width)
    first = next((slug for row in rows for slug in row.causes), None)
    known = causes.cause(first) if first else None
    if known is not None:
        lines += [*_labelled("How to tell", known.how_to_tell, width), _hint(command(f"explain {known.slug}"))]
    return lines


def explain_ticket(
    facts: Facts, diagnosis: Diagnosis, rows: Sequence[Message], width: int, remedies: Sequence[Remedy] = ()
) -> list[Text]:
    """Return the answer to a pasted text: the cause that its facts leave, then the messages themselves.

    `remedies`: those of the finding behind the first cause, with their commands.
    """
    first = diagnosis.causes[0] if diagnosis.causes else None
    known = causes.cause(first.cause) if first else None
    if first is None or known is None:
        return explain_messages(rows, width)
    sure = "" if first.confidence == "certain" else f"   ({first.confidence})"
    lines = [_head(f"{first.cause}{sure}", first.summary, width)]
    lines += _labelled("Who can act", FAMILY_WORDS.get(known.family, known.family), width)
    decisive = next((row for row in rows if first.cause in row.causes), rows[0] if rows else None)
    if decisive is not None:
        lines += _labelled("The message", decisive.means, width)
    lines += _labelled("How to tell", known.how_to_tell, width)
    lines += _remedies(remedies, width) if remedies else _steps(known.what_to_do, width)
    advised = [remedy.text for remedy in remedies] or list(known.what_to_do)
    if not any("==" in word for remedy in remedies for argv in remedy.commands for word in argv):
        lines += _ceiling([*advised, *(" ".join(argv) for one in remedies for argv in one.commands)], width)
    lines += _steps(diagnosis.ask, width, "To be sure")
    if decisive is not None:
        lines += _since(decisive.since, decisive.until, width)
        lines += _labelled("Sources", decisive.source, width)
        others = [slug for slug in decisive.causes if slug != first.cause]
        lines += _labelled("Can also be", ", ".join(others), width) if others else []
    lines.append(_hint(command(f"explain {first.cause}")))
    return lines


def unknown(text: str, width: int) -> list[Text]:
    """Return the answer for what no table knows."""
    shown = textwrap.shorten(printable(text), 60, placeholder=" ...")
    lines = [_head("not known", f"No check, cause or message fits {shown!r}.", width)]
    advice = (
        f"{command('explain --list')} shows the causes. Give the whole error text, in quotes or on stdin: the "
        "last line alone often says too little."
    )
    lines += _labelled("What to do", advice, width)
    lines.append(_hint(command("check --from FILE   judges a whole ticket")))
    return lines


def _head(name: str, text: str, width: int) -> Text:
    line = Text().append(printable(name), style="bold")
    for part in textwrap.wrap(printable(text), max(20, width - 2), break_on_hyphens=False):
        line.append(f"\n  {part}", style="none")
    return line


def _labelled(label: str, text: str, width: int) -> list[Text]:
    room = max(20, width - LABEL - 2)
    parts = textwrap.wrap(printable(text), room, break_on_hyphens=False, break_long_words=False) or [""]
    first = Text("  ")
    first.append(f"{label:<{LABEL}}", style="bold")
    first.append(parts[0], style="none")
    return [first, *(Text(" " * (LABEL + 2) + part) for part in parts[1:])]


def _steps(steps: Sequence[str], width: int, label: str = "What to do") -> list[Text]:
    """Words are wrapped; a command stands whole on a line of its own, so that it can be copied as it is."""
    lines: list[Text] = []
    for step in steps[:_MOST_STEPS]:
        for part in parts(step):
            if part.command:
                lines.append(command_text(part.text, "" if lines else label))
            else:
                lines += _labelled("" if lines else label, part.text, width)
    return lines


def _remedies(remedies: Sequence[Remedy], width: int) -> list[Text]:
    lines: list[Text] = []
    for index, remedy in enumerate(remedies[:_MOST_STEPS]):
        lines += _steps([remedy.text], width, "What to do" if index == 0 else "or")
        lines += [command_text(" ".join(map(shlex.quote, argv))) for argv in remedy.commands[:_MOST_STEPS]]
    return lines


def _ceiling(texts: Iterable[str], width: int) -> list[Text]:
    """The newest torch of each macOS that cannot run the newest one, below advice that leads to a newer torch."""
    if not any(_NEWER_TORCH.search(text) for text in texts):
        return []
    newest = releases.newest()
    found = []
    for floor in sorted({one.mps_floor for one in releases.releases() if one.mps_floor}, key=_macos):
        best = releases.newest_for(floor, None, "arm64")
        if best is not None and best.version != newest.version:
            found.append(f"on macOS {floor.removesuffix('.0')} at most {best.version}")
    return _labelled("Which torch", ", ".join(found), width) if found else []


def _macos(version: str) -> tuple[int, ...]:
    return versions.macos(version) or ()


def _since(since: str | None, until: str | None, width: int) -> list[Text]:
    if since is None and until is None:
        return []
    bounds = f"{f'from {since} ' if since else ''}{f'to {until}' if until else 'on'}".strip()
    return _labelled("torch", f"{bounds}", width)


def _hint(text: str) -> Text:
    return Text(f"  {text}", style="dim")
