"""The program as a process: its events, its exit codes, and what it does not let in or out."""

from __future__ import annotations

import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from mpsdoctor.training_smoke import events, fallback_judge, options

from tests.training_smoke.harness import PROGRAM, smoke

QUICK = ("--device", "cpu", "--quick")


@pytest.mark.slow
@pytest.mark.parametrize(("more", "limit"), [((), 120), (("--quick",), 45)], ids=["full", "quick"])
def test_the_whole_program_passes_on_the_cpu_in_time(more: tuple[str, ...], limit: int) -> None:
    # Processor time: the same as wall time for this program on an idle machine, and no matter of who else is busy.
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    run = smoke("--device", "cpu", *more)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert (run.code, run.result["outcome"]) == (0, "pass"), run.stderr
    assert after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime < limit
    outcomes = {stage["stage"]: stage["outcome"] for stage in run.result["stages"]}
    assert outcomes == {"allocate": "pass", "numerics": "pass", "train": "pass", "fallback": "pass", "speed": "skip"}
    assert "nothing to compare" in run.stage("speed")["detail"]
    assert all(case["ratio"] is None for case in run.result["speed"]["cases"])
    assert run.result["speed"]["fp16_gain"] > 0
    assert run.result["torch"].startswith("2.")


def test_the_events_of_a_run() -> None:
    run = smoke(*QUICK, "--only", "allocate,numerics", "--operators", "linear,topk", "--seed", "4")
    assert run.code == 0
    assert all(json.loads(line)["event"] for line in run.stdout.splitlines())  # nothing but events
    kinds = [event["event"] for event in run.events]
    assert set(kinds) == {"start", "stage", "step", "measure", "result"}
    assert (kinds[0], kinds[-1]) == ("start", "result")
    assert run.events[0]["seed"] == 4
    begun = [event for event in run.events if event["event"] == "stage" and event["state"] == "begun"]
    assert {event["stage"]: event["deadline_s"] for event in begun} == {"allocate": 120.0, "numerics": 300.0}
    assert [event["t"] for event in run.events] == sorted(event["t"] for event in run.events)
    assert list(run.result) == ["event", "t", "device", "dtype", "torch", "outcome", "stages", "speed"]
    for stage in run.result["stages"]:
        assert {"stage", "outcome", "cause", "detail", "seconds"} <= stage.keys()
    assert run.result["speed"] is None
    left_out = [stage["stage"] for stage in run.result["stages"] if stage.get("asked") is False]
    assert left_out == ["train", "fallback", "speed"]


@pytest.mark.parametrize(("device", "only"), [("mps", ()), ("cuda", ()), ("mps", ("--only", "numerics,train"))])
def test_a_device_that_is_not_there_is_a_result(device: str, only: tuple[str, ...]) -> None:
    if sys.platform == "darwin" and device == "mps":
        device = "cuda"
    run = smoke("--device", device, *only)
    assert (run.code, run.result["outcome"]) == (3, "unknown")
    first, *rest = [stage for stage in run.result["stages"] if stage.get("asked", True)]
    assert (first["outcome"], first["problems"][0]["check"]) == ("skip", "device-unavailable")
    assert first["cause"] == ("not-a-mac" if device == "mps" else None)
    assert all("not reached" in stage["detail"] for stage in rest)
    assert "Traceback" not in run.stderr


def test_prints_of_others_stay_out_of_stdout(tmp_path: Path) -> None:
    """A site customisation that prints, and writes to file descriptor 1 while torch is being imported."""
    (tmp_path / "sitecustomize.py").write_text(
        "import sys, os, threading\nprint('hello from sitecustomize')\n"
        "threading.Timer(0.5, lambda: os.write(1, b'raw noise\\n')).start()\n"
    )
    env = {"PYTHONPATH": str(tmp_path), "PYTHONUNBUFFERED": ""}
    run = smoke(*QUICK, "--only", "allocate", env=env)
    assert run.code == 0
    assert [line for line in run.stdout.splitlines() if not line.startswith("{")] == []
    assert "hello from sitecustomize" in run.stderr
    assert "raw noise" in run.stderr


