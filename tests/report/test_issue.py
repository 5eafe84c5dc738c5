"""The link to a new issue: valid, short enough, and it says the answer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mpsdoctor.report.issue import URL_LIMIT, is_repository, issue_url
from tests.report.conftest import HOSTILE, NAMES, findings, made


@pytest.mark.parametrize("name", NAMES)
def test_the_link_holds_the_answer(name: str, recorded: Callable[[str], dict[str, Any]]) -> None:
    document = recorded(name)
    url = urlsplit(issue_url(document, "pytorch/pytorch", "mpsdoctor-report.json"))
    assert (url.scheme, url.netloc, url.path) == ("https", "github.com", "/pytorch/pytorch/issues/new")
    query = parse_qs(url.query)
    body = query["body"][0]
    assert query["title"][0]
    assert "attach the report file here, after a look at it: mpsdoctor-report.json" in body
    if document["diagnosis"]["causes"]:
        assert document["diagnosis"]["causes"][0]["cause"] in body


@given(st.text() | st.sampled_from(HOSTILE), st.sampled_from([1, 50]))
def test_the_link_is_never_too_long_and_its_blocks_are_closed(detail: str, count: int) -> None:
    url = issue_url(made(findings(count, detail=detail * 20)), "a/b", "report.json")
    assert len(url) <= URL_LIMIT
    assert url.isascii()
    assert not set(url) & set(' "<>\\^`{|}')
    body = parse_qs(urlsplit(url).query)["body"][0]
    assert "Please attach" in body


@pytest.mark.parametrize("name", ["", "pytorch", "a/b/c", "a b/c", "a/b?x=1", "-a/b", "a/b#", "../x", "a/..", "a/b\n"])
def test_what_is_no_repository_is_refused(name: str) -> None:
    assert not is_repository(name)
    with pytest.raises(ValueError, match="OWNER/REPO"):
        issue_url(made(findings(1)), name, "r")
