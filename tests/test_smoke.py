"""The parent of training_smoke: a real run on the CPU, and torches that die, hang or vanish under it."""

from __future__ import annotations

import json
import sys
import time
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from pathlib import Path

import pytest

from mpsdoctor.facts import Smoke, Speed, SpeedCase, decode
from mpsdoctor.facts.smoke import SmokeStage
from mpsdoctor.probes.runner import LiveRunner
from mpsdoctor.report.smoke_svg import speed_svg
from mpsdoctor.report.smoke_text import format_smoke
from mpsdoctor.smoke import SmokeRequest, parse_event, run_smoke
from tests.broken_torch import FAULTS, make_environment
from tests.conftest import Ran
from tests.test_broken_torch import processes_of


def text_of(smoke: Smoke, width: int = 80) -> str:
    return "\n".join(line.plain for line in format_smoke(smoke, width))


@pytest.fixture(scope="module")
def cpu_run(tmp_path_factory: pytest.TempPathFactory) -> tuple[Smoke, list[dict[str, object]], float]:
    """One real quick run on the CPU: the result, its events, and the seconds it took."""
    events: list[dict[str, object]] = []
    started = time.monotonic()
    request = SmokeRequest(device="cpu", quick=True)
    result = run_smoke(LiveRunner(), sys.executable, request, lambda event: events.append(dict(event)))
    return result, events, time.monotonic() - started


@pytest.mark.slow
def test_a_real_run_on_the_cpu_passes_every_stage(cpu_run: tuple[Smoke, list[dict[str, object]], float]) -> None:
    result, events, _ = cpu_run
    assert result.outcome == "pass", text_of(result)
    outcomes = {stage.stage: stage.outcome for stage in result.stages or ()}
    assert outcomes == {"allocate": "pass", "numerics": "pass", "train": "pass", "fallback": "pass", "speed": "skip"}
    assert [e["stage"] for e in events if e["event"] == "stage" and e["state"] == "begun"] == list(outcomes)
    assert result.usable is None  # the CPU says nothing of Apple's GPU


@pytest.mark.slow
def test_nothing_of_the_run_is_lost_in_the_facts(cpu_run: tuple[Smoke, list[dict[str, object]], float]) -> None:
    result, events, _ = cpu_run
    told = {k: v for k, v in events[-1].items() if k not in ("event", "t")}
    from mpsdoctor.facts import encode

    def without_nothing(value: object) -> object:
        if isinstance(value, dict):
            return {k: without_nothing(v) for k, v in value.items() if v is not None}
        return [without_nothing(v) for v in value] if isinstance(value, list) else value

    written = without_nothing(encode(result))
    assert isinstance(written, dict)
    written.pop("from")
    assert written == without_nothing(told)


@pytest.mark.slow
def test_the_text_has_a_line_a_stage_and_a_sentence(cpu_run: tuple[Smoke, list[dict[str, object]], float]) -> None:
    lines = text_of(cpu_run[0]).splitlines()
    assert all(len(line) <= 80 for line in lines)
    assert lines[0].split()[:2] == ["allocate", "✓"]
    assert lines[-1] == "✓ This CPU trains in float16."


@pytest.mark.parametrize(
    ("fault", "words"), [("segfault", "SIGSEGV"), ("wrong-architecture", "incompatible"), ("exit", "7")]
)
def test_a_torch_that_dies_is_told_with_its_stage(fault: str, words: str, tmp_path: Path) -> None:
    python = make_environment(tmp_path / "env", FAULTS[fault])
    result = run_smoke(LiveRunner(), str(python), SmokeRequest(device="cpu", quick=True))
    assert result.outcome == "fail"
    stage = result.stage("allocate")
    assert stage is not None
    assert stage.outcome in ("crash", "fail")
    assert words in (stage.detail or ""), stage
    assert processes_of(tmp_path / "env") == []


