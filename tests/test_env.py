"""`check --env` on real macOS wheels, on any machine: nothing is run, everything is read from the files."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import Ran
from tests.conftest_wheels import MacWheels, mac_wheels

__all__ = ["mac_wheels"]
# Only what the tests look at is unpacked of the wheels, so that RECORD rightly says that files are missing.
PARTLY = ("--ignore", "PK104=the wheels are unpacked in part")


def check(mpsdoctor: Callable[..., Ran], folder: Path) -> Ran:
    return mpsdoctor("check", "--env", str(folder), "--format", "json", *PARTLY)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("torch", "numpy", "version", "architecture", "openmp"),
    [
        ("torch-2.14.1", "numpy-2.3.5", "2.14.1", "arm64", "torch/lib/libomp.dylib"),
        ("torch-2.9.1", "numpy-2.3.5", "2.9.1", "arm64", "torch/lib/libomp.dylib"),
        ("torch-2.2.2-x86_64", "numpy-1.26.4-x86_64", "2.2.2", "x86_64", "torch/lib/libiomp5.dylib"),
    ],
)
def test_a_sound_environment_is_read_and_nothing_is_claimed(
    torch: str, numpy: str, version: str, architecture: str, openmp: str,
    tmp_path: Path, mac_wheels: MacWheels, mpsdoctor: Callable[..., Ran],
) -> None:  # fmt: skip
    ran = check(mpsdoctor, mac_wheels.site_packages(tmp_path / "site-packages", [torch, numpy]))
    facts, diagnosis = ran.json["facts"], ran.json["diagnosis"]
    assert (facts["torch"]["version"], facts["torch"]["built"]) == (version, True)
    core = next(f for f in facts["binaries"]["files"] if f["path"].endswith("libtorch_cpu.dylib"))
    assert core["architectures"] == [architecture]
    assert any(f["path"].endswith(openmp) for f in facts["binaries"]["files"])
    assert (diagnosis["verdict"], diagnosis["mps_usable"], diagnosis["causes"]) == ("undecided", None, [])
    assert ran.code == 3


@pytest.mark.slow
def test_an_arm64_torch_beside_an_x86_64_numpy_is_found(
    tmp_path: Path, mac_wheels: MacWheels, mpsdoctor: Callable[..., Ran]
) -> None:
    ran = check(mpsdoctor, mac_wheels.site_packages(tmp_path / "site-packages", ["torch-2.14.1", "numpy-2.3.5-x86_64"]))
    cause = ran.json["diagnosis"]["causes"][0]
    assert cause["cause"] == "arch-mismatch-binaries"
    assert "numpy" in cause["summary"]
    assert ran.code == 1


@pytest.mark.slow
def test_a_torchvision_of_another_torch_is_found(
    tmp_path: Path, mac_wheels: MacWheels, mpsdoctor: Callable[..., Ran]
) -> None:
    ran = check(mpsdoctor, mac_wheels.site_packages(tmp_path / "site-packages", ["torch-2.9.1", "torchvision-0.29.1"]))
    cause = ran.json["diagnosis"]["causes"][0]
    assert cause["cause"] == "companion-version-mismatch"
    assert "torchvision==0.24.1" in cause["remedy"]


def test_a_folder_that_is_no_environment_is_said_so(tmp_path: Path, mpsdoctor: Callable[..., Ran]) -> None:
    for path in (tmp_path, tmp_path / "missing", Path("/dev/null"), Path(__file__)):
        ran = mpsdoctor("check", "--env", str(path))
        assert ran.code == 2
        assert len(ran.err.strip().splitlines()) <= 4
