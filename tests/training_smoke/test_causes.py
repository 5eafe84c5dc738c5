"""The words of errors, and what they prove."""

from __future__ import annotations

import pytest
from mpsdoctor.training_smoke import causes

FULL = (
    "MPS backend out of memory (MPS allocated: {0}, other allocations: {1}, max allowed: {2}). "
    "Tried to allocate {3} on {4} pool. Use PYTORCH_MPS_HIGH_WATERMARK_RATIO=0.0 to disable upper limit for memory "
    "allocations (may cause system failure)."
)


@pytest.mark.parametrize(
    ("allocated", "other", "limit", "wanted", "pool", "cause"),
    [
        # GitHub's macos-14 and early macos-15 images: refused far below the limit.
        ("0 bytes", "0 bytes", "7.93 GB", "256 bytes", "private", "virtual-machine-gpu"),
        ("1024.00 MB", "0 bytes", "7.93 GB", "256 bytes", "shared", "virtual-machine-gpu"),
        # Ordinary pressure: over the limit, or a large request on a small Mac.
        ("17.90 GB", "310.25 MB", "18.13 GB", "256.00 MB", "private", "mps-out-of-memory"),
        ("5.05 GB", "1.10 GB", "9.07 GB", "1.50 GB", "private", "mps-out-of-memory"),
        ("9.05 GB", "20.00 MB", "9.07 GB", "256 bytes", "private", "mps-out-of-memory"),
    ],
)
def test_out_of_memory_is_told_apart_by_its_own_arithmetic(
    allocated: str, other: str, limit: str, wanted: str, pool: str, cause: str
) -> None:
    assert causes.cause_of(FULL.format(allocated, other, limit, wanted, pool)) == cause


@pytest.mark.parametrize(
    ("message", "cause"),
    [
        ("User specified an unsupported autocast device_type 'mps'", "mixed-precision-unsupported"),
        ("User specified autocast device_type must be 'cuda' or 'cpu'", "mixed-precision-unsupported"),
        ("BFloat16 is not supported on MPS", "bf16-unsupported"),
        ("MPS BFloat16 is only supported on MacOS 14 or newer", "bf16-unsupported"),
        (
            "Cannot convert a MPS Tensor to float64 dtype as the MPS framework doesn't support float64. Please use "
            "float32 instead.",
            "float64-on-mps",
        ),
        ("The operator 'aten::isin' is not currently implemented for the MPS device.", "op-not-implemented"),
        ("The operator 'aten::isin' is not current implemented for the MPS device.", "op-not-implemented"),
        ("Conv3D is only supported on MPS for MacOS_13_2 or newer", "op-needs-newer-macos"),
        ("torch.cumsum supported by MPS on MacOS 13+, please upgrade", "op-needs-newer-macos"),
        ("LLVM ERROR: Failed to infer result type(s).", "mixed-dtype-abort"),
        ("total bytes of NDArray > 2**32", "tensor-too-large"),
        ("invalid low watermark ratio 1.4", "watermark-env-var-invalid"),
        ("error: unsupported deferred-static-alloca-size function body", "virtual-machine-gpu"),
        ("something that nobody has seen", None),
        # macOS, a sandbox or a virtual machine: the parent has the facts that tell.
        ("The MPS backend is supported on MacOS 14.0+.", None),
    ],
)
def test_messages(message: str, cause: str | None) -> None:
    assert causes.cause_of(message) == cause


@pytest.mark.parametrize(
    ("message", "operator"),
    [
        (
            "The operator 'aten::linalg_svd' is not currently supported on the MPS backend and will fall back to run "
            "on the CPU. This may have performance implications.",
            "aten::linalg_svd",
        ),
        ("torch.sort is supported by MPS on MacOS 13+, please upgrade. Falling back to CPU", "torch.sort"),
        (
            "MPS: grid_sampler_2d op is supported natively starting from macOS 13.2. Falling back on CPU.",
            "grid_sampler_2d",
        ),
        ("this one falls apart; falling back to the CPU", "an operator"),
        ("MPS: no support for int64 min op, casting it to int32", None),
        ("The operator 'aten::foo' is deprecated", None),
    ],
)
def test_fallback_warnings(message: str, operator: str | None) -> None:
    assert causes.fallback_operator(message) == operator


def test_the_log_of_fallbacks() -> None:
    log = (
        "CPU Fallback::aten::linalg_svd:MPS:Float[24, 24] (id=1, run=1, CopyOverhead=4.50 KB)\n"
        "other text\nCPU Fallback::aten::linalg_svd:MPS:Float[24, 24] (id=1, run=2, CopyOverhead=4.50 KB)\n"
        "CPU Fallback::aten::col2im:MPS:Half[2] (id=2, run=1, CopyOverhead=0 bytes)\n"
    )
    assert causes.logged_fallbacks(log) == ("aten::col2im", "aten::linalg_svd")


@pytest.mark.parametrize(
    ("error", "missing"),
    [
        (NotImplementedError("anything"), True),
        (RuntimeError("\"addmm_impl_cpu_\" not implemented for 'Half'"), True),
        (RuntimeError("ConvTranspose 3D is not supported on MPS"), True),
        (RuntimeError("MPS device does not support mm for non-float inputs"), True),
        (RuntimeError("Failed to created pipeline state object"), False),
        (RuntimeError("Expected all tensors to be on the same device"), False),
    ],
)
def test_missing_operators_and_other_errors(error: BaseException, missing: bool) -> None:
    assert causes.says_missing(error) is missing


def test_a_virtual_machine_explains_only_what_nothing_else_does() -> None:
    vm = {"virtual_machine": True}
    assert causes.with_context(None, "mps", vm) == "virtual-machine-gpu"
    assert causes.with_context("op-not-implemented", "mps", vm) == "op-not-implemented"
    assert causes.with_context(None, "cuda", vm) is None
    assert causes.with_context(None, "mps", {}) is None


def test_the_last_words_of_a_process() -> None:
    words = (
        "warning\n/AppleInternal/...: failed assertion `Error: total bytes of NDArray > 2**32'\nFatal Python error\n"
    )
    assert "failed assertion" in str(causes.abort_message(words))
    assert causes.abort_message("nothing of note\n") is None
    lost = "Error: command buffer exited with error status.\n\tThe Metal Performance Shaders operations encoded"
    assert str(causes.lost_command_buffer(lost)).startswith("command buffer exited")
    assert causes.lost_command_buffer("all is well") is None


def test_the_first_line_of_an_exception() -> None:
    assert causes.first_line(ValueError("one\ntwo")) == "ValueError: one"
    assert causes.first_line(ValueError()) == "ValueError: no message"
