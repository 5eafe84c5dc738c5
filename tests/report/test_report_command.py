"""`mpsdoctor report`: the file, what is said about it, and the look before it is sent."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from mpsdoctor.facts.redaction import _RULES, Redactor
from mpsdoctor.report.words import _REMOVED, in_words
from tests.conftest import RECORDINGS, Ran

BROKEN = str(RECORDINGS / "05-m1pro-anaconda-x86_64-rosetta")


def test_one_file_is_written_and_what_was_removed_is_said(mpsdoctor: Callable[..., Ran], tmp_path: Path) -> None:
    facts = {"executable": "/Users/jane/.venv/bin/python", "prefix": "/Users/jane/.venv", "machine": "arm64"}
    variables = {"PIP_INDEX_URL": "https://jane:hunter2@pypi.example.com/simple"}
    ticket = {"schema": "mpsdoctor.facts/1", "interpreter": facts, "environment": {"variables": variables}}
    ran = mpsdoctor("report", "--from", "-", stdin=json.dumps(ticket).encode())
    text = (tmp_path / "mpsdoctor-report.json").read_text()
    assert (ran.code, ran.err) == (0, "")
    assert [line.split()[0] for line in ran.out.splitlines()] == ["wrote", "says", "removed", "look", "paste"]
    assert "nothing was sent" in ran.out
    counts = json.loads(text)["redactions"]
    said = ran.out.split("removed  ")[1].splitlines()[0].split(", ")
    assert [int(item.split()[0]) for item in said] == [counts[kind] for kind in sorted(counts)]
    assert f"{counts['user']} user names" in said
    assert "1 password in an address" in said
    assert counts["user"] >= 2
    assert "jane" not in text
    assert "hunter2" not in text


def test_an_earlier_report_is_never_overwritten_unless_it_is_named(
    mpsdoctor: Callable[..., Ran], tmp_path: Path
) -> None:
    for _ in range(3):
        mpsdoctor("report", "--replay", BROKEN)
    mpsdoctor("report", "--replay", BROKEN, "--format", "markdown", "-o", "mpsdoctor-report.json")
    names = sorted(path.name for path in tmp_path.iterdir())
    assert names == ["mpsdoctor-report-2.json", "mpsdoctor-report-3.json", "mpsdoctor-report.json"]
    assert (tmp_path / "mpsdoctor-report.json").read_text().startswith("### ✗")


def test_the_report_reads_back_to_the_same_diagnosis(mpsdoctor: Callable[..., Ran]) -> None:
    first = mpsdoctor("report", "--replay", BROKEN, "-o", "-").json
    assert (
        mpsdoctor("report", "--from", "-", "-o", "-", stdin=json.dumps(first).encode()).json["diagnosis"]
        == (first["diagnosis"])
    )


@pytest.mark.parametrize("name", ["json", "markdown"])
def test_to_stdout_goes_the_document_alone(name: str, mpsdoctor: Callable[..., Ran]) -> None:
    ran = mpsdoctor("report", "--replay", BROKEN, "--format", name, "-o", "-", "--issue-url", "pytorch/pytorch")
    assert ran.out.lstrip().startswith("{" if name == "json" else "###")
    assert [line.split()[0] for line in ran.err.splitlines()] == ["says", "removed", "issue"]
    assert "https://github.com/pytorch/pytorch/issues/new?title=" in ran.err


def test_a_link_to_nowhere_is_refused_before_anything_is_observed(mpsdoctor: Callable[..., Ran]) -> None:
    ran = mpsdoctor("report", "--replay", BROKEN, "--issue-url", "https://github.com/a/b")
    assert (ran.code, ran.out) == (2, "")
    assert "OWNER/REPO" in ran.err


def test_a_proof_is_only_made_on_this_machine(mpsdoctor: Callable[..., Ran]) -> None:
    ran = mpsdoctor("report", "--replay", BROKEN, "--smoke")
    assert (ran.code, "this machine" in ran.err) == (2, True)


def test_the_proof_is_in_the_report_in_every_form(mpsdoctor: Callable[..., Ran], tmp_path: Path) -> None:
    pytest.importorskip("torch")
    ran = mpsdoctor("report", "--smoke", "--python", sys.executable, "--timeout", "120", "-o", "r.json", timeout=240)
    document = json.loads((tmp_path / "r.json").read_text())
    assert ran.code == 0
    assert {stage["stage"] for stage in document["smoke"]["stages"]} & {"allocate", "numerics", "train"}
    assert document["smoke"]["outcome"] in ("pass", "fail", "unknown")
    assert "Training run" in mpsdoctor("report", "--from", "r.json", "--format", "markdown", "-o", "-").out
    assert "Training run" in mpsdoctor("report", "--from", "r.json", "--format", "html", "-o", "-").out


@pytest.mark.parametrize(("answer", "shown"), [(b"y\n", True), (b"n\n", False), (b"\n", False)])
def test_the_user_can_look_before_sending(answer: bytes, shown: bool, tmp_path: Path) -> None:
    parent, child = pty.openpty()
    argv = [sys.executable, "-m", "mpsdoctor", "report", "--replay", BROKEN, "--format", "markdown"]
    process = subprocess.Popen(argv, stdin=child, stdout=child, stderr=child, cwd=tmp_path,
                               env={**os.environ, "PAGER": "cat", "TERM": "xterm"})  # fmt: skip
    os.close(child)
    seen = b""
    while True:
        try:
            data = os.read(parent, 65536)
        except OSError:
            break
        if not data:
            break
        seen += data
        if b"send it?" in seen and answer:
            os.write(parent, answer)
            answer = b""
    assert process.wait(30) == 0
    os.close(parent)
    assert (b"<details>" in seen) is shown
    assert (tmp_path / "mpsdoctor-report.md").exists()


def test_every_kind_of_redaction_has_words() -> None:
    rules = (*_RULES, *Redactor(home="/Users/jane", user="jane", host="studio")._rules)
    kinds = {kind for kind, *_ in rules} | {"secret", "private-host", "private-path"}
    assert len(kinds) >= 10
    assert sorted(kinds - set(_REMOVED)) == []
    assert in_words({"token": 1, "home": 2, "user": 0, "new-kind": 3}) == "2 home folders, 3 new-kind, 1 token"
    assert in_words({}) == "nothing"
