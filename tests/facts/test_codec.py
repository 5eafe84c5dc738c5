"""Facts to JSON and back: without loss, without trust, and as the schema says."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mpsdoctor.facts
from mpsdoctor.facts import Facts, Host, Shadow, Torch, decode, encode
from mpsdoctor.facts.schema import facts_schema, report_schema
from tests.strategies import facts, json_values

FOLDER = Path(mpsdoctor.facts.__file__).parent


@settings(max_examples=200, deadline=None)
@given(facts())
def test_facts_come_back_from_json_as_they_were(given_facts: Facts) -> None:
    data = json.loads(json.dumps(given_facts.to_json()))
    problems: list[str] = []
    assert Facts.from_json(data, problems) == given_facts
    assert problems == []


@settings(max_examples=100, deadline=None)
@given(facts())
def test_facts_fit_their_schema(given_facts: Facts) -> None:
    jsonschema.validate(given_facts.to_json(), facts_schema())


@settings(max_examples=300, deadline=None)
@given(json_values())
def test_any_json_is_read_without_an_exception(data: Any) -> None:
    assert isinstance(Facts.from_json(data), Facts)


@settings(max_examples=200, deadline=None)
@given(facts(), st.data())
def test_a_value_of_another_type_becomes_unknown_and_is_told(given_facts: Facts, data: Any) -> None:
    document = given_facts.to_json()
    subject = data.draw(st.sampled_from(["host", "interpreter", "torch", "packages", "conda", "binaries"]))
    fields = [name for name in document[subject] if name != "from"]
    if not fields:
        return
    name = data.draw(st.sampled_from(fields))
    document[subject][name] = object.__class__.__name__ if not isinstance(document[subject][name], str) else 17
    problems: list[str] = []
    read = Facts.from_json(document, problems)
    assert getattr(getattr(read, subject), name) is None
    assert any(name in problem for problem in problems)


def test_keys_of_a_newer_version_are_kept_and_written_again() -> None:
    host = decode(Host, {"system": "Darwin", "quantum_cores": 4, "from": {"system": "uname -a"}})
    assert host.extra == {"quantum_cores": 4}
    assert encode(host) == {"system": "Darwin", "quantum_cores": 4, "from": {"system": "uname -a"}}


def test_true_is_no_number_and_a_number_no_truth() -> None:
    problems: list[str] = []
    torch = decode(Torch, {"device_count": True, "built": 1}, problems)
    assert (torch.device_count, torch.built) == (None, None)
    assert len(problems) == 2


def test_an_item_without_what_it_must_have_is_left_out() -> None:
    problems: list[str] = []
    read = Facts.from_json({"environment": {"shadows": [{"name": "torch"}, {"name": "a", "path": "/b"}]}}, problems)
    assert read.environment.shadows == (Shadow(name="a", path="/b"),)
    assert "path missing" in problems[0]


@pytest.mark.parametrize(("name", "schema"), [("facts", facts_schema), ("report", report_schema)])
def test_the_published_schema_is_that_of_the_code(name: str, schema: Any) -> None:
    published = json.loads((FOLDER / f"{name}.schema.json").read_text())
    assert published == schema(), "run scripts/write_schemas.py"
    jsonschema.Draft202012Validator.check_schema(published)
