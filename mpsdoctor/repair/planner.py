"""Facts and diagnosis to a plan: each cause is given to its fix; what nobody can fix here is told."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from mpsdoctor.diagnosis import Diagnosis, FoundCause
from mpsdoctor.facts import Facts, normalize
from mpsdoctor.repair.plan import Manual, Plan, PlannedFix, Proposal, Refused, merge
from mpsdoctor.repair.registry import Fix, Fixes
from mpsdoctor.repair.situation import Request, Situation
from mpsdoctor.repair.survey import Survey
from mpsdoctor.repair.wanted import STACK, Stack
from mpsdoctor.report.model import Report

_NO_MAC = frozenset({"not-a-mac", "linux-container-on-mac"})
_UNKNOWN = "insufficient-information"
_UNPACKED = 4  # a macOS wheel of torch unpacks to about 3 to 4 times its size (132 to 480 MB for 2.15)


def make_plan(
    facts: Facts,
    diagnosis: Diagnosis,
    fixes: Fixes,
    *,
    survey: Survey | None = None,
    request: Request | None = None,
    only: Sequence[str] = (),
) -> Plan:
    """Plan the repair of every cause, or of those in `only`. Pure; never raises for what a fix does."""
    survey, request = survey or Survey(), request or Request()
    causes = [cause for cause in diagnosis.causes if not only or cause.cause in only]
    if request.nightly is not None:
        causes = [_nightly(request.nightly)]
    proposals: list[Proposal] = []
    if request.nightly is None:
        proposals += _not_found(diagnosis, only)
    for cause in causes:
        situation = Situation(facts, diagnosis, cause, survey, request)
        fresh = any(isinstance(item, PlannedFix) and item.python is not None for item in proposals)
        proposals += _proposals(situation, fixes, fresh)
    target = facts.interpreter.executable or facts.interpreter.prefix or "the interpreter"
    plan = merge(target, proposals)
    return _with_sizes(plan, facts, survey, request, diagnosis, causes)


def _not_found(diagnosis: Diagnosis, only: Sequence[str]) -> list[Proposal]:
    """Say of each cause that was asked for and is not there what is there."""
    there = [cause.cause for cause in diagnosis.causes]
    found = f"found: {', '.join(there)}" if there else "nothing else was found either"
    return [Refused(name, f"it was not found here; {found}") for name in dict.fromkeys(only) if name not in there]


def _nightly(version: str) -> FoundCause:
    return FoundCause("nightly", "environment", (), "certain", f"a nightly was asked for: {version}", "")


def _proposals(situation: Situation, fixes: Fixes, fresh: bool) -> Sequence[Proposal]:
    cause = situation.cause
    if cause.cause in _NO_MAC:
        return [Refused(cause.cause, "there is no MPS on this kind of machine, and nothing to repair for it")]
    if cause.cause == _UNKNOWN:
        return [Refused(cause.cause, _asks(situation.diagnosis))]
    found: list[Proposal] = []
    for item in fixes.for_cause(cause.cause):
        # A new environment has its own packages; the proof shows whether the cause is gone with the old one.
        if not (fresh and item.packages):
            found += _asked(item, situation)
    if found or fresh:
        return found
    if cause.family == "environment":
        return [Manual(cause.cause, cause.remedy or cause.summary)]
    return [_told(cause)]


def _asks(diagnosis: Diagnosis) -> str:
    wanted = "; ".join(" ".join(question.split()) for question in diagnosis.ask)
    return "what is wrong is not known, and until then nothing should be reinstalled" + (
        f"; this would tell: {wanted}" if wanted else ""
    )


def _asked(item: Fix, situation: Situation) -> Sequence[Proposal]:
    try:
        return item(situation)
    except Exception as error:
        why = f"the fix {item.id} broke: {type(error).__name__}: {error}"
        return [Refused(situation.cause.cause, why)]


def _told(cause: FoundCause) -> Proposal:
    if cause.family == "platform":
        return Manual(cause.cause, cause.remedy or cause.summary)
    return Refused(cause.cause, f"no repair of the environment helps. {cause.remedy or cause.summary}")


def _with_sizes(
    plan: Plan,
    facts: Facts,
    survey: Survey,
    request: Request,
    diagnosis: Diagnosis,
    causes: Sequence[FoundCause],
) -> Plan:
    if not plan.steps:
        return plan
    situation = Situation(facts, diagnosis, causes[0], survey, request)
    downloads = plan.downloads_mb
    needed = (
        None if downloads is None and survey.size_mb is None else (downloads or 0) * _UNPACKED + (survey.size_mb or 0)
    )
    return replace(
        plan,
        kept=_kept(plan, situation),
        disk_needed_mb=None if needed is None else round(needed, 1),
        disk_free_mb=survey.free_mb,
    )


def _kept(plan: Plan, situation: Situation) -> int | None:
    """Count the packages that no step names. What the installer changes besides, the resolver is asked for."""
    if situation.packages.distributions is None or any(fix.python is not None for fix in plan.fixes):
        return None
    named = {word.partition("==")[0].partition("<")[0] for step in plan.steps for word in step.argv or ()}
    named |= set(STACK) if isinstance(situation.stack, Stack) and any(step.argv for step in plan.steps) else set()
    names = {normalize(one.name) for one in situation.packages.distributions} - {"pip"}
    return len(names - {normalize(word) for word in named if word})


def with_project_pins(report: Report, survey: Survey | None) -> Report:
    """Return the report with the cause that the project's files have, where they ask for what no Mac has."""
    if (
        survey is None
        or not report.facts.host.is_mac
        or any(c.cause == "non-mac-wheel-pin" for c in report.diagnosis.causes)
    ):
        return report
    found = _pins_of(survey)
    if not found:
        return report
    more = f" (and {len(found) - 1} more)" if len(found) > 1 else ""
    summary = f"{found[0]}{more} asks for a build that no Mac has."
    cause = FoundCause("non-mac-wheel-pin", "environment", (), "certain", summary, "Let Macs have the ordinary build.")
    diagnosis = replace(report.diagnosis, causes=(*report.diagnosis.causes, cause))
    return replace(report, diagnosis=diagnosis)


def _pins_of(survey: Survey) -> list[str]:
    from mpsdoctor.repair.pins import foreign_indexes, rewriter

    found = [
        f"{file.path.rpartition('/')[2]}: {line}" for file in survey.requirements for line in foreign_indexes(file.text)
    ]
    for file in (*survey.requirements, *survey.projects):
        rewrite = rewriter(file.path.rpartition("/")[2])
        if rewrite is not None:
            found += [f"{file.path.rpartition('/')[2]}: {change.old.strip()}" for change in rewrite(file.text)[1]]
    return found
