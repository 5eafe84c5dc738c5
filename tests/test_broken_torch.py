"""A doctor survives its patient: each broken torch ends in a full report, in time, with nothing left behind."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.broken_torch import FAULTS, NOISE, SOUND, make_environment
from tests.conftest import RECORDINGS, Ran

LIMIT = 5.0
KNOWN_CAUSES = {
    "openmp-abort": "duplicate-openmp",
    "wrong-architecture": "arch-mismatch-binaries",
    "missing-symbol": "macos-too-old-for-torch",
    "missing-libomp": "missing-libomp",
}
ENVIRONMENT = {"MPSDOCTOR_HOST_RECORDING": str(RECORDINGS / "03-m4max-macos26")}


def processes_of(folder: Path, patience: float = 3.0) -> list[str]:
    """Return the command lines of processes of this folder that still live after `patience` seconds.

    A process that was sent SIGKILL may need a moment to go on a busy machine.
    """
    deadline = time.monotonic() + patience
    while (found := _living(folder)) and time.monotonic() < deadline:
        time.sleep(0.05)
    return found


def _living(folder: Path) -> list[str]:
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            command = (entry / "cmdline").read_bytes().decode("utf-8", "replace")
            state = (entry / "stat").read_text().rsplit(")", 1)[1].split()[0]
        except OSError:
            continue
        if str(folder) in command and state != "Z" and int(entry.name) != os.getpid():
            found.append(command)
    return found


def check(mpsdoctor: Callable[..., Ran], folder: Path, torch: str) -> tuple[Ran, float]:
    python = make_environment(folder, torch)
    started = time.monotonic()
    arguments = ["check", "--python", str(python), "--format", "json", "--timeout", str(LIMIT)]
    ran = mpsdoctor(*arguments, env=ENVIRONMENT)
    return ran, time.monotonic() - started


@pytest.mark.parametrize("fault", sorted(FAULTS))
def test_a_torch_that_cannot_be_imported_ends_in_a_full_report(
    fault: str, tmp_path: Path, mpsdoctor: Callable[..., Ran]
) -> None:
    ran, seconds = check(mpsdoctor, tmp_path / "env", FAULTS[fault])
    report = ran.json
    assert ran.code == 1
    assert seconds < LIMIT + 2
    assert processes_of(tmp_path / "env") == []
    causes = [item["cause"] for item in report["diagnosis"]["causes"]]
    assert causes[0] == KNOWN_CAUSES.get(fault, "torch-import-fails")
    assert report["diagnosis"]["verdict"] == "broken"
    assert report["facts"]["torch"]["imported"] is False
    assert len(report["checks"]) > 15  # the report is whole


@pytest.mark.parametrize("noise", sorted(NOISE))
def test_noise_of_a_torch_that_works_does_not_hide_its_answers(
    noise: str, tmp_path: Path, mpsdoctor: Callable[..., Ran]
) -> None:
    ran, seconds = check(mpsdoctor, tmp_path / "env", NOISE[noise] + SOUND)
    torch = ran.json["facts"]["torch"]
    assert seconds < LIMIT + 2
    assert processes_of(tmp_path / "env") == []
    assert (torch["imported"], torch["version"]) == (True, "2.13.0")


def test_the_text_report_shows_how_the_process_died(tmp_path: Path, mpsdoctor: Callable[..., Ran]) -> None:
    python = make_environment(tmp_path / "env", FAULTS["segfault"])
    ran = mpsdoctor("check", "--python", str(python), "--timeout", "5", env=ENVIRONMENT)
    assert "SIGSEGV" in ran.out
    assert "What to do" in ran.out


def test_our_own_interruption_ends_the_children(tmp_path: Path) -> None:
    import signal
    import subprocess
    import sys

    python = make_environment(tmp_path / "env", FAULTS["hang"])
    command = [sys.executable, "-m", "mpsdoctor", "check", "--python", str(python)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    deadline = time.monotonic() + 10
    while not any("torch_probe" in command for command in _living(tmp_path / "env")):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=10)
    assert process.returncode == 130
    assert b"Traceback" not in err
    assert processes_of(tmp_path / "env") == []


def test_a_limit_for_everything_that_ends_during_a_step_does_not_blame_the_step(tmp_path: Path) -> None:
    from mpsdoctor.probes.runner import LiveRunner
    from mpsdoctor.probes.torch import ask_torch

    slow = SOUND + (
        "import time, types\ntime.sleep(1)\n"
        "class _mps:\n"
        "    is_built = staticmethod(lambda: True)\n"
        "    is_available = staticmethod(lambda: True)\n"
        "backends.mps = _mps\n"
        "def ones(*a, **k): time.sleep(600)\n"
    )
    python = make_environment(tmp_path / "env", slow)
    found = ask_torch(LiveRunner(), str(python), timeout=3.0)
    assert (found.imported, found.available, found.allocation) == (True, True, None)
    assert found.end is not None
    assert (found.end.how, found.end.stage) == ("timeout", "allocate")
