"""Children: time limits, floods, signals, streams that grandchildren hold open. Real processes, no mock."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from mpsdoctor.probes import process
from mpsdoctor.probes.process import run_child
from mpsdoctor.probes.stream import CAPTURE_LIMIT


def python(code: str, **options: object) -> tuple[object, float]:
    started = time.monotonic()
    done = run_child([sys.executable, "-c", code], **{"timeout": 10.0, **options})  # type: ignore[arg-type]
    return done, time.monotonic() - started


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    status = Path(f"/proc/{pid}/stat")
    return not status.exists() or status.read_text().rsplit(")", 1)[1].split()[0] != "Z"


def gone(pid: int) -> bool:
    return any(not alive(pid) or time.sleep(0.05) for _ in range(40))  # type: ignore[func-returns-value]


def test_streams_stay_apart_and_stdin_is_closed() -> None:
    done, _ = python("import sys; print(sys.stdin.read() == ''); print('e', file=sys.stderr)")
    assert (done.text, done.error_text, done.ok) == ("True\n", "e\n", True)


@pytest.mark.parametrize(
    ("code", "how", "detail"),
    [
        ("raise SystemExit(3)", "exit", 3),
        ("import os; os._exit(0)", "exit", 0),
        ("import os; os.abort()", "signal", "SIGABRT"),
        ("import os, signal; os.kill(os.getpid(), signal.SIGSEGV)", "signal", "SIGSEGV"),
        ("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", "signal", "SIGKILL"),
    ],
)
def test_the_end_is_told(code: str, how: str, detail: object) -> None:
    done, _ = python(code)
    assert done.end.how == how
    assert detail in (done.end.code, done.end.signal)


@pytest.mark.parametrize(
    "code",
    [
        "import time; time.sleep(60)",
        "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(60)",
        "while True: pass",
        "import os, time; os.close(1); os.close(2); time.sleep(60)",
        "while True: print('x' * 1000)",
    ],
)
def test_a_child_that_does_not_end_is_ended_in_time(code: str) -> None:
    done, seconds = python(code, timeout=1.0)
    assert done.end.how == "timeout"
    assert seconds < 3.0


@pytest.mark.parametrize("ending", ["time.sleep(0.1)", "os._exit(0)", "os.abort()"])
def test_a_grandchild_that_holds_the_pipe_open_is_ended_too(ending: str, tmp_path: Path) -> None:
    note = tmp_path / "pid"
    code = f"""
import os, time
if os.fork() == 0:
    open({str(note)!r}, "w").write(str(os.getpid()))
    time.sleep(60)
time.sleep(0.3)
{ending}
"""
    done, seconds = python(code)
    assert seconds < 3.0
    assert done.end.left_processes is True
    assert gone(int(note.read_text()))


def test_a_flood_is_counted_and_cut() -> None:
    done, _ = python("import os\nfor _ in range(1600): os.write(1, b'x' * 65536)", timeout=60.0)
    assert done.end.output_bytes == 1600 * 65536
    assert len(done.stdout) == CAPTURE_LIMIT
    assert done.ok


def test_of_a_flood_begin_and_end_are_kept() -> None:
    flood = "[os.write({0}, b'x' * 65536) for _ in range(200)]"
    code = f"import os\nos.write(1, b'first'); {flood.format(1)}; os.write(1, b'last')"
    code += f"; {flood.format(2)}; os.write(2, b'error')"
    done, _ = python(code, timeout=60.0)
    assert done.stdout[:5] + done.stdout[-4:] == b"firstlast"
    assert done.end.stderr_tail is not None
    assert done.end.stderr_tail.endswith("error")


def test_a_flood_of_lines_still_lets_ours_through() -> None:
    seen: list[bytes] = []
    code = "import os\nfor _ in range(200): os.write(1, b'x' * 65536)\nos.write(1, b'\\nours\\n')"
    python(code, timeout=60.0, on_line=lambda line: seen.append(line) if line == b"ours" else None)
    assert seen == [b"ours"]


def test_a_stage_has_its_own_limit() -> None:
    code = "import time; print('stage', flush=True); time.sleep(60)"
    done, seconds = python(code, timeout=30.0, on_line=lambda line: 0.5 if line == b"stage" else None)
    assert done.end.how == "timeout"
    assert seconds < 3.0


def test_a_child_that_is_being_started_while_all_are_ended_is_ended_too(monkeypatch: pytest.MonkeyPatch) -> None:
    class Slow(subprocess.Popen[bytes]):
        def __init__(self, *arguments: object, **options: object) -> None:
            super().__init__(*arguments, **options)  # type: ignore[call-overload]
            process.end_all_children()  # the interruption comes before the child is known

    monkeypatch.setattr(process.subprocess, "Popen", Slow)
    done, seconds = python("import time; time.sleep(60)", timeout=20.0)
    assert (done.end.signal, seconds < 5) == ("SIGKILL", True)
    monkeypatch.undo()
    done, _ = python("print('later ones run')")
    assert done.ok


def test_an_interruption_while_a_child_is_being_started_does_not_lose_it(monkeypatch: pytest.MonkeyPatch) -> None:
    pids: list[int] = []

    class Interrupted(subprocess.Popen[bytes]):
        def __init__(self, *arguments: object, **options: object) -> None:
            super().__init__(*arguments, **options)  # type: ignore[call-overload]
            pids.append(self.pid)
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(0.3)

    monkeypatch.setattr(process.subprocess, "Popen", Interrupted)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs ignore it
    try:
        with pytest.raises(KeyboardInterrupt):
            python("import time; time.sleep(60)", timeout=20.0)
    finally:
        signal.signal(signal.SIGINT, before)
    assert gone(pids[0])


@pytest.mark.parametrize("argv", [["/no/such/program"], ["/"], ["bad\0name"], [""]])
def test_what_cannot_start_is_a_fact(argv: list[str]) -> None:
    done = run_child(argv, timeout=1.0)
    assert done.end.how == "not-started"
    assert done.end.error


def test_a_text_file_with_the_run_bit_does_not_start(tmp_path: Path) -> None:
    script = tmp_path / "script"
    script.write_text("just text\n")
    script.chmod(0o755)
    assert run_child([str(script)], timeout=1.0).end.error == "Exec format error"


def test_bytes_that_are_no_text_are_replaced() -> None:
    done, _ = python("import os; os.write(1, b'\\xff\\xfe ok')")
    assert done.text.endswith(" ok")
