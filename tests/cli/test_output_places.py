"""Where the answer goes, and what happens where it cannot go there: files, full disks, closed and broken pipes."""

from __future__ import annotations

import json
import os
import re
import resource
import shlex
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import RECORDINGS, Ran
from tests.test_broken_torch import processes_of

HEALTHY, BROKEN = "03-m4max-macos26", "05-m1pro-anaconda-x86_64-rosetta"
PROGRAM = f"{shlex.quote(sys.executable)} -m mpsdoctor"
CHECK = f"{PROGRAM} check --replay {shlex.quote(str(RECORDINGS / BROKEN))}"


TIME = re.compile(r"20\d\d-\d\d-\d\dT[\d:+]+")


def shell(command: str, tmp_path: Path, **env: str) -> Ran:
    done = subprocess.run(
        ["bash", "-c", command], capture_output=True, cwd=tmp_path, env={**os.environ, **env}, timeout=60, check=False
    )
    out, err = done.stdout.decode("utf-8", "replace"), done.stderr.decode("utf-8", "replace")
    assert "Traceback" not in out + err
    assert "Exception ignored" not in err
    return Ran(done.returncode, out, err)


def check(mpsdoctor: Callable[..., Ran], *options: str) -> Ran:
    return mpsdoctor("check", "--replay", str(RECORDINGS / BROKEN), *options)


@pytest.mark.parametrize("format_", ["text", "json", "markdown"])
def test_a_file_gets_what_stdout_would_get(
    format_: str, tmp_path: Path, mpsdoctor: Callable[..., Ran], direct: dict[str, str]
) -> None:
    ran = check(mpsdoctor, "--format", format_, "-o", "answer")
    assert (ran.code, ran.out, ran.err) == (1, "", "")
    written = (tmp_path / "answer").read_text(encoding="utf-8")
    assert TIME.sub("", written) == TIME.sub("", direct[format_])
    assert os.listdir(tmp_path) == ["answer"]


def test_a_file_is_replaced_with_the_rights_of_a_new_one_and_a_link_is_kept(
    tmp_path: Path, mpsdoctor: Callable[..., Ran]
) -> None:
    (tmp_path / "real").write_text("x" * 100_000)
    (tmp_path / "link").symlink_to("real")
    before = os.umask(0o027)
    try:
        assert check(mpsdoctor, "-o", "link").code == 1
    finally:
        os.umask(before)
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_text(encoding="utf-8").startswith("Source")
    assert stat.S_IMODE((tmp_path / "real").stat().st_mode) == 0o640


@pytest.mark.parametrize(
    ("target", "says"),
    [("no/such/folder/x", "No such file"), (".", "Is a directory"), ("/proc/x", "No such file"),
     ("/proc/version", "No such file"), ("pipe", "nobody reads"), ("a" * 300, "too long")],
)  # fmt: skip
def test_a_place_that_takes_no_file_is_one_line_and_no_finding(
    target: str, says: str, tmp_path: Path, mpsdoctor: Callable[..., Ran]
) -> None:
    os.mkfifo(tmp_path / "pipe")
    ran = check(mpsdoctor, "-o", target)
    assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)
    assert says in ran.err
    assert os.listdir(tmp_path) == ["pipe"]


@pytest.mark.parametrize(
    ("command", "room"),
    [
        (("check", "--format", "json"), 4096),
        (("check",), 64),
        (("check", "--format", "markdown"), 64),
        (("report",), 4096),
    ],
)
def test_a_full_disk_leaves_the_old_file_as_it_was(command: tuple[str, ...], room: int, tmp_path: Path) -> None:
    (tmp_path / "answer").write_text("old")
    argv = [sys.executable, "-B", "-m", "mpsdoctor", *command, "--replay", str(RECORDINGS / BROKEN), "-o", "answer"]

    def small_files() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (room, room))

    done = subprocess.run(argv, capture_output=True, text=True, cwd=tmp_path, check=False, preexec_fn=small_files)
    assert (done.returncode, done.stdout, done.stderr) == (
        2,
        "",
        "Error: 'answer' could not be written: File too large\n",
    )
    assert (tmp_path / "answer").read_text() == "old"
    assert os.listdir(tmp_path) == ["answer"]


