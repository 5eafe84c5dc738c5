"""What a finding rests on is told in plain words: no name of a field or a table's row, no `None`, no Python value."""

from __future__ import annotations

import dataclasses
import re
from functools import cache
from pathlib import Path

import pytest

from mpsdoctor.cli.target import gather
from mpsdoctor.facts import Binaries, Conda, Environment, Facts, Host, Interpreter, Messages, Packages, Smoke, Torch
from mpsdoctor.facts.redaction import Redactor
from mpsdoctor.knowledge.known_bad import known_bad
from mpsdoctor.knowledge.messages import messages
from mpsdoctor.registry import load_registry
from mpsdoctor.report import evidence
from mpsdoctor.report.document import written
from mpsdoctor.report.github import format_annotations
from mpsdoctor.report.junit import format_junit
from mpsdoctor.report.markdown import format_answer
from mpsdoctor.report.model import Report, make_report
from mpsdoctor.report.text import Style, format_text
from tests.conftest import RECORDINGS, ROOT

TICKETS = sorted((ROOT / "tests" / "tickets").glob("*.txt"))
RECORDED = sorted(path for path in RECORDINGS.iterdir() if path.is_dir())
SUBJECTS = (Host, Interpreter, Torch, Packages, Conda, Environment, Binaries, Messages, Smoke)
ROWS = {row.id for row in messages()} | {row.id for row in known_bad()}
# Words of a program and not of a sentence; a message of somebody's program may hold any of them in its own text.
PYTHON = re.compile(r": None\b|: True\b|: False\b|\{'|\[\{|\[\(|=None\b")
FIELD = re.compile(r"\b(?:host|interpreter|packages|conda|environment|binaries|messages|smoke)\.[a-z_]+")


@cache
def judged(path: Path) -> Report:
    name = str(path)
    ticket = path.is_file()
    gathered = gather(python=None, env=None, from_=name if ticket else None, replay=None if ticket else name)
    return make_report(gathered.facts, gathered.source, load_registry(), problems=gathered.problems)


def internal(text: str) -> list[str]:
    """The internal words of a text: Python values, fields of facts, ids of the tables' rows as labels."""
    labels = re.findall(r"(?:^|[;,] |\s)([a-z0-9][a-z0-9.-]+):(?= )", text)
    return [*PYTHON.findall(text), *FIELD.findall(text), *(label for label in labels if label in ROWS)]


@pytest.mark.parametrize("path", [*RECORDED, *TICKETS], ids=lambda path: path.stem)
def test_no_answer_shows_internal_words(path: Path) -> None:
    report = judged(path)
    for finding in report.findings:
        known = [(item.fact, item.value, "") for item in finding.verdict.evidence]
        said = {str(item.value) for item in finding.verdict.evidence if item.fact.startswith("messages.")}
        told = evidence.together(known)
        for text in said:
            told = told.replace(text, "")
        assert internal(told) == [], finding.id
        assert internal(evidence.detail(finding.verdict.detail)) == [], finding.id


@pytest.mark.parametrize("path", RECORDED, ids=lambda path: path.stem)
def test_every_format_uses_these_words(path: Path) -> None:
    report = judged(path)
    document = written(report, Redactor())
    texts = {
        "text": " ".join(line.plain.strip() for line in format_text(report, Style())),
        "verbose": " ".join(line.plain.strip() for line in format_text(report, Style(verbose=True))),
        "markdown": format_answer(document),
        "annotations": format_annotations(document),
        "junit": format_junit(document),
    }
    assert {name: found for name, text in texts.items() if (found := internal(text))} == {}


def fields() -> list[str]:
    return [f"{cls.__name__.lower()}.{field.name}" for cls in SUBJECTS for field in dataclasses.fields(cls)]


@pytest.mark.parametrize("value", [True, {"A": "1", "B": None}, [{"name": "x", "version": None}], ("a", "b"), 3])
def test_whatever_fact_a_check_shows_it_reads_as_words(value: object) -> None:
    assert len(fields()) > 80
    for fact in fields():
        assert internal(evidence.words(fact, value)) == []
        assert "_" not in evidence.label(fact)
        assert evidence.words(fact, None) == ""


def test_a_fact_that_is_not_known_is_no_evidence_and_a_repeated_one_is_told_once() -> None:
    known = [("host.macos_version", None, "sw_vers"), ("host.chip", "M1", "sysctl"), ("host.chip", "M1", "line 3")]
    assert evidence.together(known) == "chip: M1 (sysctl)"
    assert evidence.together([("host.macos_version", None, "sw_vers")]) == ""


def test_brackets_of_a_source_do_not_stand_in_brackets() -> None:
    assert evidence.together([("host.chip", "M1", "line 3 (its name)")]) == "chip: M1 (line 3, its name)"


def test_a_wall_of_text_is_cut_on_a_screen_and_not_in_the_document() -> None:
    long = "x " * 400
    assert len(evidence.together([("messages.errors", long, "")])) < 270
    report = make_report(Facts(), judged(RECORDED[0]).source, load_registry())
    row = {"evidence": [{"fact": "messages.errors", "value": long, "from": ""}]}
    assert report.findings
    from mpsdoctor.report.document import known as rows

    assert len(rows(row)[0][0]) > 780