def test_a_hang_without_any_sign_of_life_is_ended_and_named(tmp_path: Path) -> None:
    python = make_environment(tmp_path / "env", FAULTS["hang-ignoring-signals"])
    started = time.monotonic()
    result = run_smoke(LiveRunner(), str(python), SmokeRequest(device="cpu", stall=2.0))
    assert time.monotonic() - started < 8
    assert [(stage.stage, stage.outcome) for stage in result.stages or ()] == [("allocate", "stalled")]
    assert "2 s" in text_of(result)
    assert processes_of(tmp_path / "env") == []


def test_being_killed_from_outside_is_taken_for_want_of_memory(tmp_path: Path) -> None:
    kill_parent = "import os, signal, time; os.kill(os.getppid(), signal.SIGKILL); time.sleep(600)"
    python = make_environment(tmp_path / "env", kill_parent)
    result = run_smoke(LiveRunner(), str(python), SmokeRequest(device="cpu"))
    assert [(s.stage, s.outcome, s.cause) for s in result.stages or ()] == [("allocate", "crash", "mps-out-of-memory")]
    assert processes_of(tmp_path / "env") == []


def test_what_had_ended_is_kept_when_the_program_dies_later(tmp_path: Path) -> None:
    program = tmp_path / "python"
    ended = {
        "event": "stage",
        "stage": "train",
        "state": "ended",
        "outcome": "fail",
        "cause": None,
        "detail": "loss",
        "t": 1,
    }
    begun = {"event": "stage", "stage": "speed", "state": "begun", "t": 2}
    program.write_text(f"#!/bin/sh\necho '{json.dumps(ended)}'\necho '{json.dumps(begun)}'\nkill -ABRT $$\n")
    program.chmod(0o755)
    result = run_smoke(LiveRunner(), str(program), SmokeRequest(device="mps"))
    assert [(s.stage, s.outcome) for s in result.stages or ()] == [("train", "fail"), ("speed", "crash")]
    assert result.usable is False


@pytest.mark.parametrize("program", ["/bin/true", "/bin/ls"])
def test_what_is_no_python_proves_nothing(program: str) -> None:
    result = run_smoke(LiveRunner(), program, SmokeRequest(device="cpu"))
    assert result.outcome == "unknown"
    assert "? Nothing was proved" in text_of(result)


def test_a_device_that_is_not_there_is_a_clear_answer(mpsdoctor: Callable[..., Ran]) -> None:
    ran = mpsdoctor("smoke", "--python", sys.executable, "--quick")
    assert ran.code == 3
    assert "no mps device" in ran.out
    assert ran.err == ""


def test_the_json_of_the_command(mpsdoctor: Callable[..., Ran]) -> None:
    ran = mpsdoctor("smoke", "--python", sys.executable, "--device", "cuda", "--format", "json")
    assert ran.json["schema"] == "mpsdoctor.smoke/1"
    assert ran.json["smoke"]["device"] == "cuda"
    assert decode(Smoke, ran.json["smoke"]).outcome == "unknown"


@pytest.mark.parametrize("line", [b"", b"noise", b"{", b'{"a": 1}', b"[1]", b'{"event": 3}', b"\xff{", b"{" * 10000])
def test_noise_is_no_event(line: bytes) -> None:
    assert parse_event(line) is None


SWEEP = Smoke(
    device="mps",
    dtype="float16",
    torch="2.14.1",
    outcome="pass",
    stages=(SmokeStage(stage="speed", outcome="pass", detail="faster from medium on"),),
    speed=Speed(
        cases=(
            SpeedCase(name="cnn <small>", batch=8, ratio=0.6, cpu_ms=1.0, device_ms=1.7),
            SpeedCase(name="cnn large", batch=64, ratio=7.9, cpu_ms=79.0, device_ms=10.0),
        ),
        fp16_gain=1.3,
    ),
)


def test_the_sweep_is_drawn_in_text_and_as_svg() -> None:
    text = text_of(SWEEP)
    assert "0.6x" in text
    assert "7.9x" in text
    assert text.splitlines()[-1] == "✓ This GPU trains in float16, 7.9 times as fast as the CPU."
    svg = speed_svg(SWEEP)
    assert svg is not None
    root = ElementTree.fromstring(svg)
    assert len([e for e in root.iter() if e.tag.endswith("rect")]) == 3
    assert "cnn <small>, batch 8" in [e.text for e in root.iter()]


