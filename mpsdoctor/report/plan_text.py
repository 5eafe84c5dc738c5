"""A plan, and what became of it, for people at a terminal. Pure: the report's JSON data in, styled lines out."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from typing import Any

from rich.text import Text

from mpsdoctor.facts import Facts
from mpsdoctor.report.layout import Style, parted, quote, whole
from mpsdoctor.report.program import command
from mpsdoctor.report.words import printable, shorten

_ARGUMENTS = 12  # of a command that are shown; -v shows all
_CHANGES = 12
Data = Mapping[str, Any]


def format_plan(plan: Data, facts: Facts, style: Style, *, last: str | None = None) -> list[Text]:
    """Return the report's `plan` in words and as exact commands, and a `last` line that says what to do."""
    lines = [Text(f"Plan for {printable(shorten(plan['target'], style.home))}{_machine(facts)}", style="bold")]
    for number, fix in enumerate(plan["fixes"], 1):
        lines += _fix(number, fix, style)
    if plan["fixes"]:
        proof = f"{len(plan['fixes']) + 1}  prove it: examine the environment anew, and train where there is a GPU"
        lines += _wrapped(proof, style, "     ")
        lines += _costs(plan, style)
    elif not plan["manual"] and not plan["refused"]:
        lines.append(Text("  Nothing was found that needs a repair."))
    for item in plan["manual"]:
        lines += _told("by hand", item["text"], style)
    for item in plan["refused"]:
        lines += _told("not here", f"{item['cause']}: {item['because']}", style)
    if last:
        lines += [Text(line.plain, style="dim") for line in _wrapped(last, style, "  ")]
    return lines


def _machine(facts: Facts) -> str:
    python = f"Python {facts.interpreter.version}" if facts.interpreter.version else ""
    where = f"macOS {facts.host.macos_version}" if facts.host.macos_version else ""
    first = " ".join(part for part in (python, facts.interpreter.machine or "") if part)
    words = ", ".join(word for word in (first, where) if word)
    return f" ({printable(words)})" if words else ""


def _fix(number: int, fix: Data, style: Style) -> list[Text]:
    lines = _wrapped(f"{number}  {_short(fix['summary'], style)}", style, "     ")
    for note in fix["notes"]:
        lines += _wrapped(f"   {_short(note, style)}", style, "       ")
    for step in fix["steps"]:
        lines += _step(step, style)
    return lines


def _short(text: str, style: Style) -> str:
    return " ".join(shorten(word, style.home) for word in text.split(" "))


def _step(step: Data, style: Style) -> list[Text]:
    argv = step["argv"]
    if argv is None:
        return _wrapped(f"   - {_short(step['title'], style)}", style, "       ")
    shown = argv if style.verbose else argv[:_ARGUMENTS]
    words = [f"{name}={quote(value, style.home)}" for name, value in step["env"].items()]
    words += [quote(word, style.home) for word in shown]
    rest = len(argv) - len(shown)
    line = " ".join(words) + (f" ... ({rest} more, shown with -v)" if rest else "")
    return [Text("     " + printable(line), style="bold cyan", no_wrap=True)]


def _costs(plan: Data, style: Style) -> list[Text]:
    downloads = [fix["downloads_mb"] for fix in plan["fixes"] if fix["downloads_mb"] is not None]
    needed, free = plan["disk_needed_mb"], plan["disk_free_mb"]
    kept = plan["kept"]
    parts = [
        f"kept: {kept} other package{'s' if kept != 1 else ''}" if kept else "",
        f"cannot keep: {', '.join(plan['cannot_keep'])}" if plan["cannot_keep"] else "",
        f"downloads about {max(downloads):.0f} MB" if downloads else "",
        f"disk: {needed:.0f} MB at most of {free:.0f} MB free" if needed is not None and free is not None else "",
    ]
    lines = _wrapped(" · ".join(part for part in parts if part), style, "  ") if any(parts) else []
    writes = dict.fromkeys(path for fix in plan["fixes"] for step in fix["steps"] for path in step["writes"])
    if writes:
        written = ", ".join(shorten(path, style.home) for path in writes)
        lines += _wrapped(f"changes only {written} · saved first · undo: {whole(command('undo'))}", style, "  ")
    return lines


def _told(label: str, text: str, style: Style) -> list[Text]:
    return _wrapped(f"{label:<9} {text}", style, " " * 12)


def _wrapped(text: str, style: Style, indent: str) -> list[Text]:
    parts = textwrap.wrap(
        printable(text),
        style.width,
        initial_indent="  ",
        subsequent_indent=indent,
        break_on_hyphens=False,
        break_long_words=False,
    )
    return [Text(parted(part)) for part in parts]


def format_applied(applied: Data, style: Style) -> list[Text]:
    """Return the report's `applied`: what changed, whether the cause is gone, and the way back."""
    sign, words, colour = _outcome(applied)
    parts = textwrap.wrap(f"{sign} {printable(words)}", style.width) or [""]
    lines = [Text(parted(part), style=colour) for part in parts]
    changes = applied["changes"]
    lines += [Text(f"  {printable(change)}") for change in changes[:_CHANGES]]
    if len(changes) > _CHANGES:
        lines.append(Text(f"  and {len(changes) - _CHANGES} more changes"))
    for label, text in (("why", applied["why"]), ("proof", applied["proof"])):
        if text:
            lines += _wrapped(f"{label}: {text}", style, "         ")
    for cause in _also(applied):
        lines += _wrapped(f"also found: {cause}", style, "              ")
    for path in applied["not_restored"]:
        lines += _wrapped(f"not restored: {path}", style, "                ")
    if applied["undo"]:
        lines.append(Text(f"  to take it back: {command(' '.join(applied['undo'][1:]))}", style="dim"))
    return lines


def _also(applied: Data) -> list[str]:
    """Causes that are there after the fix and were not its aim: the next thing to look at."""
    causes = applied["after"]["diagnosis"]["causes"] if applied["after"] else []
    return [cause["summary"] for cause in causes if cause["cause"] not in applied["left"]]


def _outcome(applied: Data) -> tuple[str, str, str]:
    outcome, left = applied["outcome"], ", ".join(applied["left"])
    if outcome == "fixed":
        return "✓", "Fixed: the cause is gone.", "green"
    if outcome == "remains":
        words = f"this is still there: {left}." if left else "what it was for is not proved."
        return "✗", f"The fix ran, and {words}", "bold red"
    if applied["not_restored"]:
        return "✗", f"It failed, and not everything could be put back; run {whole(command('undo'))} again.", "bold red"
    if outcome == "interrupted":
        return "!", "Interrupted; everything was put back as it was.", "yellow"
    return "✗", "It failed; everything was put back as it was.", "bold red"
