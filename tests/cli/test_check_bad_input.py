"""Bad input and bad surroundings: one clear line, an exit status that means what it says, never a traceback or hang."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from mpsdoctor.cli import _run
from tests.broken_torch import make_environment
from tests.conftest import RECORDINGS, Ran
from tests.test_broken_torch import processes_of

HEALTHY = str(RECORDINGS / "03-m4max-macos26")
BROKEN = str(RECORDINGS / "05-m1pro-anaconda-x86_64-rosetta")
ODD_NAMES = ['jürgen\'s "own" $HOME', "-dash", "new\nline\x1b[31mred\x1b[0m\x1b]0;title\x07\u202egnp"]


def assert_one_clear_line(ran: Ran) -> None:
    assert (ran.code, ran.out) == (2, ""), ran.err
    assert ran.err.startswith("Error: ")
    assert ran.err.count("\n") == 1
    assert ran.err.rstrip("\n").isprintable()
    assert len(ran.err) < 700


@pytest.fixture
def called(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., Ran]:
    """Run the command line within this process, in an empty folder: bad input is refused before anything starts."""

    def run(*arguments: str, cwd: Path = tmp_path) -> Ran:
        monkeypatch.chdir(cwd)
        code = _run(list(arguments))
        out, err = capsys.readouterr()
        assert "Traceback" not in out + err
        return Ran(code, out, err)

    return run


def make_bad(path: Path, kind: str) -> None:
    if kind == "folder":
        path.mkdir()
    elif kind == "pipe without a writer":
        os.mkfifo(path)
    elif kind == "sparse gigabyte":
        path.touch()
        os.truncate(path, 1 << 30)
    elif kind == "loop of links":
        path.symlink_to(path.name)
    elif kind == "link to nothing":
        path.symlink_to("nothing")
    elif kind == "noise":
        path.write_bytes(b"\x00\xff" + bytes(range(256)) * 50)
    elif kind == "device":
        path.symlink_to("/dev/zero")


KINDS = ["missing", "folder", "pipe without a writer", "sparse gigabyte", "loop of links", "noise", "device"]


@pytest.mark.parametrize("kind", [*KINDS, "link to nothing"])
@pytest.mark.parametrize("option", ["--from", "--replay", "--env"])
def test_a_path_that_holds_no_input(option: str, kind: str, tmp_path: Path, called: Callable[..., Ran]) -> None:
    make_bad(tmp_path / "thing", kind)
    assert_one_clear_line(called("check", option, "thing"))


@pytest.mark.parametrize("kind", KINDS)
def test_a_path_that_is_no_interpreter(kind: str, tmp_path: Path, mpsdoctor: Callable[..., Ran]) -> None:
    make_bad(tmp_path / "thing", kind)
    ran = mpsdoctor("check", "--no-import", "--python", "./thing", timeout=20)
    if kind == "loop of links":  # a dangling link is an environment whose base is gone: a finding
        assert ran.code in (0, 1, 3)
    else:
        assert_one_clear_line(ran)


@pytest.mark.parametrize("name", ODD_NAMES)
@pytest.mark.parametrize(
    "option", ["--from", "--replay", "--env", "--python", "--select", "--ignore", "-o", "--format"]
)
def test_odd_names_are_shown_without_what_they_do(option: str, name: str, called: Callable[..., Ran]) -> None:
    given = f"{name}/x" if option == "-o" else name
    arguments = ["check", "--replay", HEALTHY] if option not in ("--from", "--env", "--python") else ["check"]
    if option == "--replay":
        arguments = ["check"]
    glue = [f"{option}={given}"] if option.startswith("--") else [option + given]
    assert_one_clear_line(called(*arguments, *glue))


def test_no_escape_reaches_the_terminal_from_a_recording(tmp_path: Path, mpsdoctor: Callable[..., Ran]) -> None:
    name = ODD_NAMES[-1]
    folder = tmp_path / name
    folder.mkdir()
    for file in Path(BROKEN).iterdir():
        text = file.read_text().replace("/Users/user/opt", json.dumps(f"/Users/{name}")[1:-1])
        (folder / file.name).write_text(text.replace('"profile"', '"other"'))
    for options in ([], ["-v"], ["--format", "markdown"], ["--format", "github"]):
        ran = mpsdoctor("check", "--replay", str(folder), *options)
        assert ran.code == 1
        assert all(line.isprintable() for line in (ran.out + ran.err).split("\n")), options


@pytest.mark.parametrize(
    "arguments",
    [["--no-such-option"], ["--timeout", "x"], ["--timeout", "nan"], ["--timeout", "-1"], ["surplus"], ["--from"],
     ["--select", "no-such-check"], ["--ignore", "no-such-check"], ["--ignore", "=reason"], ["--fail-on", "x"],
     ["--env", ".", "--replay", "."], ["--expect", ""], ["--python", ""], ["--python", "~nobody-at-all/python"],
     ["--env", "~nobody-at-all/env"], ["--replay", "~nobody-at-all"], ["--from", "~nobody-at-all"],
     ["--from", "a" * 5000], ["--replay", "a" * 5000], ["--env", "a" * 5000], ["--python", "x/" + "a" * 5000]],
    ids=lambda arguments: " ".join(arguments)[:40],
)  # fmt: skip
def test_wrong_usage(arguments: list[str], called: Callable[..., Ran]) -> None:
    assert_one_clear_line(called("check", *arguments))


@pytest.mark.parametrize("arguments", [["no-such-command"], ["--no-such-option"], ["record"], ["record", "a" * 5000]])
def test_wrong_usage_of_the_program(arguments: list[str], called: Callable[..., Ran]) -> None:
    assert_one_clear_line(called(*arguments))


SETTINGS = [
    b"[tool.mpsdoctor", b"[tool]\nmpsdoctor = 3", b"\xff # mpsdoctor", b"[tool.mpsdoctor]\nselect = 'PY'",
    b"[tool.mpsdoctor]\nselect = ['nope']", b"[tool.mpsdoctor]\nignore = {PY101 = 3}",
    b"[tool.mpsdoctor]\nignore = [3]",
    b"[tool.mpsdoctor]\ningore = ['PY101']", b"[tool.mpsdoctor]\n'\\u001b[31m' = 1", b"\0 mpsdoctor",
    b"[tool.mpsdoctor]\nselect = ['\\u001b[31m']", b"# mpsdoctor\na = " + b"[" * 100_000,
]  # fmt: skip
NOT_OURS = [b"tool = 3", b"[tool.ruff", b"\xff\xfe", b"a = " + b"[" * 100_000, b"\0", b"[tool.ruff]\nselect = 'PY'"]


@pytest.mark.parametrize("content", SETTINGS, ids=lambda content: repr(content[:40]))
def test_odd_settings(content: bytes, tmp_path: Path, called: Callable[..., Ran]) -> None:
    (tmp_path / "pyproject.toml").write_bytes(content)
    (tmp_path / "deeper" / "still").mkdir(parents=True)
    assert_one_clear_line(called("check", "--replay", HEALTHY, cwd=tmp_path / "deeper" / "still"))


@pytest.mark.parametrize("content", NOT_OURS, ids=lambda content: repr(content[:40]))
def test_what_is_wrong_with_others_settings_is_not_our_affair(
    content: bytes, tmp_path: Path, called: Callable[..., Ran]
) -> None:
    (tmp_path / "pyproject.toml").write_bytes(content)
    ran = called("check", "--replay", HEALTHY, cwd=tmp_path)
    assert (ran.code, ran.err) == (0, "")


@pytest.mark.parametrize("kind", ["folder", "pipe without a writer", "sparse gigabyte", "loop of links", "device"])
def test_settings_that_are_no_file(kind: str, tmp_path: Path, called: Callable[..., Ran]) -> None:
    make_bad(tmp_path / "pyproject.toml", kind)
    ran = called("check", "--replay", HEALTHY)
    if kind == "sparse gigabyte":
        assert_one_clear_line(ran)
    else:
        assert (ran.code, ran.err) == (0, "")


def test_a_deleted_working_folder(tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    command = (
        f"cd '{gone}' && rmdir '{gone}' && exec '{sys.executable}' -P -m mpsdoctor check --no-import --format json"
    )
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(
    "arguments",
    [["check", "--python", "closed/python"], ["check", "--env", "closed/env"], ["check", "--env", "closed"],
     ["check", "--replay", "closed"], ["check", "--from", "closed/report.json"], ["check", "--from", "closed"],
     ["check", "--replay", HEALTHY, "-o", "closed/out"], ["record", "closed"], ["record", "closed/recording"]],
    ids=lambda arguments: " ".join(arguments[-2:]),
)  # fmt: skip
def test_a_folder_that_may_not_be_read(arguments: list[str], tmp_path: Path) -> None:
    (tmp_path / "closed").mkdir(mode=0)
    # Root may open everything, unless it gives up that right.
    give_up = ["setpriv", "--bounding-set=-dac_override,-dac_read_search"] if os.geteuid() == 0 else []
    command = [*give_up, sys.executable, "-m", "mpsdoctor", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=False, timeout=60)
    assert_one_clear_line(Ran(done.returncode, done.stdout, done.stderr))


def interrupted(python: Path, numbers: list[int]) -> tuple[int, bytes]:
    command = [sys.executable, "-m", "mpsdoctor", "check", "--python", str(python)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=python.parent) as process:
        deadline = time.monotonic() + 20
        while not any("torch_probe" in command for command in processes_of(python.parent.parent, patience=0)):
            assert time.monotonic() < deadline
            time.sleep(0.05)
        for number in numbers:
            process.send_signal(number)
        _, err = process.communicate(timeout=20)
    return process.returncode, err


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize("where", ["", "exec", "eval"])
def test_an_interruption_gives_its_own_status_wherever_it_comes(
    where: str, number: signal.Signals, tmp_path: Path
) -> None:
    """`python -m` ends by SIGINT, and not as we say, where one came in code made of text, as dataclasses are."""
    busy = f"[os.kill(os.getpid(), {int(number)}), [None for _ in range(10**9)]]"
    (tmp_path / "interrupted.py").write_text(f"""