def test_without_a_comparison_there_is_no_picture(tmp_path: Path, mpsdoctor: Callable[..., Ran]) -> None:
    assert speed_svg(Smoke()) is None
    ran = mpsdoctor("smoke", "--python", sys.executable, "--plot", str(tmp_path / "x.svg"))
    assert not (tmp_path / "x.svg").exists()
    assert "was not written" in ran.err


def test_a_smoke_run_on_the_gpu_decides_over_is_available() -> None:
    def usable(outcome: str, stage: str, stage_outcome: str) -> bool | None:
        stages = (SmokeStage(stage=stage, outcome=stage_outcome),)
        return Smoke(device="mps", outcome=outcome, stages=stages).usable

    assert usable("pass", "train", "pass") is True
    assert usable("fail", "train", "crash") is False
    assert usable("fail", "speed", "fail") is True
    assert usable("unknown", "allocate", "skip") is None


def test_the_report_carries_the_run_and_replays_it(mpsdoctor: Callable[..., Ran]) -> None:
    report = mpsdoctor(
        "check", "--replay", str(Path(__file__).parent / "recordings" / "03-m4max-macos26"), "--format", "json"
    ).json
    report["smoke"] = {
        "device": "mps",
        "outcome": "fail",
        "stages": [
            {"stage": "numerics", "outcome": "fail", "cause": None, "detail": "linear_3d is wrong", "operators": [1]}
        ],
    }
    again = mpsdoctor("check", "--from", "-", "--format", "json", stdin=json.dumps(report).encode()).json
    assert again["smoke"]["stages"][0]["operators"] == [1]
    assert again["diagnosis"]["mps_usable"] is False
    assert again["diagnosis"]["causes"][0]["cause"] == "known-bad-torch-release"
    assert again["diagnosis"]["causes"][0]["checks"] == ["TR102"]


class MacRunner:
    """A recorded Mac that also answers what it swaps."""

    live = False

    def __init__(self, swap: str) -> None:
        from mpsdoctor.probes.replay import ReplayRunner

        self._inner = ReplayRunner(Path(__file__).parent / "recordings" / "01-m1-air-8gb-macos14-uv")
        self.environ, self.system, self._swap = self._inner.environ, "Darwin", swap

    def run(self, argv: list[str], **options: object) -> object:
        from mpsdoctor.facts import ProcessEnd
        from mpsdoctor.probes.process import Completed

        if list(argv)[-1] == "vm.swapusage":
            return Completed(tuple(argv), ProcessEnd(how="exit", code=0), self._swap.encode())
        return self._inner.run(argv, **options)

    def read(self, path: str) -> str | None:
        return self._inner.read(path)


@pytest.mark.parametrize(
    ("swap", "swapping"),
    [
        ("total = 23552.00M  used = 22392.56M  free = 1159.44M  (encrypted)", True),
        ("total = 1024.00M  used = 210.25M  free = 813.75M  (encrypted)", False),
        ("total = 2,00M  used = 1,00M  free = 1,00M", False),
        ("sysctl: unknown oid", None),
    ],
)
def test_what_spoils_a_speed_check_is_told_to_it(swap: str, swapping: bool | None) -> None:
    from mpsdoctor.smoke import speed_context

    _, context = speed_context(MacRunner(swap))  # type: ignore[arg-type]
    assert context.get("swap") is swapping
    assert (context["low_power_mode"], context["battery"], context["thermal"]) == (False, False, False)
    assert context["virtual_machine"] is False


def test_the_context_uses_the_words_that_the_program_understands() -> None:
    source = (Path(__file__).parent.parent / "training_smoke" / "speed_verdict.py").read_text()
    from mpsdoctor.smoke import speed_context

    _, context = speed_context(MacRunner("total = 9.00M  used = 1.00M"))  # type: ignore[arg-type]
    for key in ("low_power_mode", "thermal", "battery", "swap"):
        assert key in context
        assert f'"{key}"' in source