@pytest.fixture(scope="module")
def direct(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """What stdout gets, by format."""
    folder = tmp_path_factory.mktemp("direct")
    return {name: shell(f"{CHECK} --format {name}", folder).out for name in ("text", "json", "markdown")}


@pytest.mark.parametrize("place", ["/dev/stdout", "/dev/fd/1"])
def test_stdout_by_its_name_is_stdout(place: str, tmp_path: Path, direct: dict[str, str]) -> None:
    assert shell(f"{CHECK} -o {place} | cat", tmp_path).out == direct["text"]
    assert shell(f"{CHECK} -o {place} > answer; cat answer", tmp_path).out == direct["text"]
    assert Path("/dev/stdout").is_symlink()


FULL = "the answer could not be written: No space left on device"
PLACES = [
    ("{check} > /dev/full", 2, FULL),
    ("{check} --format json > /dev/full", 2, FULL),
    ("{program} --help > /dev/full", 2, FULL),
    ("{program} --version > /dev/full", 2, FULL),
    ("{program} list > /dev/full", 2, FULL),
    ("{check} >&-", 2, "stdout is closed"),
    ("{check} --format json >&-", 2, "stdout is closed"),
    ("{check} >&- 2>&- <&-", 2, ""),
    ("{check} -o answer >&- 2>&- <&-", 1, ""),
    ("{check} 2>&-", 1, ""),
    ("{check} 2> /dev/full", 1, ""),
    ("{program} check --from missing 2> /dev/full", 2, ""),
    ("{program} check --from - <&-", 2, "nothing on stdin"),
]
PLACES = [place for place in PLACES if "/dev/full" not in place[0] or Path("/dev/full").exists()]  # Linux has it


@pytest.mark.parametrize(("command", "code", "says"), PLACES, ids=[command for command, _, _ in PLACES])
def test_streams_that_take_nothing(command: str, code: int, says: str, tmp_path: Path) -> None:
    ran = shell(command.format(check=CHECK, program=PROGRAM), tmp_path)
    assert (ran.code, says in ran.err) == (code, True), ran.err
    assert ran.err.count("\n") <= 1


@pytest.mark.parametrize("reader", ["true", "head -1"])
@pytest.mark.parametrize(("options", "code"), [("", 1), ("--format json", 1), ("--format json --fail-on never", 0)])
def test_a_reader_that_leaves_early_changes_no_exit_status(
    options: str, code: int, reader: str, tmp_path: Path
) -> None:
    ran = shell(f"{CHECK} {options} | {reader} > /dev/null; echo ${{PIPESTATUS[0]}}", tmp_path)
    assert (ran.out, ran.err) == (f"{code}\n", "")


@pytest.mark.parametrize("command", ["--help", "list", "explain PY101"])
def test_the_other_commands_bear_a_reader_that_leaves_early(command: str, tmp_path: Path) -> None:
    ran = shell(f"{PROGRAM} {command} | true; echo ${{PIPESTATUS[0]}}", tmp_path)
    assert (ran.out, ran.err) == ("0\n", "")


@pytest.mark.parametrize(
    "env",
    [{"PYTHONIOENCODING": "ascii"}, {"PYTHONIOENCODING": "ascii:strict", "FORCE_COLOR": "1"}, {"LC_ALL": "C"},
     {"PYTHONIOENCODING": "latin-1"}, {"LC_ALL": "POSIX", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}],
    ids=str,
)  # fmt: skip
def test_a_stdout_without_our_signs_gets_plain_ones(
    env: dict[str, str], tmp_path: Path, direct: dict[str, str]
) -> None:
    text = shell(CHECK, tmp_path, **env).out
    assert "python" in text
    assert "?  PyTorch" not in text
    if "LC_ALL" not in env or "PYTHONUTF8" in env:
        assert "x This Python runs as x86_64" in text.replace("\x1b[1;31m", "")  # no question mark, which means unknown
    ran = shell(f"{CHECK} --format json", tmp_path, **env)
    assert json.loads(ran.out)["diagnosis"] == json.loads(direct["json"])["diagnosis"]


@pytest.mark.parametrize("user", ["known", "unknown"])
def test_without_a_home_it_works_too(user: str, tmp_path: Path) -> None:
    """A container's numeric user has neither HOME nor an entry in the table of users."""
    code = "import os, pwd, runpy, sys\n"
    if user == "unknown":
        code += "pwd.getpwuid = lambda uid: {}[uid]\n"
    code += "sys.argv = ['mpsdoctor', *sys.argv[1:]]; runpy.run_module('mpsdoctor', run_name='__main__')"
    without = {k: v for k, v in os.environ.items() if k not in ("HOME", "USER", "LOGNAME", "LNAME", "USERNAME")}
    for arguments in (["check", "--no-import"], ["record", "recording", "--no-import"], ["check", "--env", "~/env"]):
        done = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True, cwd=tmp_path,
                              env=without, check=False)  # fmt: skip
        assert done.returncode == (2 if "--env" in arguments else 0), done.stderr
        assert "Traceback" not in done.stderr


def test_a_closed_terminal_ends_the_program_and_its_children(tmp_path: Path) -> None:
    slow = tmp_path / "python"
    slow.write_text("#!/bin/sh\nsleep 600\n")
    slow.chmod(0o755)
    command = [sys.executable, "-m", "mpsdoctor", "check", "--python", str(slow)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=tmp_path) as process:
        while len(processes_of(tmp_path, patience=0)) < 2:
            assert process.poll() is None
            time.sleep(0.05)
        process.send_signal(signal.SIGHUP)
        process.communicate(timeout=20)
    assert process.returncode == 130
    assert processes_of(tmp_path) == []
