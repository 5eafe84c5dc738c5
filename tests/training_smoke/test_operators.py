"""The operator table: every case agrees on a sound device, and every case notices an unsound one."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
import torch
from mpsdoctor.training_smoke import numerics, tolerance
from mpsdoctor.training_smoke.devices import CpuDevice
from mpsdoctor.training_smoke.operators import Case, Limit, Outputs, table

CASES = table()
CPU = CpuDevice()


def test_the_table_holds_what_real_models_use() -> None:
    assert len(CASES) >= 40
    wanted = {
        "argmax_int64", "attention", "attention_causal", "attention_mask", "batch_norm", "bmm", "cholesky",
        "conv1d", "conv2d", "conv3d", "conv_transpose1d", "conv_transpose2d", "conv_transpose3d",
        "cumsum_int64", "einsum", "embedding", "gather", "gelu", "group_norm", "interpolate_bilinear",
        "inverse", "layer_norm", "linear", "linear_3d_2x64x128_to_384", "linear_3d_80x1x2_to_192",
        "linear_3d_no_bias", "linear_no_bias", "lstm", "masked_fill", "matmul", "mean_large", "pad_reflect",
        "rms_norm", "scatter_add", "slice_with_offset", "softmax", "sort", "svd_values", "topk",
        "transposed_matmul",
    }  # fmt: skip
    assert wanted <= CASES.keys()


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
def test_every_operator_agrees_on_the_cpu(dtype: str) -> None:
    for seed in (0, 1, 2):
        measured = [numerics.evaluate(case, CPU, dtype, seed) for case in CASES.values()]
        off = [each for each in measured if each.outcome not in ("pass", "missing")]
        assert off == []
        compared = [each.error for each in measured if each.error is not None]
        assert max(compared) < 0.5
        assert len(compared) > 60


def broken(case: Case, damage: Callable[[torch.Tensor], torch.Tensor]) -> Case:
    """``case`` with its first output damaged on the device (the reference is float64 or comes first)."""
    calls = 0

    def run(*inputs: torch.Tensor) -> Outputs:
        nonlocal calls
        calls += 1
        given = case.run(*inputs)
        if calls == 1:  # the reference
            return given
        outputs = [given] if isinstance(given, torch.Tensor) else list(given)
        return [damage(outputs[0]), *outputs[1:]]

    return replace(case, run=run)


@pytest.mark.parametrize("name", CASES)
def test_every_case_notices_a_wrong_result(name: str) -> None:
    def shift(output: torch.Tensor) -> torch.Tensor:
        if output.dtype == torch.bool:
            return ~output
        return output * 3 if output.is_floating_point() else output + 1

    assert numerics.evaluate(broken(CASES[name], shift), CPU, "float16", 0).outcome == "wrong"


@pytest.mark.parametrize("name", CASES)
def test_every_case_notices_nan_or_a_changed_type(name: str) -> None:
    def spoil(output: torch.Tensor) -> torch.Tensor:
        return output * math.nan if output.is_floating_point() else output.double()

    measured = numerics.evaluate(broken(CASES[name], spoil), CPU, "bfloat16", 0)
    assert measured.outcome == "wrong"
    assert measured.detail


class WrongGradient(torch.autograd.Function):
    """The identity, with a gradient that is doubled."""

    @staticmethod
    def forward(context: Any, x: torch.Tensor) -> torch.Tensor:
        return x.clone()

    @staticmethod
    def backward(context: Any, *gradients: torch.Tensor) -> torch.Tensor:
        return gradients[0] * 2.0


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if case.gradient])
def test_every_differentiable_case_notices_a_wrong_gradient(name: str) -> None:
    measured = numerics.evaluate(broken(CASES[name], WrongGradient.apply), CPU, "float16", 0)
    assert measured.outcome == "wrong"
    assert "gradient" in str(measured.worst)


def raising(error: Exception) -> Case:
    calls = 0

    def run(x: torch.Tensor) -> torch.Tensor:
        nonlocal calls
        calls += 1
        if calls == 2:
            raise error
        return x * 1.0

    return Case("raises", lambda maker: (maker.normal(4),), run)


def test_errors_become_outcomes() -> None:
    missing = numerics.evaluate(raising(NotImplementedError("no kernel")), CPU, "float16", 0)
    assert (missing.outcome, missing.cause) == ("missing", None)
    words = "The operator 'aten::x' is not currently implemented for the MPS device."
    assert numerics.evaluate(raising(NotImplementedError(words)), CPU, "float16", 0).cause == "op-not-implemented"
    crashed = numerics.evaluate(raising(RuntimeError("Internal Error 0000000e")), CPU, "float16", 0)
    assert crashed.outcome == "crashed"
    assert "0000000e" in crashed.detail


class Elsewhere(CpuDevice):
    """Says that it is not the CPU once the inputs are there."""

    asked = 0

    @property
    def torch_device(self) -> torch.device:
        self.asked += 1
        return torch.device("cpu" if self.asked <= 1 else "cuda")


def test_a_result_on_another_device_is_a_fallback() -> None:
    case = Case("stays", lambda maker: (maker.normal(4),), lambda x: x + 1.0)
    measured = numerics.evaluate(case, Elsewhere(), "float16", 0)
    assert measured.outcome == "fallback"
    assert "on cpu" in measured.detail


@pytest.mark.parametrize(
    ("name", "version", "dtype", "skipped"),
    [
        ("conv3d", (2, 2, 2), "float16", True),
        ("conv3d", (2, 3, 0), "float16", False),
        ("conv_transpose3d", (2, 7, 1), "float32", True),
        ("conv_transpose3d", (2, 8, 0), "float32", False),
        ("conv_transpose3d", (2, 15, 0), "float16", True),
        ("conv_transpose3d", (2, 15, 0), "bfloat16", True),
        ("isin", (2, 3, 1), "float16", True),
        ("isin", (2, 4, 0), "float16", False),
        ("interpolate_bicubic", (2, 5, 1), "float32", True),
        ("index_copy", (2, 7, 1), "float32", True),
        ("index_copy", (2, 8, 0), "float32", False),
        ("linear", (1, 12, 0), "float16", False),
    ],
)
def test_known_gaps_by_release(name: str, version: tuple[int, int, int], dtype: str, skipped: bool) -> None:
    assert (CASES[name].skip_reason("mps", version, dtype) is not None) is skipped
    assert CASES[name].skip_reason("cuda", version, dtype) is None


def test_a_name_that_this_torch_lacks_is_a_skip(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(torch.nn.functional, "rms_norm")
    measured = numerics.evaluate(CASES["rms_norm"], CPU, "float16", 0)
    assert measured.outcome == "skip"
    assert "rms_norm" in measured.detail


def test_a_limit_without_a_release_means_never() -> None:
    case = replace(CASES["linear"], limits=(Limit("mps", None, "never"),))
    assert case.skip_reason("mps", (99, 0, 0), "float16") == "never"


def test_tolerances_follow_the_formula() -> None:
    eps = torch.finfo(torch.float16).eps
    assert tolerance.limit(torch.float16, 1.0, depth=1, length=1) == pytest.approx(4 * 2 * eps)
    assert tolerance.limit(torch.float16, 3.0, depth=2, length=64) == pytest.approx(4 * (2 + 8) * eps * 3)
    # bfloat16 is summed in float32 by all matrix hardware: the length hardly counts.
    long, short = (tolerance.limit(torch.bfloat16, 1.0, length=n) for n in (256, 1))
    assert long / short < 1.01
    assert tolerance.limit(torch.float32, 1.0, length=10**6) == tolerance.limit(torch.float32, 1.0, length=256)
    on_gpu, on_cpu = (tolerance.limit(torch.float32, 1.0, on_gpu=gpu) for gpu in (True, False))
    assert on_gpu == pytest.approx(on_cpu * 2.0**-17 / 2.0**-23)


def test_float64_never_reaches_the_device() -> None:
    seen: set[torch.dtype] = set()
    case = CASES["layer_norm"]

    def run(*inputs: torch.Tensor) -> Outputs:
        seen.update(each.dtype for each in inputs)
        return case.run(*inputs)

    numerics.evaluate(replace(case, run=run), CPU, "float32", 0)
    assert seen == {torch.float64, torch.float32}  # float64 for the reference on the CPU only
