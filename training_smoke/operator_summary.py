"""From the measures of all operators to the outcome of the numerics stage."""

from __future__ import annotations

from typing import Any, Dict, Mapping, Sequence

from .causes import cause_of
from .outcomes import Problem, stage_outcome

Measure = Dict[str, Any]


def _problems(measures: Mapping[str, Measure], names: Sequence[str], essential: Sequence[str]) -> list[Problem]:
    problems: list[Problem] = []
    for name in names:
        measure = measures.get(name)
        if measure is None:
            problems.append(Problem("operator-not-reached", f"{name} was not reached", name))
            continue
        outcome = str(measure["outcome"])
        text = "{}: {}: {}".format(name, outcome, measure["detail"])
        if outcome in ("wrong", "crashed", "hung"):
            problems.append(Problem("operator-" + outcome, text, name, measure["cause"]))
        elif outcome in ("missing", "fallback") and name in essential:
            text += " (every network needs it)"
            problems.append(Problem("operator-" + outcome, text, name, measure["cause"]))
    return problems


def summarise(
    measures: Mapping[str, Measure], names: Sequence[str], essential: Sequence[str], lost_work: str | None
) -> dict[str, Any]:
    """The stage fails on a wrong, crashed or hung operator, and on an essential one that is missing or ran on the CPU.

    ``lost_work`` is the line in which macOS said that GPU work was thrown away, or None.
    """
    problems = _problems(measures, names, essential)
    if lost_work is not None:
        text = "macOS reports lost GPU work: " + lost_work
        problems.append(Problem("gpu-work-lost", text, None, cause_of(lost_work)))
    groups: dict[str, list[str]] = {}
    for name, measure in measures.items():
        groups.setdefault(str(measure["outcome"]), []).append(name)
    passed = [measures[name] for name in groups.get("pass", [])]
    worst = max(passed, key=lambda measure: float(measure["error"] or 0.0)) if passed else None
    compared = len(names) - len(groups.get("skip", []))
    if not compared:
        problems.append(Problem("nothing-compared", "no operator was compared, so nothing is shown", None, None))
    detail = f"{len(passed)} of {compared} operators agree with the CPU"
    if worst is not None:
        detail += " (largest error {:.2g} of its limit, {})".format(worst["error"] or 0.0, worst["operator"])
    for outcome, words in (("missing", "no kernel"), ("fallback", "run on the CPU")):
        if groups.get(outcome):
            detail += "; {}: {}".format(words, ", ".join(groups[outcome]))
    return stage_outcome(
        problems,
        detail,
        agreed=len(passed),
        compared=compared,
        largest_error=None if worst is None else worst["error"],
        operators=[measures[name] for name in names if name in measures],
    )