import os
import mpsdoctor.start, mpsdoctor.cli.check as check, mpsdoctor.report.words  # no dataclass is made afterwards
def judged(options):
    {f"{where}({busy!r})" if where else busy}
check.judged = judged
mpsdoctor.start.main()
""")
    command = [sys.executable, "-m", "interrupted", "check"]
    done = subprocess.run(command, capture_output=True, check=False, timeout=60, cwd=tmp_path)
    assert (done.returncode, done.stderr.strip()) == (130, b"interrupted; nothing was changed")


AT_ODD_PLACES = {
    "where CPython swallows it, and again a second later": """
import weakref
class Thing: pass
thing = Thing()
watch = weakref.ref(thing, lambda _: [os.kill(os.getpid(), signal.SIGINT), [None for _ in range(10**6)]])
del thing
time.sleep(1.2)
os.kill(os.getpid(), signal.SIGINT)
""",
    "while a class is made": """
class Part:
    def __set_name__(self, owner, name):
        os.kill(os.getpid(), signal.SIGTERM)
        [None for _ in range(10**7)]
class Whole:
    part = Part()
""",
    "while a child is being started": """
import subprocess, threading
from mpsdoctor.probes import process
class Slow(subprocess.Popen):
    def __init__(self, *arguments, **options):
        super().__init__(*arguments, **options)
        time.sleep(1)  # it runs, and nobody knows it yet
