"""`check --from`: one file, several, a folder, stdin, and all that is no ticket."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from mpsdoctor.cli import _run
from tests.conftest import RECORDINGS, Ran

TICKET = "M2, macOS 15.1, Python 3.12 arm64, torch 2.8.0\nAssertionError: Torch not compiled with CUDA enabled\n"
ROSETTA = "Chip: Apple M3\nPython platform: macOS-14.5-x86_64-i386-64bit\nPython version: 3.11.4\ntorch: 2.2.2\n"


@pytest.fixture
def called(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., Ran]:
    """Run the command line within this process, in a folder of its own."""

    def run(*arguments: str) -> Ran:
        monkeypatch.chdir(tmp_path)
        code = _run(["check", *arguments])
        out, err = capsys.readouterr()
        assert "Traceback" not in out + err
        return Ran(code, out, err)

    return run


def causes(document: dict[str, Any]) -> list[str]:
    return [one["cause"] for one in document["diagnosis"]["causes"]]


def lines(out: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in out.splitlines()]


def refused(ran: Ran) -> str:
    """One clear line on stderr, nothing else."""
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith("Error: ")
    assert ran.err.count("\n") == 1
    return ran.err


def test_one_file(called: Callable[..., Ran], tmp_path: Path) -> None:
    (tmp_path / "t.txt").write_text(ROSETTA)
    ran = called("--from", "t.txt", "--format", "json")
    assert ran.code == 1
    assert ran.json["source"] == {"kind": "ticket", "name": "t.txt"}
    assert causes(ran.json)[0] == "x86-python-under-rosetta"
    assert "line 2" in json.dumps(ran.json["facts"]["interpreter"])


def test_stdin(mpsdoctor: Callable[..., Ran]) -> None:
    ran = mpsdoctor("check", "--from", "-", "--format", "json", stdin=ROSETTA.encode())
    assert ran.json["source"]["name"] == "stdin"
    assert causes(ran.json)[0] == "x86-python-under-rosetta"
    shown = mpsdoctor("check", "--from", "-", stdin=ROSETTA.encode())
    assert "Rosetta" in shown.out
    assert shown.code == ran.code == 1


def test_several_files_give_one_line_each_in_their_order(called: Callable[..., Ran], tmp_path: Path) -> None:
    (tmp_path / "b.txt").write_text(TICKET)
    (tmp_path / "a.log").write_text(ROSETTA)
    ran = called("--from", "b.txt", "--from", "a.log", "--format", "json")
    assert [causes(one)[0] for one in lines(ran.out)] == ["cuda-call-on-mac", "x86-python-under-rosetta"]
    assert ran.code == 1
    table = called("--from", "b.txt", "--from", "a.log").out
    assert table.startswith("2 tickets\n")
    assert "x86-python-under-rosetta" in table


def test_a_folder(called: Callable[..., Ran], tmp_path: Path) -> None:
    many = tmp_path / "many"
    many.mkdir()
    for name, text in {"b.txt": TICKET, "a.md": ROSETTA, ".hidden.txt": TICKET, "c.png": "x", "d": TICKET}.items():
        (many / name).write_text(text)
    (many / "e.txt").mkdir()
    (many / "numbers.json").write_text("[1, 2]")
    ran = called("--from", "many", "--format", "json")
    assert [Path(one["source"]["name"]).name for one in lines(ran.out)] == ["a.md", "b.txt", "d"]
    assert "left out numbers.json" in ran.err
    written = called("--from", "many", "--format", "json", "-o", "out.jsonl")
    assert written.out == ""
    assert len(lines((tmp_path / "out.jsonl").read_text())) == 3


def test_a_report_of_ours_in_a_folder_of_tickets(called: Callable[..., Ran], tmp_path: Path) -> None:
    (tmp_path / "t.txt").write_text(ROSETTA)
    report = called("--from", "t.txt", "--format", "json").out
    many = tmp_path / "many"
    many.mkdir()
    (many / "r.json").write_text(report)
    (many / "t.txt").write_text(TICKET)
    ran = called("--from", "many", "--format", "json")
    assert [one["source"]["kind"] for one in lines(ran.out)] == ["report", "ticket"]
    assert causes(lines(ran.out)[0])[0] == "x86-python-under-rosetta"


@pytest.mark.parametrize("name", [path.name for path in sorted(RECORDINGS.iterdir()) if path.is_dir()])
def test_a_recording_is_none_and_the_right_option_is_told(name: str, called: Callable[..., Ran]) -> None:
    said = refused(called("--from", str(RECORDINGS / name)))
    assert "--replay" in said
    assert "recording" in said


def test_a_folder_of_recordings_holds_no_ticket(called: Callable[..., Ran], tmp_path: Path) -> None:
    assert "holds no" in refused(called("--from", str(tmp_path)))
    (tmp_path / "other.json").write_text("{}")
    ran = called("--from", str(tmp_path))
    assert (ran.code, ran.out) == (2, "")
    assert "left out other.json" in ran.err
    assert "none of these files" in ran.err


@pytest.mark.parametrize("content", [b"", b"\n \t\r\n", b"\xef\xbb\xbf", b"\xff\xfe", b"\0" * 5000])
def test_an_empty_file(content: bytes, called: Callable[..., Ran], tmp_path: Path) -> None:
    (tmp_path / "t.txt").write_bytes(content)
    assert "t.txt" in refused(called("--from", "t.txt"))


@pytest.mark.parametrize("content", [b"\x7fELF\0\0" + bytes(range(256)) * 40, b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" * 9])
def test_binary_noise(content: bytes, called: Callable[..., Ran], tmp_path: Path) -> None:
    (tmp_path / "t.txt").write_bytes(content)
    assert "binary" in refused(called("--from", "t.txt"))


def test_noise_without_a_nul_is_read_and_decides_nothing(called: Callable[..., Ran], tmp_path: Path) -> None:
    (tmp_path / "t.txt").write_bytes(bytes(range(1, 256)) * 200)
    ran = called("--from", "t.txt", "--format", "json")
    assert ran.code in (0, 3)
    assert set(causes(ran.json)) <= {"insufficient-information"}


def newer(report: str) -> str:
    document = json.loads(report)
    document["schema"] = "mpsdoctor.report/7"
    document["facts"]["host"]["quantum_cores"] = 4
    document["facts"]["weather"] = {"sunny": True}
    return json.dumps(document)


def test_a_newer_schema_is_read_as_far_as_it_is_known(called: Callable[..., Ran], tmp_path: Path) -> None:
    (tmp_path / "t.txt").write_text(ROSETTA)
    (tmp_path / "r.json").write_text(newer(called("--from", "t.txt", "--format", "json").out))
    ran = called("--from", "r.json", "--format", "json")
    assert causes(ran.json)[0] == "x86-python-under-rosetta"
    assert any("a newer mpsdoctor wrote this report" in one for one in ran.json["problems"])


def test_half_a_report_is_judged_by_no_half(called: Callable[..., Ran], tmp_path: Path) -> None:
    (tmp_path / "t.txt").write_text(ROSETTA)
    report = called("--from", "t.txt", "--format", "json").out
    (tmp_path / "r.json").write_text(report[: len(report) // 2])
    assert "cut short" in refused(called("--from", "r.json"))


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-8-sig", "gb18030", "utf-8"])
@pytest.mark.parametrize("ends", ["\n", "\r\n", "\r"])
def test_encodings(encoding: str, ends: str, called: Callable[..., Ran], tmp_path: Path) -> None:
    text = f"{ROSETTA}请问怎么解决？谢谢\n".replace("\n", ends)
    data = text.encode(encoding)
    (tmp_path / "t.txt").write_bytes(b"\xff\xfe" + data if encoding == "utf-16-le" else data)
    ran = called("--from", "t.txt", "--format", "json")
    assert causes(ran.json)[0] == "x86-python-under-rosetta"
    assert ran.json["facts"]["host"]["chip"] == "Apple M3"


def test_a_gigabyte_is_refused_without_reading_it(called: Callable[..., Ran], tmp_path: Path) -> None:
    (tmp_path / "t.txt").touch()
    os.truncate(tmp_path / "t.txt", 1 << 30)
    assert "larger than" in refused(called("--from", "t.txt"))


def test_a_huge_file_among_others_harms_none(called: Callable[..., Ran], tmp_path: Path) -> None:
    many = tmp_path / "many"
    many.mkdir()
    (many / "a.txt").touch()
    os.truncate(many / "a.txt", 1 << 30)
    (many / "b.txt").write_text(ROSETTA)
    (many / "c.txt").write_bytes(b"\0\1\2" * 999)
    ran = called("--from", "many")
    assert ran.out.startswith("1 ticket\n")
    assert ran.err.count("left out") == 2


def test_a_file_named_outright_must_be_readable(called: Callable[..., Ran], tmp_path: Path) -> None:
    (tmp_path / "t.txt").write_text(TICKET)
    assert "no file" in refused(called("--from", "t.txt", "--from", "missing.txt"))


def test_a_training_run_does_not_go_with_tickets(called: Callable[..., Ran], tmp_path: Path) -> None:
    (tmp_path / "t.txt").write_text(TICKET)
    assert "--smoke" in refused(called("--from", "t.txt", "--smoke"))


def test_no_name_of_the_ticket_is_repeated_in_json(called: Callable[..., Ran], tmp_path: Path) -> None:
    (tmp_path / "t.txt").write_text(f'{TICKET}File "/Users/jane.roe/work/train.py", line 3\njane.roe@example.com\n')
    ran = called("--from", "t.txt", "--format", "json")
    assert "jane" not in ran.out


@pytest.mark.parametrize("format_", ["html", "markdown", "junit", "github"])
def test_a_format_for_one_ticket_is_refused_for_several(
    format_: str, tmp_path: Path, mpsdoctor: Callable[..., Ran]
) -> None:
    for name in ("a.txt", "b.txt"):
        (tmp_path / name).write_text("M1, macOS 14.5, torch 2.5.1")
    for given in (["--from", "a.txt", "--from", "b.txt"], ["--from", str(tmp_path)]):
        ran = mpsdoctor("check", *given, "--format", format_, "-o", "answer")
        assert (ran.code, ran.err.count("\n"), format_ in ran.err) == (2, 1, True)
        assert not (tmp_path / "answer").exists()


@pytest.mark.parametrize("command", ["fix", "report"])
def test_a_second_ticket_is_not_passed_over_in_silence(
    command: str, tmp_path: Path, mpsdoctor: Callable[..., Ran]
) -> None:
    for name in ("a.txt", "b.txt"):
        (tmp_path / name).write_text("M1, macOS 14.5, torch 2.5.1")
    ran = mpsdoctor(command, "--from", "a.txt", "--from", "b.txt")
    assert (ran.code, ran.err.count("\n"), "--from" in ran.err) == (2, 1, True)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.txt", "b.txt"]


@pytest.mark.parametrize("story", ["on my Windows laptop with an RTX 3060", "Windows 11, RTX 4090", "on a Windows PC"])
def test_a_story_of_windows_is_no_mac(story: str, mpsdoctor: Callable[..., Ran]) -> None:
    ran = mpsdoctor("check", "--from", "-", "--format", "json", stdin=f"{story}: mps is not available".encode())
    assert ran.json["diagnosis"]["causes"][0]["cause"] == "not-a-mac"
    beside = f"It works {story}.\nBut on my MacBook Air M1 mps is not available".encode()
    ran = mpsdoctor("check", "--from", "-", "--format", "json", stdin=beside)
    assert "not-a-mac" not in [cause["cause"] for cause in ran.json["diagnosis"]["causes"]]


def test_a_result_of_another_kind_is_named(tmp_path: Path, mpsdoctor: Callable[..., Ran]) -> None:
    (tmp_path / "s.json").write_text('{"schema": "mpsdoctor.smoke/1"}')
    ran = mpsdoctor("check", "--from", "s.json")
    assert (ran.code, "mpsdoctor.smoke/1" in ran.err, ran.err.count("\n")) == (2, True, 1)
