"""No expression that reads other people's texts takes more than its share of time, whatever stands in the text."""

from __future__ import annotations

import re

import pytest

from mpsdoctor import knowledge
from mpsdoctor.knowledge import messages, symptoms
from mpsdoctor.probes import intake
from tests.hostile import Written, growth, hostile, modules, written_in

LINEAR = 3.3  # twice the text: about 2 times as long where the time grows with the length, 4 with its square
TRIES = 3  # another measurement where somebody else's work may have been in the way


def tables() -> list[Written]:
    rows = [Written(re.compile(row.pattern, re.MULTILINE), row.id) for row in messages.messages() if row.needles]
    rows += [Written(pattern, row.id) for row in symptoms.symptoms() for pattern in row.patterns]
    return rows + [Written(pattern, name) for name, pattern in symptoms.concepts().items()]


def of_modules() -> list[Written]:
    found = [one for package in (intake, knowledge) for module in modules(package) for one in written_in(module)]
    return list({(one.pattern, one.anchored): one for one in found}.values())


def too_slow(written: Written) -> list[tuple[str, str, str]]:
    """The texts whose double takes more than about twice as long, each time that it is measured."""
    texts = hostile(written.pattern)
    for _ in range(TRIES):
        texts = [text for text in texts if growth(written, *text) > LINEAR]
    return texts


@pytest.mark.parametrize("written", of_modules(), ids=lambda one: one.place.removeprefix("mpsdoctor."))
def test_expressions_of_the_modules_take_linear_time(written: Written) -> None:
    assert too_slow(written) == [], written.pattern.pattern


@pytest.mark.parametrize("written", tables(), ids=lambda one: one.place)
def test_expressions_of_the_tables_take_linear_time(written: Written) -> None:
    assert too_slow(written) == [], written.pattern.pattern


@pytest.mark.parametrize("pattern", [r"(?:a+)+b", r"\s*x", r"\w+@\w+x", r"(?:a|a)*b"])
def test_bad_expressions_are_found(pattern: str) -> None:
    bad = Written(re.compile(pattern), "bad")
    assert any(growth(bad, *text) > LINEAR for text in hostile(bad.pattern))


@pytest.mark.parametrize("pattern", [r"a{1,40}b", r"\bno\b[^\n]{0,30}\bdevice\b", r"(?:x|y){1,9}z"])
def test_good_expressions_are_let_pass(pattern: str) -> None:
    assert not too_slow(Written(re.compile(pattern), "good"))


def test_the_modules_are_really_read() -> None:
    places = {one.place for one in of_modules()}
    assert any(place.startswith("mpsdoctor.probes.intake.values.") for place in places)
    assert any(place.startswith("mpsdoctor.knowledge.operators.") for place in places)
    assert len(places) > 90
