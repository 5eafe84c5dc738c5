"""Each planted fault is found and named, by judges that know nothing of it."""

from __future__ import annotations

import time

import pytest

from tests.training_smoke.harness import smoke

CPU = ("--device", "cpu", "--quick")
MPS = ("--device", "mps", "--quick")


def test_a_healthy_pretended_device_passes() -> None:
    run = smoke(*MPS, "--only", "allocate,numerics", plant="plant_base")
    assert (run.code, run.result["outcome"]) == (0, "pass"), run.stderr


def test_a_linear_layer_that_drops_its_bias_on_3d_input() -> None:
    run = smoke(*CPU, "--only", "numerics", plant="linear_drops_bias_3d")
    stage = run.stage("numerics")
    wrong = {name["operator"] for name in stage["operators"] if name["outcome"] == "wrong"}
    assert wrong == {"linear_3d_80x1x2_to_192", "linear_3d_2x64x128_to_384"}
    assert stage["outcome"] == run.result["outcome"] == "fail"
    assert run.code == 1
    assert "linear_3d" in stage["detail"]
    assert stage["cause"] is None  # what broke it, this program cannot know


def test_the_same_fault_in_a_virtual_machine_is_the_machine() -> None:
    operators = ("--operators", "linear,linear_3d_2x64x128_to_384")
    context = ("--context", '{"virtual_machine": true}')
    run = smoke(*MPS, "--only", "numerics", *operators, *context, plant="plant_base+linear_drops_bias_3d")
    assert run.stage("numerics")["cause"] == "virtual-machine-gpu"
    assert run.checks("numerics") == {"operator-wrong"}


def test_an_unscale_that_zeroes_half_precision_gradients() -> None:
    run = smoke(*CPU, "--only", "train", plant="transformer_only+unscale_zeroes_half")
    assert run.checks("train") == {"half-parameter-unscale"}
    assert run.result["outcome"] == "fail"
    assert "loses 40 of 40" in run.stage("train")["detail"]


def test_an_operator_that_returns_float32() -> None:
    run = smoke(*CPU, "--only", "numerics,train", plant="linear_returns_float32")
    wrong = {name["operator"]: name for name in run.stage("numerics")["operators"] if name["outcome"] == "wrong"}
    assert "it returned float32 where float16 is due" in wrong["linear"]["detail"]
    assert set(wrong) >= {"linear", "linear_no_bias", "linear_3d_no_bias", "slice_with_offset"}
    found = [problem for problem in run.problems("train") if problem["check"] == "activation-dtype"]
    assert {problem["subject"] for problem in found} == {"cnn", "transformer"}
    assert "float32 and not float16" in found[0]["text"]


def test_an_operator_that_runs_on_the_cpu() -> None:
    run = smoke(*CPU, "--only", "numerics,fallback", plant="gelu_on_the_cpu")
    gelu = next(each for each in run.stage("numerics")["operators"] if each["operator"] == "gelu")
    assert gelu["outcome"] == "fallback"
    stage = run.stage("fallback")
    assert stage["in_training"]["transformer"] == ["aten::gelu"]
    assert stage["in_training"]["cnn"] == []
    assert run.checks("fallback") == {"fallback-in-training"}
    assert "aten::gelu" in stage["detail"]
    assert stage["hidden"] is False


def test_a_fallback_that_the_environment_hides_is_said_to_be_hidden() -> None:
    hide = {"PYTORCH_ENABLE_MPS_FALLBACK": "1"}
    run = smoke(*CPU, "--only", "fallback", "--operators", "gelu", plant="gelu_on_the_cpu", env=hide)
    stage = run.stage("fallback")
    assert stage["fallback_enabled"] is True
    assert stage["hidden"] is True
    assert stage["in_operators"].keys() == {"gelu"}


def test_nan_after_step_20() -> None:
    run = smoke(*CPU, "--only", "train", plant="transformer_only+gelu_nan_after_20_steps")
    [problem] = run.problems("train")
    assert problem["check"] == "loss-not-finite"
    assert problem["subject"] == "transformer"
    assert "step 21 of" in problem["text"]
    assert problem["cause"] == run.stage("train")["cause"] == "fp16-numerics-nan"
    assert run.stage("train")["networks"][0]["last_loss"] is None  # JSON has no NaN