def test_files_beside_the_user_do_not_shadow_and_ours_do_not_shadow_theirs(tmp_path: Path) -> None:
    for name in ("operators", "events", "torch", "main"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('the wrong file')\n")
    done = subprocess.run(
        [sys.executable, str(PROGRAM), *QUICK, "--only", "allocate"], cwd=tmp_path, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr


def test_a_copy_of_the_folder_alone_runs_and_leaves_no_file_behind(tmp_path: Path) -> None:
    copy = tmp_path / "elsewhere" / "training_smoke"
    shutil.copytree(PROGRAM, copy, ignore=shutil.ignore_patterns("__pycache__"))
    before = sorted(path.name for path in copy.iterdir())
    env = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    done = subprocess.run(
        [sys.executable, "-I", str(copy), *QUICK, "--only", "allocate"], capture_output=True, text=True, env=env
    )
    assert done.returncode == 0, done.stderr
    # Python itself caches the __main__ file of a folder that it runs, before any line of it; nothing else is written.
    written = [path for path in copy.rglob("*") if path.is_file() and path.relative_to(copy).as_posix() not in before]
    assert [path.name for path in written if not path.name.startswith("__main__")] == []


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_an_interrupted_run_still_ends_with_a_result(number: signal.Signals) -> None:
    process = subprocess.Popen(
        [sys.executable, str(PROGRAM), *QUICK, "--only", "train"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    assert process.stdout is not None
    with process.stdout:
        for line in process.stdout:
            if json.loads(line)["event"] == "step":
                process.send_signal(number)
                break
        rest = [json.loads(line) for line in process.stdout]
    assert process.wait(timeout=30) == 130
    assert rest[-1]["event"] == "result"
    assert rest[-1]["outcome"] == "unknown"


def test_a_reader_that_goes_away_ends_the_program_without_a_traceback() -> None:
    process = subprocess.Popen(
        [sys.executable, str(PROGRAM), *QUICK, "--only", "numerics"], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert process.stdout is not None
    process.stdout.readline()
    process.stdout.close()
    _, stderr = process.communicate(timeout=60)
    assert process.returncode == 3
    assert b"Traceback" not in stderr


def processes() -> list[list[str]]:
    """Process, parent and state of everything that runs."""
    done = subprocess.run(["ps", "-A", "-o", "pid=,ppid=,stat="], capture_output=True, text=True, check=True)
    return [line.split() for line in done.stdout.splitlines()]


def children_of(parent: int) -> set[str]:
    return {pid for pid, ppid, _ in processes() if ppid == str(parent)}


def alive() -> set[str]:
    return {pid for pid, _, state in processes() if not state.startswith("Z")}


def test_workers_leave_when_the_program_is_killed() -> None:
    process = subprocess.Popen(
        [sys.executable, str(PROGRAM), "--device", "cpu", "--only", "train"],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    assert process.stdout is not None
    with process.stdout:
        for line in process.stdout:
            if json.loads(line)["event"] == "step":
                break
        children = children_of(process.pid)
        process.kill()
        process.wait(timeout=10)
    assert children
    end = time.monotonic() + 10
    while time.monotonic() < end and children & alive():
        time.sleep(0.2)
    assert not children & alive()


def test_options_reach_the_workers_unchanged() -> None:
    given = options.parse(
        ["--device", "cpu", "--dtype", "bfloat16", "--quick", "--seed", "7", "--context", '{"battery": true}']
    )
    again = options.parse(given.worker_argv("train", ["linear", "topk"]))
    assert (again.device, again.dtype, again.quick, again.seed, again.context) == (
        "cpu",
        "bfloat16",
        True,
        7,
        {"battery": True},
    )
    assert (again.worker, again.operators) == ("train", ("linear", "topk"))
    assert options.parse(given.worker_argv("train")).operators is None


def test_stages_and_deadlines_are_chosen() -> None:
    assert options.parse(["--skip", "speed,train"]).stages == ("allocate", "numerics", "fallback")
    assert options.parse(["--only", "train,allocate", "--skip", "train"]).stages == ("allocate",)
    deadlines = options.parse(["--deadline", "train=9", "--deadline", "operator=2.5"]).deadlines
    assert (deadlines["train"], deadlines["operator"], deadlines["speed"]) == (9.0, 2.5, 150.0)


@pytest.mark.parametrize(
    "argv",
    [
        ["--device", "tpu"], ["--only", "dance"], ["--deadline", "train"], ["--deadline", "train=-1"],
        ["--context", "[1]"], ["--context", "{"], ["--dtype", "float64"],
    ],
)  # fmt: skip
def test_wrong_usage_is_exit_code_2(argv: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        options.parse(argv)
    assert ended.value.code == 2
    assert "usage" in capsys.readouterr().err


def test_events_are_strict_json(tmp_path: Path) -> None:
    path = tmp_path / "events"
    with path.open("wb") as stream:
        writer = events.EventWriter(stream.fileno())
        writer.emit("measure", loss=float("nan"), gain=float("inf"), shape=(1, 2), path=tmp_path, text="ü\n")
    [line] = path.read_text().splitlines()
    told = json.loads(line, parse_constant=lambda text: pytest.fail(text))
    assert (told["loss"], told["gain"], told["shape"], told["text"]) == (None, None, [1, 2], "ü\n")
    assert told["path"] == str(tmp_path)


def test_what_mps_logs_names_the_network_in_which_an_operator_fell_back() -> None:
    log = "CPU Fallback::aten::{}:MPS:Float[2] (id=1, run=1, CopyOverhead=8 bytes)\n"
    parts = [("cnn", ""), ("transformer", log.format("roll")), ("operators", log.format("linalg_svd"))]
    stderr = "noise\n" + "".join(f"{fallback_judge.PART}{part}\n{text}" for part, text in parts)
    bare = fallback_judge.outcome({"cnn": [], "transformer": []}, {}, "mps")
    assert bare["outcome"] == "pass"
    told = fallback_judge.with_logged(bare, stderr, None)
    assert told["outcome"] == "fail"
    assert told["in_training"] == {"cnn": [], "transformer": ["aten::roll"]}
    assert told["fallback_log"] == ["aten::linalg_svd"]
    assert (told["fallback_enabled"], told["hidden"]) == (False, False)
    assert fallback_judge.with_logged(bare, stderr, "false")["hidden"] is True  # anything but an exact 0 is on
    assert fallback_judge.with_logged(bare, stderr, "0")["hidden"] is False
