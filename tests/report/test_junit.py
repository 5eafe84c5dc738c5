"""JUnit XML as another program reads it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from junitparser import Error, Failure, JUnitXml, Skipped

from mpsdoctor.report.junit import format_junit
from tests.conftest import RECORDINGS, Ran
from tests.report.conftest import HOSTILE, NAMES, findings, made


def read(text: str) -> JUnitXml:
    return JUnitXml.fromstring(text)


def results(xml: JUnitXml) -> dict[str, set[type]]:
    return {case.name.split(" ")[0]: {type(r) for r in case.result} for suite in xml for case in suite}


@pytest.mark.parametrize("name", NAMES)
def test_every_check_is_a_case_with_its_outcome(name: str, recorded: Callable[[str], dict[str, Any]]) -> None:
    document = recorded(name)
    xml = read(format_junit(document))
    found = results(xml)
    kinds = {"pass": set(), "warn": set(), "fail": {Failure}, "skip": {Skipped}, "unknown": {Skipped}}
    applies = document["diagnosis"]["verdict"] != "not-applicable"
    for row in document["checks"]:
        want = kinds[row["outcome"]] if applies or row["outcome"] != "fail" else set()
        assert found[row["id"]] == want, row["id"]
    assert xml.tests == len(document["checks"]) + 1
    assert xml.failures == sum({Failure} == kind for kind in found.values())


def test_fail_on_decides_what_a_warning_is() -> None:
    document = made(findings(1, "warn"), verdict="degraded")
    wanted = {"error": set(), "warning": {Failure}, "never": set()}
    for fail_on, kind in wanted.items():
        assert results(read(format_junit(document, fail_on=fail_on)))["XX000"] == kind
    assert results(read(format_junit(made(findings(1)), fail_on="never")))["XX000"] == set()


def test_a_check_that_broke_is_an_error_and_an_unmet_expectation_a_failure() -> None:
    xml = read(format_junit(made(findings(1, "crash")), unmet="the GPU was expected"))
    assert results(xml) == {"XX000": {Error}, "expectation": {Failure}}
    assert (xml.errors, xml.failures) == (1, 1)


@given(st.text() | st.sampled_from(HOSTILE))
def test_whatever_a_fact_holds_the_document_stays_xml(text: str) -> None:
    xml = read(format_junit(made(findings(2, detail=text))))
    assert (xml.tests, xml.failures) == (3, 2)


def test_the_command_writes_it(mpsdoctor: Callable[..., Ran]) -> None:
    ran = mpsdoctor("check", "--replay", str(RECORDINGS / "04-m1-macos13-old"), "--format", "junit")
    assert (ran.code, read(ran.out).failures > 0) == (1, True)
    ran = mpsdoctor("check", "--replay", str(RECORDINGS / NAMES[0]), "--format", "junit", "--expect", "cpu")
    assert (ran.code, read(ran.out).failures) == (0, 0)
