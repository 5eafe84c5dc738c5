"""What a command writes never costs what was there: inputs, earlier recordings, the files of two at once."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from mpsdoctor.cli import _run
from tests.conftest import RECORDINGS, Ran

BROKEN = str(RECORDINGS / "05-m1pro-anaconda-x86_64-rosetta")


@pytest.fixture
def called(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., Ran]:
    monkeypatch.chdir(tmp_path)

    def run(*arguments: str) -> Ran:
        code = _run(list(arguments))
        out, err = capsys.readouterr()
        return Ran(code, out, err)

    return run


def shell(*arguments: str, cwd: Path, before: str = "") -> subprocess.CompletedProcess[str]:
    line = f'{before} exec "$0" "$@"'
    argv = ["sh", "-c", line, sys.executable, "-P", "-m", "mpsdoctor", *arguments]
    return subprocess.run(argv, cwd=cwd, capture_output=True, text=True, check=False, timeout=120)


@pytest.mark.parametrize("way", ["same name", "another way", "a link"])
@pytest.mark.parametrize("command", ["check", "report", "diff"])
def test_an_answer_never_replaces_what_it_is_made_from(
    command: str, way: str, called: Callable[..., Ran], tmp_path: Path
) -> None:
    assert called("check", "--replay", BROKEN, "--format", "json", "-o", "in.json").code == 1
    before = (tmp_path / "in.json").read_bytes()
    (tmp_path / "link.json").symlink_to("in.json")
    output = {"same name": "in.json", "another way": str(tmp_path / "." / "in.json"), "a link": "link.json"}[way]
    arguments = ["diff", "in.json", "in.json"] if command == "diff" else [command, "--from", "in.json"]
    ran = called(*arguments, "-o", output)
    assert ran.code == 2
    assert "is the file that is read here" in ran.err
    assert (tmp_path / "in.json").read_bytes() == before


def test_of_two_records_into_one_folder_one_gets_it(tmp_path: Path) -> None:
    with ThreadPoolExecutor() as pool:
        runs = list(pool.map(lambda _: shell("record", "both", "--no-import", cwd=tmp_path), range(2)))
    assert sorted(run.returncode for run in runs) == [0, 2]
    profile = json.loads((tmp_path / "both" / "profile.json").read_text())
    named = {entry[key] for entry in profile["commands"] for key in ("stdout", "stderr") if entry.get(key)}
    there = {path.name for path in (tmp_path / "both").iterdir()}
    assert there == named | set(profile["files"].values()) | {"profile.json"}
    assert [path.name for path in tmp_path.iterdir()] == ["both"]


def test_a_record_that_cannot_be_written_leaves_nothing(tmp_path: Path) -> None:
    done = shell("record", "new", "--no-import", cwd=tmp_path, before="ulimit -f 1;")
    assert done.returncode == 2, done.stderr
    assert list(tmp_path.iterdir()) == []
    assert shell("record", "new", "--no-import", cwd=tmp_path).returncode == 0


def test_a_record_into_an_empty_folder_keeps_the_folder(called: Callable[..., Ran], tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    inode = (tmp_path / "empty").stat().st_ino
    assert called("record", "empty", "--no-import").code == 0
    assert (tmp_path / "empty").stat().st_ino == inode


def test_a_relative_environment_in_a_folder_that_is_gone(tmp_path: Path) -> None:
    (tmp_path / "gone").mkdir()
    for command in (["check"], ["report", "-o", "-"]):
        (tmp_path / "gone").mkdir(exist_ok=True)
        done = shell(*command, "--env", ".", cwd=tmp_path, before="cd gone; rmdir ../gone;")
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr.count("\n") == 1


def test_an_environment_that_is_not_there_is_not_called_empty(called: Callable[..., Ran]) -> None:
    assert "There is nothing at" in called("check", "--env", "nosuch").err


@pytest.mark.parametrize("value", ["", ",", " , "])
def test_select_of_nothing_is_not_everything(value: str, called: Callable[..., Ran]) -> None:
    ran = called("check", "--replay", BROKEN, "--select", value)
    assert (ran.code, ran.err) == (2, "Error: --select names no check\n")


@pytest.mark.parametrize("value", ["abc", "nan", "", "3s"])
def test_a_limit_that_is_no_number(value: str, called: Callable[..., Ran]) -> None:
    ran = called("check", "--replay", BROKEN, "--timeout", value)
    assert ran.code == 2
    assert "is no number of seconds" in ran.err


@pytest.mark.parametrize("number", [10**400, -(10**400), 2**63])
def test_a_number_no_machine_has_is_not_known(number: int, called: Callable[..., Ran], tmp_path: Path) -> None:
    assert called("check", "--replay", BROKEN, "--format", "json", "-o", "in.json").code == 1
    report = json.loads((tmp_path / "in.json").read_text())
    report["facts"]["host"]["memory_bytes"] = number
    (tmp_path / "in.json").write_text(json.dumps(report))
    for format_ in ("text", "markdown", "html", "json"):
        ran = called("check", "--from", "in.json", "--format", format_)
        assert ran.code == 1, ran.err


def test_the_limit_holds_for_an_interpreter_that_hangs(tmp_path: Path) -> None:
    slow = tmp_path / "slow"
    slow.write_text("#!/bin/sh\nsleep 60\n")
    os.chmod(slow, 0o755)
    done = subprocess.run(
        [sys.executable, "-P", "-m", "mpsdoctor", "check", "--timeout", "1", "--python", str(slow)],
        cwd=tmp_path, capture_output=True, text=True, check=False, timeout=12,
    )  # fmt: skip
    assert done.returncode in (0, 1, 3)
