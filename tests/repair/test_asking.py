"""Asked at a terminal: a no changes nothing, a yes does it, and an interrupted run is spoken of first."""

from __future__ import annotations

import os
import pty
import signal
import subprocess
import sys
from collections.abc import Callable

import pytest

from tests.repair.conftest import Patient
from tests.repair.test_faults import killed_after, mismatched
from tests.repair.wheels import fingerprint
from tests.terminal import all_of

Make = Callable[..., Patient]


def at_a_terminal(mac: Patient, *arguments: str, answer: str) -> tuple[int, str]:
    """Run mpsdoctor on a terminal, where somebody types this answer; return the exit status and all that was shown."""
    ours, theirs = pty.openpty()
    os.write(ours, answer.encode())
    process = subprocess.Popen(
        [sys.executable, "-m", "mpsdoctor", *arguments],
        cwd=mac.project, env={**os.environ, **mac.env, "TERM": "dumb"}, stdin=theirs, stdout=theirs, stderr=theirs,
    )  # fmt: skip
    os.close(theirs)
    said = all_of(ours)
    return process.wait(timeout=60), " ".join(said.decode().split())


@pytest.mark.parametrize("answer", ["n\n", "\n"])
def test_no_is_no(answer: str, patient: Make) -> None:
    mac = mismatched(patient)
    before = fingerprint(mac.project)
    code, said = at_a_terminal(mac, "fix", "--python", str(mac.python), answer=answer)
    assert code == 1, said
    assert "Go ahead?" in said
    assert "nothing was changed" in said
    assert "uv pip install" in said
    assert fingerprint(mac.project) == before
    assert "there is nothing to take back" in at_a_terminal(mac, "undo", answer=answer)[1]


def test_yes_is_yes_and_undo_asks_too(patient: Make) -> None:
    mac = mismatched(patient)
    before = fingerprint(mac.project)
    code, said = at_a_terminal(mac, "fix", "--python", str(mac.python), answer="y\n")
    assert code == 0, said
    assert "Fixed: the cause is gone." in said
    after = fingerprint(mac.project)
    assert at_a_terminal(mac, "undo", answer="n\n")[0] == 1
    assert fingerprint(mac.project) == after != before
    assert at_a_terminal(mac, "undo", answer="y\n")[0] == 0
    assert fingerprint(mac.project) == before


def test_an_interrupted_run_is_asked_for_before_a_new_plan(patient: Make) -> None:
    mac = mismatched(patient)
    before = fingerprint(mac.project)
    assert killed_after(mac, 4, "fix", "--python", str(mac.python), "--yes") == -signal.SIGKILL
    left = fingerprint(mac.project)
    code, said = at_a_terminal(mac, "fix", "--python", str(mac.python), answer="n\n")
    assert code == 1, said
    assert "Take it back first, and plan the repair anew?" in said
    assert "Plan for" not in said
    assert fingerprint(mac.project) == left != before
    code, said = at_a_terminal(mac, "fix", "--python", str(mac.python), answer="y\nn\n")
    assert code == 1, said
    assert said.index("taking it back") < said.index("Plan for") < said.index("Go ahead?")
    assert fingerprint(mac.project) == before
