"""A plan, and what became of it, for people at a terminal. Pure: data in, styled lines out."""

from __future__ import annotations

import textwrap

from rich.text import Text

from mpsdoctor.facts import Facts
from mpsdoctor.repair.apply import Applied
from mpsdoctor.repair.plan import Plan, PlannedFix, Step
from mpsdoctor.repair.store import FIXED, INTERRUPTED, REMAINS
from mpsdoctor.report.text import Style, _quote
from mpsdoctor.report.words import printable, shorten

_ARGUMENTS = 12  # of a command that are shown; -v shows all
_CHANGES = 12


def format_plan(plan: Plan, facts: Facts, style: Style, *, apply: str | None = None) -> list[Text]:
    """Return the plan in words and as exact commands. apply: what to do to have it done, or None."""
    lines = [Text(f"Plan for {printable(shorten(plan.target, style.home))}{_machine(facts)}", style="bold")]
    for number, fix in enumerate(plan.fixes, 1):
        lines += _fix(number, fix, style)
    if plan.fixes:
        last = f"{len(plan.fixes) + 1}  prove it: examine the environment anew, and train where there is a GPU"
        lines += _wrapped(last, style, "     ")
        lines += _costs(plan, style)
    elif not plan.manual and not plan.refused:
        lines.append(Text("  Nothing was found that needs a repair."))
    for item in plan.manual:
        lines += _told("by hand", item.text, style)
    for refused in plan.refused:
        lines += _told("not here", f"{refused.cause}: {refused.because}", style)
    if apply:
        lines.append(Text(f"  {apply}", style="dim"))
    return lines


def _machine(facts: Facts) -> str:
    parts = [
        f"Python {facts.interpreter.version}" if facts.interpreter.version else "",
        facts.interpreter.machine or "",
    ]
    where = f"macOS {facts.host.macos_version}" if facts.host.macos_version else ""
    words = ", ".join(word for word in (" ".join(part for part in parts if part), where) if word)
    return f" ({printable(words)})" if words else ""


def _fix(number: int, fix: PlannedFix, style: Style) -> list[Text]:
    lines = _wrapped(f"{number}  {_short(fix.summary, style)}", style, "     ")
    for note in fix.notes:
        lines += _wrapped(f"   {_short(note, style)}", style, "       ")
    for step in fix.steps:
        lines += _step(step, style)
    return lines


def _short(text: str, style: Style) -> str:
    return " ".join(shorten(word, style.home) for word in text.split(" "))


def _step(step: Step, style: Style) -> list[Text]:
    if step.argv is None:
        return _wrapped(f"   - {_short(step.title, style)}", style, "       ")
    shown = step.argv if style.verbose else step.argv[:_ARGUMENTS]
    words = [f"{name}={_quote(value, style.home)}" for name, value in step.env.items()]
    words += [_quote(word, style.home) for word in shown]
    rest = len(step.argv) - len(shown)
    command = " ".join(words) + (f" ... ({rest} more, shown with -v)" if rest else "")
    return [Text("     " + printable(command), style="bold cyan", no_wrap=True)]


def _costs(plan: Plan, style: Style) -> list[Text]:
    first = [
        f"kept: {plan.kept} other package{'s' if plan.kept != 1 else ''}" if plan.kept else "",
        f"cannot keep: {', '.join(plan.cannot_keep)}" if plan.cannot_keep else "",
        f"downloads about {plan.downloads_mb:.0f} MB" if plan.downloads_mb is not None else "",
    ]
    if plan.disk_needed_mb is not None and plan.disk_free_mb is not None:
        first.append(f"disk: {plan.disk_needed_mb:.0f} MB at most of {plan.disk_free_mb:.0f} MB free")
    lines = _wrapped(" · ".join(part for part in first if part), style, "  ") if any(first) else []
    if plan.writes:
        written = ", ".join(shorten(path, style.home) for path in plan.writes)
        lines += _wrapped(f"changes only {written} · saved first · undo: mpsdoctor undo", style, "  ")
    return lines


def _told(label: str, text: str, style: Style) -> list[Text]:
    return _wrapped(f"{label:<9} {text}", style, " " * 12)


def _wrapped(text: str, style: Style, indent: str) -> list[Text]:
    parts = textwrap.wrap(printable(text), style.width, initial_indent="  ", subsequent_indent=indent,
                          break_on_hyphens=False, break_long_words=False)  # fmt: skip
    return [Text(part) for part in parts]


def format_applied(applied: Applied, style: Style) -> list[Text]:
    """Return how a run went: what changed, whether the cause is gone, and the way back."""
    sign, words, colour = _outcome(applied)
    lines = [Text(part, style=colour) for part in textwrap.wrap(f"{sign} {printable(words)}", style.width) or [""]]
    for change in applied.changes[:_CHANGES]:
        lines.append(Text(f"  {printable(change)}"))
    if len(applied.changes) > _CHANGES:
        lines.append(Text(f"  and {len(applied.changes) - _CHANGES} more changes"))
    if applied.why:
        lines += _wrapped(f"why: {applied.why}", style, "       ")
    if applied.proof:
        lines += _wrapped(f"proof: {applied.proof}", style, "         ")
    if applied.after is not None:
        lines += [line for cause in applied.after.diagnosis.causes if cause.cause not in applied.left
                  for line in _wrapped(f"also found: {cause.summary}", style, "              ")]  # fmt: skip
    for path in applied.not_restored:
        lines += _wrapped(f"not restored: {path}", style, "                ")
    if applied.outcome in (FIXED, REMAINS):
        lines.append(Text(f"  to take it back: {' '.join(applied.undo)}", style="dim"))
    return lines


def _outcome(applied: Applied) -> tuple[str, str, str]:
    if applied.outcome == FIXED:
        return "✓", "Fixed: the cause is gone.", "green"
    if applied.outcome == REMAINS:
        return (
            "✗",
            f"The fix ran, and the cause is still there: {', '.join(applied.left) or 'the GPU did not train'}.",
            "bold red",
        )
    if applied.not_restored:
        return "✗", "It failed, and not everything could be put back; run mpsdoctor undo again.", "bold red"
    if applied.outcome == INTERRUPTED:
        return "!", "Interrupted; everything was put back as it was.", "yellow"
    return "✗", "It failed; everything was put back as it was.", "bold red"
