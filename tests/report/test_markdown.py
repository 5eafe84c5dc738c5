"""Markdown to paste: within the limit, and nothing in a fact leaves its place."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from mpsdoctor.report.markdown import LIMIT, code, escape, fence, format_markdown
from tests.conftest import RECORDINGS, Ran
from tests.report.conftest import HOSTILE, NAMES, findings, made

MARKDOWN = MarkdownIt("commonmark").enable("table")
any_text = st.text() | st.sampled_from(HOSTILE)


def shown(html: str) -> str:
    """The text that a reader sees, without comments and tags."""
    import html as entities

    return entities.unescape(re.sub(r"<!--.*?-->|<[^>]+>", "", html, flags=re.DOTALL)).strip()


@pytest.mark.parametrize("name", NAMES)
def test_the_answer_stands_first_and_the_details_are_folded(
    name: str, recorded: Callable[[str], dict[str, Any]]
) -> None:
    document = recorded(name)
    text = format_markdown(document)
    html = MARKDOWN.render(text)
    assert len(text.encode()) <= LIMIT
    causes = document["diagnosis"]["causes"]
    if causes:
        assert causes[0]["summary"] in shown(html.splitlines()[0])
        assert html.index("How we know") < html.index("What to do") < html.index("<details>")
    assert text.count("<details>") == text.count("</details>") >= 2
    assert "Removed before writing:" in html.splitlines()[-1]


@given(any_text)
def test_escaped_text_is_shown_as_it_is(text: str) -> None:
    html = MARKDOWN.render(f"before {escape(text)} after")
    assert html.count("<") - html.count("<!--") == 2  # the paragraph alone
    words = " ".join("".join(c if c.isprintable() or c == " " else " " for c in text).split())
    if len(words) < 1000 and "\ufffd" not in escape(text):
        assert " ".join(shown(html).split()) == " ".join(f"before {words} after".split())
    assert not re.search(r"[@#]\w", re.sub(r"<!-- -->", "\0", html).replace("&#", ""))


@given(any_text)
def test_a_code_span_holds_anything(text: str) -> None:
    span = code(text)
    tokens = MARKDOWN.parse(f"x {span} y")[1].children or []
    assert [token.type for token in tokens] in (["text", "code_inline", "text"], ["text"])
    assert "|" not in span


@given(any_text)
def test_a_fence_holds_anything(text: str) -> None:
    tokens = MARKDOWN.parse("\n".join([*fence(text.replace("\r", ""), "text"), "after"]))
    assert [token.type for token in tokens][:1] == ["fence"]
    assert tokens[-2].content == "after"


@pytest.mark.parametrize("detail", [*HOSTILE, "x" * 2_000_000, "`" * 3000, "€" * 50_000])
@pytest.mark.parametrize("count", [1, 300])
def test_the_limit_holds_whatever_was_found(count: int, detail: str) -> None:
    document = made(findings(count, detail=detail), detail=detail)
    document["facts"]["packages"] = {"distributions": [{"name": f"p{n}", "version": detail[:50]} for n in range(3000)]}
    text = format_markdown(document)
    assert len(text.encode()) <= LIMIT
    html = MARKDOWN.render(text)
    assert len(re.findall("^<details>", html, re.M)) == len(re.findall("^</details>", html, re.M)) >= 1
    assert "<script" not in html
    assert "What to do" in html


def test_what_did_not_fit_is_named() -> None:
    text = format_markdown(made(findings(300, detail="x" * 1000)))
    assert "and 294 more causes" in text
    assert "more, in the JSON report |" in text
    document = made(findings(1))
    document["facts"]["host"]["extra"] = "x" * LIMIT
    assert "Too long for here, see the JSON report: Facts." in format_markdown(document)


def test_the_command_writes_it(mpsdoctor: Callable[..., Ran]) -> None:
    ran = mpsdoctor("check", "--replay", str(RECORDINGS / "05-m1pro-anaconda-x86_64-rosetta"), "--format", "markdown")
    assert ran.code == 1
    assert ran.out.startswith("### ✗ This Python runs as x86\\_64 under Rosetta")
    assert "~/miniforge3/bin/conda create" in ran.out
