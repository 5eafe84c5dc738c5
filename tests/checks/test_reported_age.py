"""A message of an old torch beside a newer one: the program runs with another, and no remedy asks for what is there."""

from __future__ import annotations

import re

import pytest

from mpsdoctor.knowledge import messages as table
from mpsdoctor.knowledge import releases, versions
from tests.checks.test_reported_rows import samples
from tests.tickets.answers import answer

SURROUNDINGS = (
    "Apple M1, macOS 14.5, Python 3.11",
    "MacBook Pro 2019 Intel Core i7, macOS 12.6",
    "macOS 13.2, x86_64",
    "",
)
OLD = [row for row in table.messages() if row.causes[:1] == ("torch-too-old",) and row.until]
_LATER = re.compile(r"torch (?P<version>\d+\.\d+(?:\.\d+)?) or later")


@pytest.mark.parametrize("row", table.messages(), ids=lambda row: row.id)
def test_no_check_breaks_whatever_stands_around_a_message(row: table.Message) -> None:
    told = ["2.14.1", *(version for version in (row.since, row.until) if version)]
    for around in SURROUNDINGS:
        for version in told:
            assert answer(f"{around}\ntorch {version}\n{samples(row)[0]}").crashed == [], (around, version)


@pytest.mark.parametrize("row", OLD, ids=lambda row: row.id)
def test_a_newer_torch_beside_an_old_message_is_another_one(row: table.Message) -> None:
    newer = [one.version for one in releases.releases() if versions.at_least(one.version, row.until or "")][1:]
    assert newer
    for version in (newer[0], newer[-1]):
        got = answer(f"Apple M1, macOS 15.5, Python 3.11, torch {version}\n{samples(row)[0]}")
        assert got.certain is None
        for remedy in (remedy.text for finding in got.findings for remedy in finding.verdict.remedies):
            for match in _LATER.finditer(remedy):
                assert not versions.at_least(version, match["version"]), remedy
