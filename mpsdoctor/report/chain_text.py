"""The end of the terminal's report: the chain, the counts, the next commands, what was ignored. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from rich.text import Text

from mpsdoctor.diagnosis import BROKEN, DEGRADED, HEALTHY
from mpsdoctor.registry import FAMILIES, Finding
from mpsdoctor.report.layout import SIGNS, STYLES, Style, link, whole, wrapped
from mpsdoctor.report.model import Report
from mpsdoctor.report.program import command
from mpsdoctor.verdict import CRASH, PASS, SKIP, UNKNOWN

_IGNORED_IDS = 4  # of one reason; -v names all


def chain_lines(report: Report, style: Style) -> list[Text]:
    """Each family of checks with its sign, what came out how often, and the commands to go on with."""
    lines = [Text().append("  chain  ", style="dim")]
    for family in FAMILIES:
        outcomes = [finding.outcome for finding in report.findings if finding.check.family == family]
        if not outcomes or (set(outcomes) == {SKIP} and family not in _link_families(report)):
            continue
        shown = link(outcomes, report.diagnosis.mps_usable)
        if len(lines[-1].plain) + len(family) + 2 > style.width:
            lines.append(Text(" " * 9))
        lines[-1].append(f"{family} ", style="none")
        lines[-1].append(f"{SIGNS[shown]}  ", style=STYLES[shown])
    for line in lines:
        line.rstrip()
    lines += wrapped(" · ".join(part for part in _counts(report) if part), style.width, indent="  ", style="dim")
    if commands := _next_commands(report, style):
        lines += wrapped(" · ".join(commands), style.width, indent="  ", style="dim")
    return lines


def _next_commands(report: Report, style: Style) -> list[str]:
    live = report.source.kind == "live"
    if not report.diagnosis.causes:
        return [f"{whole(command('smoke'))} trains for real"] if live and report.diagnosis.verdict == HEALTHY else []
    commands = [whole(command(f"explain {report.diagnosis.causes[0].checks[0]}"))]
    if live and report.diagnosis.verdict in (BROKEN, DEGRADED):
        commands += [whole(command("fix")), whole(command("report")) + " (for a ticket)"]
    if len(report.diagnosis.causes) > 1 and not style.verbose:
        commands.append("-v shows all causes in full")
    return commands


def _link_families(report: Report) -> set[str]:
    return {finding.check.family for finding in report.findings if finding.because is not None}


def _counts(report: Report) -> list[str]:
    found = report.findings
    causes = len(report.diagnosis.causes)
    consequences = sum(len(cause.consequences) for cause in report.diagnosis.causes)
    behind = sum(1 for f in found if f.outcome == SKIP and f.because)
    ignored = sum(1 for f in found if _is_ignored(f))
    apart = sum(1 for f in found if f.outcome == SKIP and not f.because) - ignored
    counts = [
        (causes, "cause", "causes"),
        (consequences, "consequence", "consequences"),
        (behind, "check not reached", "checks not reached"),
        (sum(1 for f in found if f.outcome == PASS), "passed", "passed"),
        (sum(1 for f in found if f.outcome == UNKNOWN), "not known", "not known"),
        (sum(1 for f in found if f.outcome == CRASH), "check broke", "checks broke"),
        (ignored, "ignored", "ignored"),
        (apart, "does not apply", "do not apply"),
    ]
    words = [f"{count} {one if count == 1 else many}" for count, one, many in counts if count]
    return [", ".join(words), f"{report.seconds:.1f} s" if report.seconds is not None else ""]


def _is_ignored(finding: Finding) -> bool:
    return finding.outcome == SKIP and finding.verdict.detail.partition(":")[0] == "ignored"


def ignored_lines(findings: Sequence[Finding], style: Style) -> list[Text]:
    """What was not judged because somebody said so, and why: a green answer must not hide it."""
    groups: dict[str, list[str]] = {}
    for finding in findings:
        if _is_ignored(finding):
            reason = finding.verdict.detail.partition(":")[2].strip() or "no reason was given"
            groups.setdefault(reason, []).append(finding.id)
    lines = []
    for reason, ids in groups.items():
        more = len(ids) - _IGNORED_IDS
        names = ", ".join(ids) if more <= 0 or style.verbose else f"{', '.join(ids[:_IGNORED_IDS])} and {more} more"
        lines += wrapped(f"ignored: {names} ({reason})", style.width, indent="  ", style="yellow")
    return lines
