"""Fixed is said only of what was seen: whatever was not observed proves nothing."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from mpsdoctor.facts import Facts
from mpsdoctor.facts.smoke import Smoke, SmokeStage
from mpsdoctor.facts.torch import Trial
from mpsdoctor.observe import observe
from mpsdoctor.probes.choice import Target
from mpsdoctor.probes.replay import ReplayRunner
from mpsdoctor.registry import load_registry
from mpsdoctor.repair.apply import Applier
from mpsdoctor.repair.plan import Plan, PlannedFix, Step
from mpsdoctor.repair.proof import Examination, claims_gpu, doubts, proof_words
from mpsdoctor.repair.store import REMAINS, Store
from mpsdoctor.report.model import Report, make_report
from mpsdoctor.report.source import Source
from tests.conftest import RECORDINGS
from tests.repair.conftest import Patient
from tests.repair.wheels import Index

MACOS_13 = RECORDINGS / "04-m1-macos13-old"


def recorded(name: str = "01-m1-air-8gb-macos14-uv") -> Facts:
    return observe(ReplayRunner(RECORDINGS / name), Target("python", "the recording"))[0]


def report(facts: Facts, *problems: str) -> Report:
    return make_report(facts, Source("live", "x"), load_registry(), problems=problems)


def trained(outcome: str) -> Smoke:
    stages = (SmokeStage(stage="allocate", outcome="pass"), SmokeStage(stage="train", outcome=outcome))
    return Smoke(device="mps", outcome="pass" if outcome == "pass" else "fail", stages=stages)


SOUND = replace(recorded(), smoke=trained("pass"))


def test_a_sound_mac_that_trained_is_proved() -> None:
    assert claims_gpu(SOUND)
    assert doubts(report(SOUND), report(SOUND), torch=True) == ()


@pytest.mark.parametrize(
    ("after", "why"),
    [
        (Facts(), "the interpreter does not answer"),
        (replace(SOUND, torch=replace(SOUND.torch, imported=False)), "torch cannot be imported"),
        (replace(SOUND, torch=replace(SOUND.torch, imported=None)), "is not known"),
        (replace(SOUND, smoke=trained("fail")), "the GPU did not train"),
        (replace(SOUND, smoke=Smoke(device="mps", outcome="unknown")), "the GPU did not train"),
        (replace(SOUND, smoke=Smoke(device="cpu", outcome="pass")), "the GPU did not train"),
        (replace(SOUND, smoke=Smoke()), "the GPU was not tried"),
        (
            replace(SOUND, smoke=Smoke(), torch=replace(SOUND.torch, allocation=Trial(name="a", outcome="fail"))),
            "torch does not find the GPU",
        ),
        (replace(SOUND, torch=replace(SOUND.torch, available=False)), "new: "),
    ],
)
def test_what_is_not_seen_is_not_fixed(after: Facts, why: str) -> None:
    found = doubts(report(SOUND), report(after), torch=True)
    assert any(why in line for line in found), found


def test_a_new_problem_of_the_observation_is_a_doubt_and_an_old_one_is_none() -> None:
    before, after = report(SOUND, "lsof did not answer"), report(SOUND, "lsof did not answer", "torch was cut off")
    assert doubts(before, after, torch=True) == ("torch was cut off",)


def test_where_a_machine_stands_in_only_the_gpu_is_left_out() -> None:
    after = report(replace(SOUND, smoke=Smoke()))
    assert doubts(report(SOUND), after, torch=True, stands_in=True) == ()
    broken = report(replace(SOUND, torch=replace(SOUND.torch, imported=False)))
    assert doubts(report(SOUND), broken, torch=True, stands_in=True) != ()
    assert "not proved on this machine" in proof_words(after.facts, stands_in=True)


def test_no_gpu_is_asked_of_an_intel_mac() -> None:
    intel = replace(SOUND, host=replace(SOUND.host, arm64_capable=False))
    assert not claims_gpu(intel)


@pytest.mark.parametrize("python", ["/gone/bin/python", "plain file"])
def test_an_interpreter_that_is_gone_is_no_success(python: str, tmp_path: Path) -> None:
    if python == "plain file":
        (tmp_path / "bin").mkdir()
        (tmp_path / "bin" / "python").write_text("#!/bin/sh\nexit 3\n")
        (tmp_path / "bin" / "python").chmod(0o755)
        python = str(tmp_path / "bin" / "python")
    step = Step("touch", ("/usr/bin/touch", str(tmp_path / "made")), writes=(str(tmp_path / "made"),))
    plan = Plan(python, (PlannedFix("torch-anew", "torch-import-fails", "", (step,)),))
    applied = Applier(plan, report(Facts()), Examination(os.environ), Store(tmp_path / "state")).apply()
    assert applied.outcome == REMAINS
    assert "the interpreter does not answer" in applied.why
    assert applied.proof.startswith("none")


def test_a_live_interpreter_without_the_torch_that_was_meant(tmp_path: Path) -> None:
    from tests.repair.wheels import run

    run(sys.executable, "-m", "venv", "--without-pip", str(tmp_path / "env"), env={})
    step = Step("install", ("/bin/true", "install", "torch==2.8.0"), writes=(str(tmp_path / "env"),))
    plan = Plan(str(tmp_path / "env" / "bin" / "python"), (PlannedFix("torch", "torch-too-old", "", (step,)),))
    applied = Applier(plan, report(Facts()), Examination(os.environ), Store(tmp_path / "state")).apply()
    assert applied.outcome == REMAINS
    assert "import" in applied.why


def test_a_wheel_that_cannot_be_imported_is_told_and_can_be_taken_back(
    patient: Callable[..., Patient], index: Index
) -> None:
    mac = patient("torch==2.13.0", manager="uv", mac=MACOS_13)
    index.add("torch", "2.8.0", files={"torch/__init__.py": "raise ImportError('cut off')\n"})
    fixed = mac.fix("--yes", "--format", "json")
    assert fixed.code == 4, fixed.out + fixed.err
    applied = fixed.json["applied"]
    assert applied["outcome"] == "remains"
    assert "torch cannot be imported" in applied["why"]
    assert mac.undo().code == 0
