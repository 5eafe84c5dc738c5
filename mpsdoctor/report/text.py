"""The report for people at a terminal: machine, cause, remedy, then the chain. Pure: a report in, styled lines out."""

from __future__ import annotations

import shlex
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass

from rich.text import Text

from mpsdoctor.diagnosis import BROKEN, DEGRADED, HEALTHY, NOT_APPLICABLE, UNDECIDED, FoundCause
from mpsdoctor.registry import FAMILIES, Finding
from mpsdoctor.report.commands import parts as split
from mpsdoctor.report.model import Report
from mpsdoctor.report.words import machine_line, printable, python_line, shorten, torch_line
from mpsdoctor.verdict import CRASH, FAIL, PASS, SKIP, UNKNOWN, WARN, Evidence

_LABEL = 14  # columns of "How we know   "
_SIGNS = {PASS: "✓", WARN: "!", FAIL: "✗", SKIP: "·", UNKNOWN: "?", CRASH: "‼"}
_STYLES = {PASS: "green", WARN: "bold yellow", FAIL: "bold red", SKIP: "dim", UNKNOWN: "cyan", CRASH: "magenta"}
_EVIDENCE_LIMIT = 4
_COMMAND_LIMIT = 4


@dataclass(frozen=True)
class Style:
    """How to print: columns, details of every check, and the home folder to shorten paths by."""

    width: int = 80
    verbose: bool = False
    home: str | None = None


def format_text(report: Report, style: Style) -> list[Text]:
    """Return the whole report as lines of at most `style.width` columns (commands to copy are never broken)."""
    lines = [*_header(report, style), Text()]
    by_id = {finding.id: finding for finding in report.findings}
    for index, cause in enumerate(report.diagnosis.causes):
        if index:
            lines.append(Text())
        lines += _cause(cause, by_id, style)
    if not report.diagnosis.causes:
        lines += _no_cause(report, style)
    lines += _ask(report, style)
    lines += [Text(), *_chain(report, style)] if report.findings else []
    if style.verbose:
        lines += [Text(), *_every_check(report, style)]
    for problem in report.problems:
        lines += _wrapped(f"note: {problem}", style.width, indent="  ", style="dim")
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
        lines += _labelled(label, value, style.width, columns=9, indent="", label_style="bold")
    return lines


def _cause(cause: FoundCause, by_id: dict[str, Finding], style: Style) -> list[Text]:
    finding = by_id[cause.checks[0]]
    lines = _headline(finding.outcome, cause.summary, finding.id, style.width)
    evidence = _evidence(finding.verdict.evidence[:_EVIDENCE_LIMIT], style.home)
    if evidence:
        lines += _labelled("How we know", evidence, style.width)
    if cause.confidence != "certain":
        lines += _labelled("How sure", f"{cause.confidence}, not certain", style.width)
    folded = [by_id[i].verdict.short or by_id[i].verdict.detail for i in cause.consequences if i in by_id]
    if folded:
        lines += _labelled("It explains", " · ".join(folded), style.width)
    for index, remedy in enumerate(finding.verdict.remedies):
        lines += _advice("What to do" if index == 0 else "or", remedy.text, style.width)
        for argv in remedy.commands[:_COMMAND_LIMIT]:
            command = " ".join(_quote(part, style.home) for part in argv)
            lines.append(Text(" " * (_LABEL + 2) + printable(command), style="bold cyan", no_wrap=True))
    return lines


def _advice(label: str, text: str, width: int) -> list[Text]:
    """Words are wrapped; a command in them stands whole on a line of its own, so that it can be copied as it is."""
    lines: list[Text] = []
    for part in split(text):
        if part.command:
            lines += _labelled(label, "", width) if label and not lines else []
            lines.append(Text(" " * (_LABEL + 2) + printable(part.text), style="bold cyan", no_wrap=True))
        else:
            lines += _labelled("" if lines else label, part.text, width)
    return lines


def _quote(part: str, home: str | None) -> str:
    short = shorten(part, home)
    quoted = shlex.quote(short[2:]) if short.startswith("~/") else shlex.quote(part)
    return f"~/{quoted}" if short.startswith("~/") else quoted


def _headline(outcome: str, summary: str, check_id: str, width: int) -> list[Text]:
    style = _STYLES[outcome]
    parts = textwrap.wrap(printable(summary), width - 3 - len(check_id) - 2) or [""]
    first = Text(f"{_SIGNS[outcome]} {parts[0]}", style=style)
    first.append(" " * max(2, width - len(first.plain) - len(check_id)))
    first.append(check_id, style="dim")
    return [first, *(Text(f"  {part}", style=style) for part in parts[1:])]


def _evidence(items: Sequence[Evidence], home: str | None) -> str:
    """Facts with their sources, neighbours of one source together: "chip: M1, model: X (sysctl); ..."."""
    groups: list[tuple[str, list[str]]] = []
    for item in items:
        value = ", ".join(map(str, item.value)) if isinstance(item.value, list) else str(item.value)
        shown = {"True": "yes", "False": "no"}.get(value, shorten(value, home))
        words = f"{item.fact.split('.', 1)[-1].replace('_', ' ')}: {shown}"
        if groups and groups[-1][0] == item.source:
            groups[-1][1].append(words)
        else:
            groups.append((item.source, [words]))
    return "; ".join(", ".join(words) + (f" ({shorten(source, home)})" if source else "") for source, words in groups)


