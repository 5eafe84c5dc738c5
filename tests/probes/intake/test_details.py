"""The parts of a message that decide are read from what the tools really print."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mpsdoctor.probes.intake.details import conda_names, details, size


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        (
            "ERROR: Could not find a version that satisfies the requirement torch==2.6.0 (from versions: 2.2.0, 2.2.2)",
            {"name": "torch", "spec": "==2.6.0", "version": "2.6.0", "first": "2.2.0", "last": "2.2.2", "offered": "2"},
        ),
        (
            "satisfies the requirement torch>=2.4 (from app) (from versions: none)",
            {"name": "torch", "spec": ">=2.4", "offered": "none"},
        ),
        (
            "No matching distribution found for torch==2.1.0+cu118",
            {"name": "torch", "spec": "==2.1.0+cu118", "version": "2.1.0+cu118"},
        ),
        ("No matching distribution found for torchvision[all]", {"name": "torchvision"}),
        (
            "error: Distribution `torch==2.7.0 @ registry+index` can't be installed because it doesn't have",
            {"name": "torch", "version": "2.7.0"},
        ),
        (
            "hint: You're on macOS (`macosx_15_0_x86_64`), but `torch` (v2.7.0) only has wheels for the following",
            {"tag": "macosx_15_0_x86_64", "name": "torch", "version": "2.7.0"},
        ),
        ("You're using CPython 3.14 (`cp314t`)", {"version": "3.14", "tag": "314t"}),
        ("Unable to find installation candidates for torch (2.3.0+cpu)", {"name": "torch", "version": "2.3.0+cpu"}),
        ("The operator 'aten::isin.Tensor' is not", {"operator": "aten::isin.Tensor"}),
        ("Could not run 'aten::_fft_r2c' with", {"operator": "aten::_fft_r2c"}),
        ("(have 'arm64', need 'x86_64')", {"have": "arm64", "need": "x86_64"}),
        ("(have (x86_64), need (arm64e))", {"have": "x86_64", "need": "arm64e"}),
        (
            "MPS allocated: 5.56 GB, other allocations: 1.10 GB, max allowed: 6.80 GB). Tried to allocate 256 bytes on",
            {
                "allocated": "5.56 GB",
                "allocated_bytes": str(round(5.56 * 2**30)),
                "other": "1.10 GB",
                "other_bytes": str(round(1.1 * 2**30)),
                "max": "6.80 GB",
                "max_bytes": str(round(6.8 * 2**30)),
                "tried": "256 bytes",
                "tried_bytes": "256",
            },
        ),
        (
            "torch-2.8.0-cp312-none-macosx_11_0_arm64.whl is not a supported wheel on this platform",
            {
                "name": "torch",
                "version": "2.8.0",
                "python_tag": "cp312",
                "abi_tag": "none",
                "platform_tag": "macosx_11_0_arm64",
            },
        ),
        (
            "Input type (MPSHalfType) and weight type (MPSFloatType) should be the same",
            {"input": "MPSHalfType", "weight": "MPSFloatType"},
        ),
        ("No module named 'torch.nn.attention'", {"module": "torch.nn.attention"}),
        ("module 'torch' has no attribute 'compile'", {"module": "torch", "attribute": "compile"}),
        ("Expected in: '/env/lib/libtorch_cpu.dylib'", {"expected": "/env/lib/libtorch_cpu.dylib"}),
        ("an ordinary line", {}),
    ],
)
def test_parts_of_messages(text: str, parts: dict[str, str]) -> None:
    assert details(text) == parts


@pytest.mark.parametrize(
    ("text", "size_"),
    [("256 bytes", 256), ("1.00 KB", 1024), ("2 MiB", 2 << 20), ("1.5 GB", 1.5 * 2**30), ("1 TB", 1 << 40),
     ("1 parsec", None), ("GB", None), ("", None), ("1.2.3 GB", None)],
)  # fmt: skip
def test_sizes(text: str, size_: float | None) -> None:
    assert size(text) == size_


def test_what_conda_lists_is_read() -> None:
    text = "not available from current channels:\n\n  - pytorch==2.5.1\n  - torchaudio\n\nCurrent channels:\n"
    assert list(conda_names(text)) == ["pytorch", "torchaudio"]


@given(st.text(max_size=200))
def test_any_text_has_parts_or_none(text: str) -> None:
    assert all(isinstance(name, str) and isinstance(value, str) for name, value in details(text).items())
    size(text)