process.subprocess.Popen = Slow
threading.Thread(target=process.run_child, args=(["sh", "-c", f"sleep 60; : {os.getcwd()}"],),
                 kwargs={"timeout": 90}).start()
time.sleep(0.4)
os.kill(os.getpid(), signal.SIGTERM)
""",
}  # fmt: skip


@pytest.mark.parametrize("place", sorted(AT_ODD_PLACES))
def test_an_interruption_at_an_odd_place_ends_everything(place: str, tmp_path: Path) -> None:
    code = "import os, signal, time\ndef judged(options):" + AT_ODD_PLACES[place].replace("\n", "\n    ")
    (tmp_path / "odd.py").write_text(f"""
{code}
    time.sleep(30)
import mpsdoctor.start, mpsdoctor.cli.check as check
check.judged = judged
mpsdoctor.start.main()
""")
    started = time.monotonic()
    command = [sys.executable, "-m", "odd", "check"]
    done = subprocess.run(command, capture_output=True, check=False, timeout=60, cwd=tmp_path)
    assert done.returncode == 130, done.stderr
    assert done.stderr.strip().endswith(b"interrupted; nothing was changed")
    assert time.monotonic() - started < 10
    assert processes_of(tmp_path) == []


@pytest.mark.parametrize(
    "numbers",
    [[signal.SIGINT], [signal.SIGTERM], [signal.SIGHUP], [signal.SIGINT] * 5, [signal.SIGTERM, signal.SIGINT]],
)
def test_an_interruption_ends_everything_and_says_one_line(numbers: list[int], tmp_path: Path) -> None:
    python = make_environment(tmp_path / "env", "import time; time.sleep(600)")
    code, err = interrupted(python, numbers)
    assert (code, err.strip()) == (130, b"interrupted; nothing was changed")
    assert processes_of(tmp_path / "env") == []