def _no_cause(report: Report, style: Style) -> list[Text]:
    verdict, width = report.diagnosis.verdict, style.width
    if verdict == HEALTHY:
        return _headline(PASS, "PyTorch can use this Mac's GPU: it allocated and agreed with the CPU.", "", width)
    if verdict == UNDECIDED:
        return _headline(UNKNOWN, "Nothing wrong was found, and nothing shows that the GPU works.", "", width)
    words = {BROKEN: "Something is wrong.", DEGRADED: "It works, with limits.", NOT_APPLICABLE: "This is no Mac."}
    return _headline(WARN, words[verdict], "", width)


def _ask(report: Report, style: Style) -> list[Text]:
    lines: list[Text] = []
    for index, question in enumerate(report.diagnosis.ask):
        lines += _advice("Ask for" if index == 0 else "", question, style.width)
    return lines


def _chain(report: Report, style: Style) -> list[Text]:
    lines = [Text().append("  chain  ", style="dim")]
    for family in FAMILIES:
        outcomes = [finding.outcome for finding in report.findings if finding.check.family == family]
        if not outcomes or (set(outcomes) == {SKIP} and family not in _link_families(report)):
            continue
        worst = next(o for o in (FAIL, CRASH, WARN, UNKNOWN, PASS, SKIP) if o in outcomes)
        if len(lines[-1].plain) + len(family) + 2 > style.width:
            lines.append(Text(" " * 9))
        lines[-1].append(f"{family} ", style="none")
        lines[-1].append(f"{_SIGNS[worst]}  ", style=_STYLES[worst])
    for line in lines:
        line.rstrip()
    lines += _wrapped(" · ".join(part for part in _counts(report) if part), style.width, indent="  ", style="dim")
    if report.diagnosis.causes:
        lines += _wrapped(" · ".join(_next_commands(report)), style.width, indent="  ", style="dim")
    return lines


def _next_commands(report: Report) -> list[str]:
    commands = [f"mpsdoctor explain {report.diagnosis.causes[0].checks[0]}"]
    if report.source.kind == "live" and report.diagnosis.verdict in (BROKEN, DEGRADED):
        commands += ["mpsdoctor fix", "mpsdoctor report (for a ticket)"]
    return commands


def _link_families(report: Report) -> set[str]:
    return {finding.check.family for finding in report.findings if finding.because is not None}


def _counts(report: Report) -> list[str]:
    found = report.findings
    causes = len(report.diagnosis.causes)
    consequences = sum(len(cause.consequences) for cause in report.diagnosis.causes)
    behind = sum(1 for f in found if f.outcome == SKIP and f.because)
    apart = sum(1 for f in found if f.outcome == SKIP and not f.because)
    counts = [
        (causes, "cause", "causes"),
        (consequences, "consequence", "consequences"),
        (behind, "check not reached", "checks not reached"),
        (sum(1 for f in found if f.outcome == PASS), "passed", "passed"),
        (sum(1 for f in found if f.outcome == UNKNOWN), "not known", "not known"),
        (sum(1 for f in found if f.outcome == CRASH), "check broke", "checks broke"),
        (apart, "does not apply", "do not apply"),
    ]
    words = [f"{count} {one if count == 1 else many}" for count, one, many in counts if count]
    return [", ".join(words), f"{report.seconds:.1f} s" if report.seconds is not None else ""]


def _every_check(report: Report, style: Style) -> list[Text]:
    lines = []
    for finding in report.findings:
        line = Text(f"  {_SIGNS[finding.outcome]} ", style=_STYLES[finding.outcome])
        line.append(f"{finding.id:7}", style="dim")
        text = f"{finding.check.title}"
        if finding.verdict.detail:
            text += f" {finding.verdict.detail}"
        parts = textwrap.wrap(printable(text), max(20, style.width - 11)) or [""]
        line.append(parts[0], style="none")
        lines += [line, *(Text(" " * 11 + part) for part in parts[1:])]
    return lines


def _labelled(
    label: str, value: str, width: int, *, columns: int = _LABEL, indent: str = "  ", label_style: str = "bold"
) -> list[Text]:
    room = max(20, width - len(indent) - columns)
    parts = textwrap.wrap(printable(value), room, break_on_hyphens=False) or [""]
    first = Text(indent)
    first.append(f"{label:<{columns}}", style=label_style)
    first.append(parts[0], style="none")
    rest: Sequence[Text] = [Text(" " * (len(indent) + columns) + part) for part in parts[1:]]
    return [first, *rest]


def _wrapped(text: str, width: int, *, indent: str, style: str = "none") -> list[Text]:
    parts = textwrap.wrap(printable(text), width, initial_indent=indent if style else "", subsequent_indent=indent)
    return [Text(part, style=style) for part in parts]
