"""The bars of the train stage: what passes, what does not, and how it is named."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch
from mpsdoctor.training_smoke import judge, outcomes, probes, sizes
from mpsdoctor.training_smoke.precision import Precision
from mpsdoctor.training_smoke.probes import Activation, HalfParameters

HALF = Precision("mps", "float16", "autocast", "amp")
RUN = sizes.CPU_RUNS[1]
GOOD = [4.0 - 3.9 * step / (RUN.steps - 1) for step in range(RUN.steps)]


def checks(problems: list[outcomes.Problem]) -> list[str]:
    return [problem.check for problem in problems]


def test_activations() -> None:
    good = [Activation("a", torch.float16, "mps"), Activation("b", torch.float16, "mps")]
    assert judge.activation_problems(good, HALF, "mps", "cnn") == []
    converted = [good[0], Activation("b", torch.float32, "mps")]
    [problem] = judge.activation_problems(converted, HALF, "mps", "cnn")
    assert (problem.check, problem.subject) == ("activation-dtype", "cnn")
    assert "layer b returned float32 and not float16 (1 of 2 layers)" in problem.text
    moved = [good[0], Activation("b", torch.float16, "cpu")]
    assert checks(judge.activation_problems(moved, HALF, "mps", "cnn")) == ["activation-device"]
    # Nothing seen proves nothing.
    assert checks(judge.activation_problems([], HALF, "mps", "cnn")) == ["activation-dtype"]


REFERENCE = {"w": torch.tensor([3.0, 4.0]).double(), "b": torch.tensor([1.0, -1.0]).double()}


@pytest.mark.parametrize(
    ("gradient", "found"),
    [
        (torch.tensor([3.0, 4.0]), []),
        (torch.tensor([0.0, 0.0]), ["gradient-zero"]),
        (None, ["gradient-zero"]),
        (torch.tensor([3.0, math.nan]), ["gradient-finite"]),
        (torch.tensor([4.0, 3.0]), ["gradient-direction"]),
        (torch.tensor([-3.0, -4.0]), ["gradient-direction"]),
        (torch.tensor([3.9, 5.2]), ["gradient-norm"]),
        (torch.tensor([0.3, 0.4]), ["gradient-norm"]),
    ],
)
def test_gradients(gradient: Any, found: list[str]) -> None:
    ours = {"w": None if gradient is None else gradient.double(), "b": REFERENCE["b"]}
    problems = judge.gradient_problems(ours, REFERENCE, "float16", "cnn")
    assert checks(problems) == found
    assert all("gradient of w" in problem.text for problem in problems)


def test_a_gradient_that_is_zero_in_the_reference_too_is_no_proof() -> None:
    zero = {"w": torch.zeros(2).double()}
    assert checks(judge.gradient_problems(zero, zero, "float16", "cnn")) == ["gradient-zero"]


def test_closeness() -> None:
    near = judge.closeness({"w": torch.tensor([3.0, 4.0]).double(), "b": REFERENCE["b"] * 1.5}, REFERENCE)
    assert near == {"cosine": pytest.approx(1.0), "norm_ratio": pytest.approx(1.5)}


def test_a_falling_loss_passes() -> None:
    assert judge.loss_problems(GOOD, RUN, "float16", GOOD) == []
    assert judge.late_loss([9.0] * 18 + [1.0, 2.0]) == 1.5


@pytest.mark.parametrize(
    ("dtype", "reference", "cause"),
    [("float16", GOOD, "fp16-numerics-nan"), ("float16", [math.nan], None), ("bfloat16", GOOD, None)],
)
def test_a_loss_that_is_not_finite_names_the_step(dtype: str, reference: list[float], cause: str | None) -> None:
    [problem] = judge.loss_problems([4.0, 3.0, math.nan, math.nan], RUN, dtype, reference)
    assert problem.check == "loss-not-finite"
    assert "nan at step 3" in problem.text
    assert problem.cause == cause
    [problem] = judge.loss_problems([4.0, math.inf], RUN, dtype, reference)
    assert "inf at step 2" in problem.text


def test_a_loss_above_the_bar() -> None:
    assert checks(judge.loss_problems([4.0] * RUN.steps, RUN, "float16", GOOD)) == ["loss-does-not-fall"]


def test_accuracy() -> None:
    assert judge.accuracy_problems(RUN.accuracy_bar, RUN) == []
    assert checks(judge.accuracy_problems(RUN.accuracy_bar - 0.01, RUN)) == ["accuracy"]


@pytest.mark.parametrize("dtype", sorted(judge.BANDS))
def test_agreement_with_the_cpu(dtype: str) -> None:
    band = judge.BANDS[dtype]
    assert judge.agreement_problems(GOOD, GOOD, dtype, "cnn") == []
    other_start = [GOOD[0] * (1 + 2 * band.first_loss), *GOOD[1:]]
    assert "first loss" in judge.agreement_problems(other_start, GOOD, dtype, "cnn")[0].text
    drifting = [GOOD[0], *(loss + 1.1 * band.curve * GOOD[0] for loss in GOOD[1:])]
    assert "loss curve" in judge.agreement_problems(drifting, GOOD, dtype, "cnn")[0].text
    near = [GOOD[0], *(loss + 0.9 * band.curve * GOOD[0] for loss in GOOD[1:])]
    assert judge.agreement_problems(near, GOOD, dtype, "cnn") == []


def test_the_loss_scale() -> None:
    assert judge.scale_problems([65536.0, 32768.0], HALF, "cnn") == []
    assert checks(judge.scale_problems([65536.0, 128.0], HALF, "cnn")) == ["scale-collapse"]
    unscaled = Precision("mps", "bfloat16", "autocast", "none")
    assert judge.scale_problems([1.0], unscaled, "cnn") == []


def test_half_parameters() -> None:
    assert judge.half_parameter_problems(HalfParameters(survived=40, total=40), HALF, False) == []
    assert judge.half_parameter_problems(HalfParameters(skip="none in use"), HALF, True) == []
    [problem] = judge.half_parameter_problems(HalfParameters(survived=0, total=40), HALF, True)
    assert problem.cause == "known-bad-torch-release"
    assert "loses 40 of 40" in problem.text
    [problem] = judge.half_parameter_problems(HalfParameters(survived=39, total=40), HALF, False)
    assert problem.cause is None  # no release known for it: no guess


MB = 1024 * 1024


@pytest.mark.parametrize(
    ("memory", "grows"),
    [
        ([100 * MB] * 12, False),
        ([10 * MB, 60 * MB, 90 * MB, *([100 * MB] * 9)], False),  # warm-up is no growth
        ([100 * MB, 101 * MB] * 6, False),
        ([(100 + 4 * step) * MB for step in range(12)], True),
        ([100 * MB] * 8 + [90 * MB] * 4, False),
        ([100 * MB] * 11 + [400 * MB], False),  # one reading is no trend
    ],
)
def test_memory_growth(memory: list[int], grows: bool) -> None:
    assert checks(judge.memory_problems(memory, False, "cnn")) == (["memory-growth"] if grows else [])


def test_memory_that_is_not_told_is_not_judged() -> None:
    assert judge.memory_growth([None] * 12) is None
    assert judge.memory_problems([None] * 12, False, "cnn") == []
    assert judge.memory_growth([MB] * 5) is None


def test_a_stage_fails_with_its_first_problem_and_first_known_cause() -> None:
    problems = [outcomes.Problem("a", "first"), outcomes.Problem("b", "second", cause="fp16-numerics-nan")]
    stage = outcomes.stage_outcome(problems, "all well", extra=1)
    assert (stage["outcome"], stage["cause"], stage["detail"]) == ("fail", "fp16-numerics-nan", "first (1 more)")
    assert outcomes.stage_outcome([], "all well")["outcome"] == "pass"


def stages(**given: str) -> list[dict[str, Any]]:
    return [{"stage": name, "outcome": outcome} for name, outcome in given.items()]


@pytest.mark.parametrize(
    ("given", "outcome"),
    [
        (stages(allocate="pass", numerics="pass", train="pass", fallback="pass", speed="skip"), "pass"),
        (stages(allocate="pass", numerics="pass", train="pass", fallback="pass", speed="fail"), "fail"),
        (stages(allocate="pass", numerics="skip", train="pass", fallback="pass", speed="pass"), "unknown"),
        (stages(allocate="pass", numerics="pass", train="stalled", fallback="pass", speed="pass"), "fail"),
        (stages(allocate="pass", numerics="crash", train="pass", fallback="pass", speed="pass"), "fail"),
        (stages(fallback="pass", speed="pass"), "unknown"),
        ([{"stage": "allocate", "outcome": "skip", "absent": True}], "unknown"),
        ([{"stage": "allocate", "outcome": "skip", "asked": False}, {"stage": "train", "outcome": "pass"}], "pass"),
    ],
)
def test_the_outcome_of_a_run(given: list[dict[str, Any]], outcome: str) -> None:
    assert outcomes.overall(given) == outcome


def test_the_probe_of_half_parameters_on_a_sound_cpu() -> None:
    from mpsdoctor.training_smoke.devices import CpuDevice

    for dtype in ("float16", "bfloat16"):
        probe = probes.half_parameters(CpuDevice(), Precision("cpu", dtype, "autocast", "amp"))
        assert (probe.skip, probe.survived, probe.total) == (None, 40, 40)
    assert probes.half_parameters(CpuDevice(), Precision("cpu", "float16", "autocast", "hand-made")).skip
