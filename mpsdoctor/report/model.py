"""The report: facts, findings and diagnosis of one run, and its JSON form (`mpsdoctor.report/1`)."""

from __future__ import annotations

import platform
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, datetime, timezone
from typing import Any

from mpsdoctor import __version__
from mpsdoctor.diagnosis import Diagnosis, diagnose
from mpsdoctor.facts import Facts
from mpsdoctor.registry import Finding, Registry, judge
from mpsdoctor.report.source import Source
from mpsdoctor.selection import Selection

SCHEMA = "mpsdoctor.report/1"


@dataclass(frozen=True)
class Report:
    """Everything that one run found. `seconds` is the wall time of the run; `problems` is what could not be read."""

    source: Source
    facts: Facts
    findings: tuple[Finding, ...]
    diagnosis: Diagnosis
    created: str
    seconds: float | None = None
    problems: tuple[str, ...] = ()
    broken_plugins: Mapping[str, str] = field(default_factory=dict)
    plan: Mapping[str, Any] | None = None  # JSON data of mpsdoctor.repair
    applied: Mapping[str, Any] | None = None

    def to_json(self) -> dict[str, Any]:
        """Return the report as JSON data. What the smoke run proved stands beside the facts, not among them."""
        facts = self.facts.to_json()
        smoke = facts.pop("smoke", None) or None
        return {
            "schema": SCHEMA,
            "tool": {"version": __version__, "python": platform.python_version()},
            "created": self.created,
            "source": {"kind": self.source.kind, "name": self.source.name},
            "facts": facts,
            "checks": [finding_json(finding) for finding in self.findings],
            "diagnosis": diagnosis_json(self.diagnosis),
            "plan": self.plan,
            "applied": self.applied,
            "smoke": smoke,
            "problems": [*self.problems, *(f"plug-in {n}: {why}" for n, why in self.broken_plugins.items())],
            "redactions": {},
        }


def make_report(
    facts: Facts,
    source: Source,
    registry: Registry,
    *,
    selection: Selection | None = None,
    today: date | None = None,
    seconds: float | None = None,
    problems: tuple[str, ...] = (),
) -> Report:
    """Judge the facts and put everything together."""
    now = datetime.now(timezone.utc)
    findings = judge(facts, registry, today=today or now.date(), selection=selection)
    return Report(
        source=source,
        facts=facts,
        findings=findings,
        diagnosis=diagnose(findings, facts),
        created=now.isoformat(timespec="seconds"),
        seconds=seconds,
        problems=problems,
        broken_plugins=registry.broken,
    )


def finding_json(finding: Finding) -> dict[str, Any]:
    """Return one finding as JSON data."""
    verdict = finding.verdict
    return {
        "id": finding.id,
        "family": finding.check.family,
        "title": finding.check.title,
        "outcome": finding.outcome,
        "cause": finding.cause,
        "detail": verdict.detail,
        "evidence": [{"fact": e.fact, "value": e.value, "from": e.source} for e in verdict.evidence],
        "remedies": [
            {"text": r.text, "fix": r.fix, "commands": [list(argv) for argv in r.commands]} for r in verdict.remedies
        ],
        "because": finding.because,
        "docs": f"mpsdoctor explain {finding.id}",
    }


def diagnosis_json(diagnosis: Diagnosis) -> dict[str, Any]:
    """Return the diagnosis as JSON data."""
    return {
        "verdict": diagnosis.verdict,
        "mps_usable": diagnosis.mps_usable,
        "causes": [
            {
                "cause": c.cause,
                "family": c.family,
                "checks": list(c.checks),
                "confidence": c.confidence,
                "summary": c.summary,
                "remedy": c.remedy,
                "consequences": list(c.consequences),
            }
            for c in diagnosis.causes
        ],
        "ask": list(diagnosis.ask),
    }
