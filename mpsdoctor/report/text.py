"""The report for people at a terminal: machine, cause, remedy, then the chain. Pure: a report in, styled lines out."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from rich.text import Text

from mpsdoctor.diagnosis import BROKEN, DEGRADED, HEALTHY, NOT_APPLICABLE, UNDECIDED, FoundCause
from mpsdoctor.registry import Finding
from mpsdoctor.report import evidence
from mpsdoctor.report.chain_text import chain_lines, ignored_lines
from mpsdoctor.report.layout import (
    SIGNS,
    STYLES,
    Style,
    advice,
    command_text,
    headline,
    labelled,
    quote,
    wrapped,
)
from mpsdoctor.report.model import Report
from mpsdoctor.report.words import machine_line, printable, python_line, torch_line
from mpsdoctor.verdict import PASS, SKIP, UNKNOWN, WARN

__all__ = ["Style", "format_text"]

_EVIDENCE_LIMIT = 4
_COMMAND_LIMIT = 4
_NOTICED_LIMIT = 4


def format_text(report: Report, style: Style, unmet: str | None = None) -> list[Text]:
    """Return the whole report as lines of at most `style.width` columns (commands to copy are never broken).

    unmet: what was expected of this machine and does not hold.
    """
    lines = [*_header(report, style), Text()]
    by_id = {finding.id: finding for finding in report.findings}
    causes = report.diagnosis.causes
    for index, cause in enumerate(causes if style.verbose else causes[:1]):
        if index:
            lines.append(Text())
        lines += _cause(cause, by_id, style, fine=report.diagnosis.verdict == NOT_APPLICABLE)
    if not causes:
        lines += _no_cause(report, style)
    lines += _ask(report, style)
    lines += [] if style.verbose else _noticed(causes[1:], style.width)
    lines += [Text(), *chain_lines(report, style)] if report.findings else []
    lines += ignored_lines(report.findings, style)
    if style.verbose:
        lines += [Text(), *_every_check(report, style)]
    for problem in report.problems:
        lines += wrapped(f"note: {problem}", style.width, indent="  ", style="dim")
    if unmet:
        lines += wrapped(f"✗ {unmet}", style.width, indent="  ", style="bold red")
    return lines


def _header(report: Report, style: Style) -> list[Text]:
    facts = report.facts
    first = "Mac" if facts.host.is_mac else "Machine"
    path, words = python_line(facts.interpreter, style.home)
    python = "   ".join(part for part in (path, words) if part) or "not known"
    rows = [(first, machine_line(facts.host)), ("Python", python), ("torch", torch_line(facts))]
    if report.source.kind != "live":
        rows.insert(0, ("Source", f"{report.source.kind} {report.source.name}"))
    elif facts.interpreter.chosen_by and facts.interpreter.chosen_by != "--python":
        rows.insert(2, ("", f"chosen by {facts.interpreter.chosen_by}"))
    lines = []
    for label, value in rows:
        lines += labelled(label, value, style.width, columns=9, indent="", label_style="bold")
    return lines


def _cause(cause: FoundCause, by_id: dict[str, Finding], style: Style, *, fine: bool) -> list[Text]:
    """One cause in full; `fine`: it is no fault of this machine, and is not shown as one."""
    finding = by_id[cause.checks[0]]
    lines = headline(SKIP if fine else finding.outcome, cause.summary, finding.id, style.width)
    known = ((item.fact, item.value, item.source) for item in finding.verdict.evidence[:_EVIDENCE_LIMIT])
    if told := evidence.together(known, style.home):
        lines += labelled("How we know", told, style.width)
    if cause.confidence != "certain":
        lines += labelled("How sure", f"{cause.confidence}, not certain", style.width)
    folded = [by_id[i].verdict.short or by_id[i].verdict.detail for i in cause.consequences if i in by_id]
    if folded:
        lines += labelled("It explains", " · ".join(folded), style.width)
    for index, remedy in enumerate(finding.verdict.remedies):
        lines += advice("What to do" if index == 0 else "or", remedy.text, style.width)
        lines += [
            command_text(" ".join(quote(part, style.home) for part in argv))
            for argv in remedy.commands[:_COMMAND_LIMIT]
        ]
    return lines


def _noticed(others: Sequence[FoundCause], width: int) -> list[Text]:
    """Every cause but the first, one sentence each: whoever has one fault to mend reads one remedy."""
    if not others:
        return []
    told = [f"{cause.summary} ({cause.checks[0]})" for cause in others[:_NOTICED_LIMIT]]
    more = len(others) - len(told)
    return labelled("Also noticed", " · ".join([*told, *([f"and {more} more, with -v"] if more else [])]), width)


def _no_cause(report: Report, style: Style) -> list[Text]:
    verdict, width = report.diagnosis.verdict, style.width
    if verdict == HEALTHY:
        return headline(PASS, "PyTorch can use this Mac's GPU: it allocated and agreed with the CPU.", "", width)
    if verdict == UNDECIDED:
        return headline(UNKNOWN, "Nothing wrong was found, and nothing shows that the GPU works.", "", width)
    words = {BROKEN: "Something is wrong.", DEGRADED: "It works, with limits.", NOT_APPLICABLE: "This is no Mac."}
    return headline(WARN, words[verdict], "", width)


def _ask(report: Report, style: Style) -> list[Text]:
    lines: list[Text] = []
    for index, question in enumerate(report.diagnosis.ask):
        lines += advice("Ask for" if index == 0 else "", question, style.width)
    return lines


def _every_check(report: Report, style: Style) -> list[Text]:
    """One line a check; those that were left out for one and the same reason share theirs."""
    lines = []
    left_out: dict[str, list[Finding]] = {}
    for finding in report.findings:
        if finding.outcome == SKIP:
            left_out.setdefault(finding.verdict.detail, []).append(finding)
        else:
            lines += _check(finding.outcome, finding.id, f"{finding.check.title} {_detail(finding)}", style)
    for reason, found in left_out.items():
        if len(found) == 1:
            lines += _check(SKIP, found[0].id, f"{found[0].check.title} {reason}", style)
        else:
            lines += _check(SKIP, "", f"{reason}: {', '.join(one.id for one in found)}", style)
    return lines


def _detail(finding: Finding) -> str:
    return evidence.detail(finding.verdict.detail)


def _check(outcome: str, name: str, text: str, style: Style) -> list[Text]:
    column = 7 if name else 0
    parts = textwrap.wrap(printable(text.rstrip()), max(20, style.width - column - 4)) or [""]
    line = Text().append(f"  {SIGNS[outcome]} ", style=STYLES[outcome]).append(f"{name:{column}}", style="dim")
    return [line.append(parts[0]), *(Text(" " * (column + 4) + part) for part in parts[1:])]
