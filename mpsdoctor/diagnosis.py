"""Findings to a diagnosis: the first broken link is the cause, what follows from it is folded under it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mpsdoctor.facts import Facts
from mpsdoctor.registry import FAMILIES, Finding
from mpsdoctor.verdict import CERTAIN, FAIL, LIKELY, POSSIBLE, UNKNOWN, WARN

HEALTHY, DEGRADED, BROKEN = "healthy", "degraded", "broken"
NOT_APPLICABLE, UNDECIDED = "not-applicable", "undecided"

# Causes that say "there is no MPS on this kind of machine, and nothing is wrong with it".
_ELSEWHERE = frozenset({"not-a-mac", "linux-container-on-mac"})
_CONFIDENCE = (CERTAIN, LIKELY, POSSIBLE)
_ASK_LIMIT = 3


@dataclass(frozen=True)
class FoundCause:
    """One root cause: the checks that found it first, then those that only show its consequences."""

    cause: str
    family: str  # environment, platform, code or fine: who can act
    checks: tuple[str, ...]
    confidence: str
    summary: str
    remedy: str
    consequences: tuple[str, ...] = ()


@dataclass(frozen=True)
class Diagnosis:
    """The answer of a run. `causes` most fundamental first; `ask` says what to send where nothing decides."""

    verdict: str
    mps_usable: bool | None
    causes: tuple[FoundCause, ...] = ()
    ask: tuple[str, ...] = ()


def diagnose(findings: Sequence[Finding], facts: Facts) -> Diagnosis:
    """Name the root causes among the findings and give the verdict."""
    reported = _reported(findings)
    roots = sorted((f for f in findings if f.is_root), key=lambda finding: _rank(finding, reported))
    causes = _fold(roots, findings)
    usable = _usable(roots, facts)
    return Diagnosis(_verdict(roots, usable), usable, causes, _asks(findings, roots, usable))


def _reported(findings: Sequence[Finding]) -> frozenset[str]:
    """The findings that account for a message which the user reported, themselves or through a consequence."""
    own = [
        f
        for f in findings
        if f.outcome in (FAIL, WARN) and any(e.fact.startswith("messages.") for e in f.verdict.evidence)
    ]
    sure = [finding for finding in own if finding.verdict.confidence != POSSIBLE]
    return frozenset(finding.because or finding.id for finding in sure)


def _rank(finding: Finding, reported: frozenset[str]) -> tuple[int, int, int, int, str]:
    """Failures first; among them what accounts for the reported message; then what is surer, then more fundamental."""
    severity = 0 if finding.outcome == FAIL else 1
    confidence = _CONFIDENCE.index(finding.verdict.confidence) if finding.verdict.confidence in _CONFIDENCE else 2
    place = FAMILIES.index(finding.check.family)
    return severity, 0 if finding.id in reported else 1, confidence, place, finding.id


def _fold(roots: Sequence[Finding], findings: Sequence[Finding]) -> tuple[FoundCause, ...]:
    from mpsdoctor.knowledge.causes import cause as look_up

    found: dict[str, FoundCause] = {}
    for root in roots:
        slug = root.cause
        if slug is None or slug in found:
            continue
        same = [finding for finding in roots if finding.cause == slug]
        ids = tuple(finding.id for finding in same)
        known = look_up(slug)
        found[slug] = FoundCause(
            cause=slug,
            family=known.family if known else "environment",
            checks=ids,
            confidence=root.verdict.confidence,
            summary=root.verdict.detail,
            remedy=" ".join(remedy.text for remedy in root.verdict.remedies[:1]),
            consequences=tuple(f.id for f in findings if f.because in ids and _tells(f)),
        )
    return tuple(found.values())


def _tells(finding: Finding) -> bool:
    """That nothing decides is no consequence of a cause that was found."""
    return finding.outcome in (FAIL, WARN) and finding.cause != "insufficient-information"


def _usable(roots: Sequence[Finding], facts: Facts) -> bool | None:
    if facts.smoke.usable is not None:  # a training run proves more than an allocation
        return facts.smoke.usable
    if facts.torch.usable is not None:
        return facts.torch.usable
    return False if any(root.verdict.gpu is False for root in roots) else None


def _verdict(roots: Sequence[Finding], usable: bool | None) -> str:
    if any(root.cause in _ELSEWHERE and root.verdict.confidence == CERTAIN for root in roots):
        return NOT_APPLICABLE
    serious = [root for root in roots if not _is_fine(root.cause)]
    if any(root.outcome == FAIL for root in serious):
        return BROKEN
    if any(root.outcome == WARN for root in serious):
        return DEGRADED
    return HEALTHY if usable else UNDECIDED


def _is_fine(slug: str | None) -> bool:
    """True for the causes that say "nothing is wrong" or "nothing can be said"."""
    from mpsdoctor.knowledge.causes import cause as look_up

    known = look_up(slug) if slug else None
    return known is not None and known.family == "fine"


def _asks(findings: Sequence[Finding], roots: Sequence[Finding], usable: bool | None) -> tuple[str, ...]:
    wanted = [ask for root in roots for ask in root.verdict.ask]
    if not wanted and usable is None and not roots:
        wanted = [ask for finding in findings if finding.outcome == UNKNOWN for ask in finding.verdict.ask]
    # Two checks may ask for the same thing, one of them with a word on why.
    whole = [ask for ask in dict.fromkeys(wanted) if not any(o != ask and o.startswith(f"{ask},") for o in wanted)]
    return tuple(whole)[:_ASK_LIMIT]


def exit_code(diagnosis: Diagnosis, facts: Facts, *, fail_on: str, expect: str) -> int:
    """Return the exit status: 0 healthy or not applicable, 1 a finding at or above `fail_on`, 3 nothing decided.

    fail_on: error, warning or never. expect: mps (1 unless the GPU is usable), cpu (1 unless torch imports, whatever
    the GPU), any.
    """
    if expect == "mps":
        return 0 if diagnosis.mps_usable is True and _threshold(diagnosis.verdict, fail_on) == 0 else 1
    if expect == "cpu":
        return 0 if facts.torch.imported else 1
    return _threshold(diagnosis.verdict, fail_on)


def _threshold(verdict: str, fail_on: str) -> int:
    if verdict == BROKEN:
        return 0 if fail_on == "never" else 1
    if verdict == DEGRADED:
        return 1 if fail_on == "warning" else 0
    return 3 if verdict == UNDECIDED else 0
