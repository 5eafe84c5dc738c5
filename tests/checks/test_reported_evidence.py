"""Messages that prove more than their first reading says."""

from __future__ import annotations

import pytest

from mpsdoctor import Facts, Host, Message, Messages
from mpsdoctor.registry import load_registry
from tests.tickets.answers import answer


def judged(check_id: str, facts: Facts) -> object:
    found = load_registry().get(check_id)
    assert found is not None
    return found.function(**{name: facts if name == "facts" else getattr(facts, name) for name in found.parameters})


def test_float64_of_torchs_own_gradient_scaler_is_not_the_programs() -> None:
    both = ("float64-convert-mps", "gradscaler-double")
    alone = Facts(messages=Messages(items=(Message(id=both[0], text="float64"),)))
    scaler = Facts(messages=Messages(items=tuple(Message(id=i, text="float64") for i in both)))
    assert judged("PR101", alone).outcome == "fail"  # type: ignore[attr-defined]
    assert judged("PR101", scaler).outcome == "skip"  # type: ignore[attr-defined]
    assert judged("PR103", scaler).outcome == "fail"  # type: ignore[attr-defined]


def test_an_x86_64_tag_on_a_known_mac_needs_no_question() -> None:
    message = Message(id="uv-tag-x86_64", text="no wheels with a matching platform tag (e.g., `macosx_15_0_x86_64`)")

    def cause(host: Host) -> str | None:
        return judged("PY301", Facts(host=host, messages=Messages(items=(message,)))).cause  # type: ignore[attr-defined]

    assert cause(Host(chip="Apple M3 Pro")) == "x86-python-under-rosetta"
    assert cause(Host(chip="Intel(R) Core(TM) i7")) == "intel-mac"
    assert cause(Host()) == "x86-python-hardware-unknown"


def test_a_container_whose_system_nobody_tells_is_linux() -> None:
    verdict = judged("HW101", Facts(host=Host(container="docker")))
    assert (verdict.cause, verdict.confidence) == ("linux-container-on-mac", "likely")  # type: ignore[attr-defined]


def test_a_chip_alone_is_no_macos() -> None:
    """Most torches without MPS on a Mac run inside of a container."""
    message = "RuntimeError: PyTorch is not linked with support for mps devices"
    assert answer(f"Chip: Apple M2\n{message}").certain is None
    assert answer(f"Chip: Apple M2\nmacOS: 15.1\n{message}").certain == "mps-not-built"
    assert answer(f"Chip: Apple M2\nOS: docker\n{message}").cause == "linux-container-on-mac"


@pytest.mark.parametrize(
    ("torch", "confidence"),
    [("2.2.2", "certain"), ("2.3.0", "likely"), ("2.7.1", "likely"), ("2.8.0", "certain"), (None, "likely")],
)
def test_the_scaler_of_some_releases_may_be_what_asks_for_float64(torch: str | None, confidence: str) -> None:
    told = f"torch: {torch}\n" if torch else ""
    got = answer(
        f"Chip: Apple M2\nmacOS: 15.1\nPython: 3.12 (arm64)\n{told}TypeError: Cannot convert a MPS Tensor to float64 "
        "dtype as the MPS framework doesn't support float64. Please use float32 instead."
    )
    assert [one.confidence for one in got.diagnosis.causes if one.cause == "float64-on-mps"] == [confidence]


def test_a_bad_release_is_not_certainly_behind_another_complaint() -> None:
    got = answer("Chip: Apple M2\nOS: macOS\ntorch: 2.5.1\nIt stops with an error, see below.\nValueError: x")
    assert all(one.confidence != "certain" for one in got.diagnosis.causes)


@pytest.mark.parametrize(
    ("vision", "cause"),
    [
        ("0.19.0", "source-shadows-package"),
        ("0.18.1", "companion-version-mismatch"),
        (None, "companion-version-mismatch"),
    ],
)
def test_a_torchvision_that_belongs_is_not_the_wrong_version(vision: str | None, cause: str) -> None:
    listed = f"[pip3] torchvision=={vision}\n" if vision else ""
    told = f"[pip3] torch==2.4.0\n{listed}OS: macOS 14.6 (arm64)\n"
    got = answer(f"{told}RuntimeError: operator torchvision::nms does not exist")
    assert got.cause == cause
    assert got.diagnosis.causes[0].remedy


@pytest.mark.parametrize("between", [" ", "\n"])
def test_a_compiler_that_asks_for_cuda_is_the_compilers(between: str) -> None:
    got = answer(
        "M2, macOS 15.1, torch 2.1.0\ntorch._dynamo.exc.BackendCompilerFailed: backend='inductor' raised:"
        f"{between}AssertionError: Torch not compiled with CUDA enabled"
    )
    assert got.cause == "torch-compile-unsupported"
    assert answer("M2, macOS 15.1\nAssertionError: Torch not compiled with CUDA enabled").cause == "cuda-call-on-mac"
