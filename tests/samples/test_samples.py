"""Every report that was ever written is read, judged alike and shown in every format, for ever."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from mpsdoctor.cli.formats import render
from mpsdoctor.facts import Facts
from mpsdoctor.facts.schema import facts_schema, report_schema
from mpsdoctor.report.github import format_annotations, outputs
from tests.conftest import Ran

SAMPLES = sorted(Path(__file__).parent.glob("report-*/*.json"))
IDS = [path.stem for path in SAMPLES]


def read(path: Path) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return document


def test_the_samples_of_the_first_versions_are_all_here() -> None:
    assert {path.stem.split("-")[0] for path in SAMPLES} >= {"readme", "hardened", "formats"}
    assert len(SAMPLES) >= 9


@pytest.mark.parametrize("path", SAMPLES, ids=IDS)
def test_it_meets_the_schemas_of_today(path: Path) -> None:
    document = read(path)
    jsonschema.Draft202012Validator(report_schema()).validate(document)
    jsonschema.Draft202012Validator(facts_schema()).validate(document["facts"])


@pytest.mark.parametrize("path", SAMPLES, ids=IDS)
def test_its_facts_are_read_without_a_loss(path: Path) -> None:
    problems: list[str] = []
    facts = read(path)["facts"]
    again = Facts.from_json(facts, problems).to_json()
    again.pop("smoke", None)
    assert problems == []
    assert {name: subject for name, subject in again.items() if subject} == {
        name: subject for name, subject in facts.items() if subject
    }


@pytest.mark.parametrize("path", SAMPLES, ids=IDS)
def test_it_is_judged_as_it_was(path: Path, mpsdoctor: Callable[..., Ran]) -> None:
    ran = mpsdoctor("check", "--from", str(path), "--format", "json")
    old, new = read(path)["diagnosis"], ran.json["diagnosis"]
    assert (new["verdict"], new["mps_usable"]) == (old["verdict"], old["mps_usable"])
    assert [cause["cause"] for cause in new["causes"]] == [cause["cause"] for cause in old["causes"]]
    assert ran.json["problems"] == []


@pytest.mark.parametrize("path", SAMPLES, ids=IDS)
def test_it_is_shown_in_every_format(path: Path) -> None:
    document = read(path)
    causes = document["diagnosis"]["causes"]
    said = causes[0]["cause"] if causes else "allocate"
    for name in ("json", "markdown", "junit", "html"):
        assert said in render(document, name), name
    assert format_annotations(document).startswith("::")
    assert outputs(document)["status"] == document["diagnosis"]["verdict"]