def test_a_loss_that_does_not_fall() -> None:
    run = smoke(*CPU, "--only", "train", plant="transformer_only+scaler_never_steps")
    assert {"loss-does-not-fall", "cpu-agreement", "accuracy"} == run.checks("train")
    assert "the loss went from" in run.stage("train")["detail"]


def test_an_allocation_that_fails_as_in_a_virtual_machine() -> None:
    run = smoke(*MPS, plant="allocation_fails_as_in_a_vm")
    stage = run.stage("allocate")
    assert (stage["outcome"], stage["cause"]) == ("fail", "virtual-machine-gpu")
    assert "one element" in stage["detail"]
    assert {s["stage"]: s["outcome"] for s in run.result["stages"]} == {
        "allocate": "fail", "numerics": "skip", "train": "skip", "fallback": "skip", "speed": "skip",
    }  # fmt: skip
    assert "not reached" in run.stage("speed")["detail"]


def test_an_abort_inside_one_operator_loses_that_operator_alone() -> None:
    run = smoke(*CPU, "--only", "numerics", plant="topk_aborts")
    stage = run.stage("numerics")
    outcomes = {each["operator"]: each["outcome"] for each in stage["operators"]}
    assert outcomes.pop("topk") == "crashed"
    assert set(outcomes.values()) == {"pass"}
    assert stage["cause"] == "mixed-dtype-abort"
    assert "topk" in stage["detail"]
    assert "SIGABRT: LLVM ERROR" in stage["detail"]


def test_an_abort_that_another_operator_prepared_names_both() -> None:
    few = "linear,matmul,gelu,gather,index_select,topk,sort,where"
    run = smoke(*CPU, "--only", "numerics", "--operators", few, plant="sort_aborts_after_gather")
    [problem] = run.problems("numerics")
    assert problem["subject"] == "sort"
    assert "only after gather" in problem["text"]


def test_a_hang_inside_one_operator() -> None:
    begun = time.monotonic()
    few = ("--operators", "linear,topk,sort")
    run = smoke(*CPU, "--only", "numerics", "--deadline", "operator=8", *few, plant="topk_hangs")
    outcomes = {each["operator"]: each["outcome"] for each in run.stage("numerics")["operators"]}
    assert outcomes == {"linear": "pass", "topk": "hung", "sort": "pass"}
    assert time.monotonic() - begun < 60


def test_a_hang_in_a_stage() -> None:
    only = ("--only", "train,fallback", "--operators", "", "--deadline", "train=14")
    run = smoke(*CPU, *only, plant="training_hangs")
    stage = run.stage("train")
    assert stage["outcome"] == "stalled"
    assert "no result within 14 s" in stage["detail"]
    assert "network cnn, step 10" in stage["detail"]
    assert run.stage("fallback")["outcome"] == "pass"  # the stages after it still run
    assert run.result["outcome"] == "fail"


def test_a_device_ten_times_slower_than_the_cpu() -> None:
    run = smoke(*MPS, "--dtype", "float32", "--only", "speed", plant="slow_device")
    stage = run.stage("speed")
    assert (stage["outcome"], stage["cause"]) == ("fail", "mps-slower-than-cpu")
    [problem] = run.problems("speed")
    assert problem["subject"] == "cnn medium 64x64"
    case = next(each for each in run.result["speed"]["cases"] if each["name"] == "cnn medium 64x64")
    assert 0.05 < case["ratio"] < 0.2
    assert "slower than the CPU" in run.result["speed"]["verdict"]


def test_memory_that_grows() -> None:
    run = smoke(*CPU, "--only", "train", plant="transformer_only+gelu_keeps_memory")
    assert run.checks("train") == {"memory-growth"}
    assert "transformer: memory grew" in run.stage("train")["detail"]


@pytest.mark.parametrize("plant", ["import_fails", "import_hangs"])
def test_a_torch_that_does_not_import(plant: str) -> None:
    run = smoke(*CPU, "--deadline", "allocate=6", plant=plant)
    stage = run.stage("allocate")
    assert stage["outcome"] == {"import_fails": "crash", "import_hangs": "stalled"}[plant]
    assert run.result["outcome"] == "fail"
    assert run.result["torch"] is None
    assert all(each["outcome"] == "skip" for each in run.result["stages"][1:])
