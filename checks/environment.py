"""Environment variables that torch reads, or that people believe it reads."""

from collections.abc import Mapping

from mpsdoctor import Environment, Evidence, Packages, Remedy, Torch, Verdict, check, fail, passed, unknown, warn
from mpsdoctor.knowledge.variables import HIGH, LOW, Judgement, judge

from ._torch import installed_version

_CHAIN = ("HW101", "PY100")
_WATERMARK = "watermark-env-var-invalid"
_INEFFECTIVE = "env-var-ineffective"
_SHOWN = 80
_WORST_FIRST = ("invalid", "harmful", "ineffective")


@check("EN102", family="environment", cause=_WATERMARK, needs=_CHAIN)
def watermark_ratios_are_sound(environment: Environment, packages: Packages, torch: Torch) -> Verdict:
    """The memory limits that the environment sets for MPS are accepted and safe.

    Tested: PYTORCH_MPS_HIGH_WATERMARK_RATIO and PYTORCH_MPS_LOW_WATERMARK_RATIO against what torch accepts, and against
    each other.

    Why: torch refuses a low ratio above the high one. As the low one is 1.4 unless it is set, a high ratio of 0.7 alone
    gives "invalid low watermark ratio 1.4". A high ratio of 0 takes the limit away, and one allocation too many can
    then stop the whole Mac.

    What to do: remove the variables, or set both, the low one not above the high one.

    Source: setHighWatermarkRatio and setLowWatermarkRatio, disassembled in the wheels 1.13.0 to 2.15.0.
    """
    if environment.variables is None:
        return unknown("environment.variables")
    judged = _judged(environment.variables, installed_version(torch, packages), _WATERMARK)
    evidence = _evidence(judged, environment)
    if not judged:
        set_here = [name for name in (HIGH, LOW) if name in environment.variables]
        return passed(f"{' and '.join(set_here)} set, and accepted" if set_here else "", evidence)
    name, worst = judged[0]
    detail = f"{name}={environment.variables[name][:_SHOWN]}: {worst.why}"
    remedies = [Remedy(f"{worst.remedy}.", (("unset", HIGH, LOW),))]
    if worst.outcome == "invalid" and not torch.usable:
        return fail(detail, evidence, remedies, gpu=False)
    return warn(detail, evidence, remedies)


@check("EN104", family="environment", cause=_INEFFECTIVE, needs=_CHAIN)
def variables_do_what_they_say(environment: Environment, packages: Packages, torch: Torch) -> Verdict:
    """The variables that are set for torch do what they say.

    Tested: every variable of the environment that torch reads on a Mac, or that is taken for one, with its value and
    the installed release.

    Why: some names that circulate are read by no release, others only from a certain release on. Some values mean the
    contrary of what they say: from torch 2.8 on PYTORCH_ENABLE_MPS_FALLBACK=false switches the fallback on, and up to
    2.7.1 it stops the import.

    What to do: see the remedy; a variable must be set before Python starts, or before torch is imported.

    Source: strings and getenv calls in the wheels 1.12.0 to 2.15.0.
    """
    if environment.variables is None:
        return unknown("environment.variables")
    judged = _judged(environment.variables, installed_version(torch, packages), _INEFFECTIVE)
    evidence = _evidence(judged, environment)
    if not judged:
        return passed()
    name, worst = judged[0]
    detail = f"{name}={environment.variables[name][:_SHOWN]}: {worst.why}"
    remedies = [Remedy(f"{other.remedy}." if other.remedy[-1:] != "?" else other.remedy) for _, other in judged]
    if worst.outcome == "invalid" and _stopped_by_a_number(torch):
        return fail(detail, evidence, remedies, confidence="likely", gpu=False)
    return warn(detail, evidence, remedies)


def _stopped_by_a_number(torch: Torch) -> bool:
    """Did the import end as it does where torch cannot read a variable as a number: by stoi, or by a signal?"""
    failure, end = torch.import_failure, torch.end
    if torch.imported or (failure is None and end is None):
        return False
    text = (failure.message if failure else "") + (end.stderr_tail or "" if end else "")
    return "stoi" in text or "invalid_argument" in text or (end is not None and end.how == "signal")


def _judged(variables: Mapping[str, str], version: str | None, cause: str) -> list[tuple[str, Judgement]]:
    """Return the variables in which something is wrong that has this cause, the worst first."""
    found = []
    for name, value in sorted(variables.items()):
        others = {other: text for other, text in variables.items() if other != name}
        judgement = judge(name, value, version, others)
        if judgement.cause == cause:
            found.append((name, judgement))
    return sorted(found, key=lambda item: _WORST_FIRST.index(item[1].outcome))


def _evidence(judged: list[tuple[str, Judgement]], environment: Environment) -> list[Evidence]:
    values = environment.variables or {}
    return [Evidence(f"environment.{name}", values[name], environment.source("variables")) for name, _ in judged]
