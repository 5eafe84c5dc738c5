"""Asks the torch of the target (by target/torch_probe.py), in a child of its own so that its death loses nothing."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from mpsdoctor.facts.codec import decode_or_none
from mpsdoctor.facts.process import ProcessEnd
from mpsdoctor.facts.torch import ImportFailure, Torch, Trial
from mpsdoctor.probes.answers import Answers, finite, parse_answers, parse_line
from mpsdoctor.probes.process import Completed
from mpsdoctor.probes.runner import Runner
from mpsdoctor.probes.target_child import TORCH_TIMEOUT, run_torch_script

_SOURCE = "torch"
_AT_LEAST = re.compile(r"is_macos_or_newer\((\d{1,2}), ?(\d{1,2})\)")
_DIFFERENCE = re.compile(r"(?P<name>\w{1,60}?)(?:_check)?_max_abs_diff")
_RECORDED_TOLERANCE = 1e-3  # that of our own comparisons; recordings made by hand give the difference alone


def ask_torch(runner: Runner, executable: str, timeout: float = TORCH_TIMEOUT) -> Torch:
    """Import torch in the target, ask, allocate and compare. timeout: seconds for the whole child."""

    def on_line(line: bytes) -> float | None:
        answer = parse_line(line)
        return finite(answer.get("limit")) if answer else None

    done = run_torch_script(runner, executable, timeout, on_line)
    ran_out = done.end.how == "timeout" and (done.end.seconds or 0.0) >= timeout - 0.1
    return torch_facts(done, ran_out=ran_out and runner.live)


def torch_facts(done: Completed, *, ran_out: bool = False) -> Torch:
    """Read the child's answers; what it did not say before it died stays unknown.

    ran_out: the limit for everything was over, not that of the step, so that the step is not to blame.
    """
    values = parse_answers(done.stdout)
    not_recorded = done.end.how == "not-started" and done.end.error == "not in the recording"
    if values is None:
        return Torch() if not_recorded else Torch(end=done.end, imported=None, sources={"*": _SOURCE})
    answers = Answers(values)
    stage = answers.text("stage")
    version = answers.text("torch.__version__")
    imported = answers.flag("imported")
    if imported is None and version is not None:
        imported = True
    finished = stage == "done" or imported is False or stage is None
    end = None if finished and done.end.how == "exit" else _with_stage(done.end, stage)
    failure = answers.mapping("import_error")
    return Torch(
        imported=imported if imported is not None else (False if end is not None and stage == "import" else None),
        import_failure=decode_or_none(ImportFailure, failure) if failure else None,
        import_seconds=answers.real("import_seconds"),
        version=version,
        git_version=answers.text("torch.version.git_version"),
        file=answers.text("torch.__file__"),
        debug=answers.flag("torch.version.debug"),
        cuda=answers.text("torch.version.cuda"),
        built=answers.flag("is_built"),
        available=answers.flag("is_available"),
        device_count=answers.number("device_count"),
        device_name=answers.text("get_name"),
        core_count=answers.number("get_core_count"),
        recommended_max_memory=answers.number("recommended_max_memory"),
        macos_at_least=_macos_at_least(values),
        allocation=_allocation(answers, stage, None if ran_out else end),
        comparisons=_comparisons(values, stage, None if ran_out else end),
        warnings=answers.texts("warnings") or None,
        stage=stage,
        end=end,
        sources={"*": _SOURCE},
    )


def _with_stage(end: ProcessEnd, stage: str | None) -> ProcessEnd:
    import dataclasses

    return dataclasses.replace(end, stage=stage)


def _macos_at_least(values: Mapping[str, Any]) -> dict[str, bool] | None:
    found: dict[str, bool] = {}
    for key, value in values.items():
        match = _AT_LEAST.fullmatch(key)
        if match and isinstance(value, bool):
            found[f"{match[1]}.{match[2]}"] = value
    return found or None


def _allocation(answers: Answers, stage: str | None, end: ProcessEnd | None) -> Trial | None:
    told = answers.mapping("allocation")
    if told:
        return decode_or_none(Trial, told)
    recorded = answers.text("alloc_test")
    if recorded is not None and answers.flag("is_available"):
        return Trial(name="allocate", outcome="pass" if recorded == "ok" else "error", error=_unless_ok(recorded))
    return _died("allocate", end) if stage == "allocate" and end is not None else None


def _unless_ok(text: str) -> str | None:
    return None if text == "ok" else text


def _comparisons(values: Mapping[str, Any], stage: str | None, end: ProcessEnd | None) -> tuple[Trial, ...] | None:
    told = values.get("comparison")
    read = (decode_or_none(Trial, item) for item in told) if isinstance(told, list) else ()
    trials = [trial for trial in read if trial is not None]
    trials += [trial for key, value in values.items() if (trial := _recorded(key, value)) is not None]
    known = {trial.name for trial in trials}
    if end is not None and stage not in (None, "import", "ask", "allocate", "done", *known):
        trials.append(_died(str(stage), end))
    return tuple(trials) or None


def _recorded(key: str, value: object) -> Trial | None:
    """Read the comparisons that recordings made by hand hold: NAME_max_abs_diff, and an error of a linalg function."""
    match = _DIFFERENCE.fullmatch(key)
    if match and isinstance(value, (int, float)) and not isinstance(value, bool):
        outcome = "pass" if value <= _RECORDED_TOLERANCE else "wrong"  # NaN does not fit
        difference = finite(value)
        return Trial(name=match["name"], outcome=outcome, max_abs_difference=difference, tolerance=_RECORDED_TOLERANCE)
    if key.startswith("linalg_") and isinstance(value, str):
        return Trial(name=key, outcome="pass" if value == "ok" else "error", error=_unless_ok(value))
    return None


def _died(name: str, end: ProcessEnd) -> Trial:
    outcome = "stalled" if end.how == "timeout" else "crash"
    return Trial(name=name, outcome=outcome, error=end.describe(), seconds=end.seconds)
