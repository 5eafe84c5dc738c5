"""What terminals, trackers and chat programs add to a text is taken off, and nothing else."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mpsdoctor.probes.intake import text


def lines(whole: str) -> list[text.Line]:
    return list(text.lines(list(enumerate(whole.split("\n"), 1))))


def texts(whole: str) -> list[str]:
    return [line.text for line in lines(whole)]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "gb18030"])
def test_common_encodings_are_read(encoding: str) -> None:
    assert text.decode("Mac 上报错：torch 2.8".encode(encoding)) == "Mac 上报错：torch 2.8"


def test_bytes_that_are_no_text_become_marks() -> None:
    assert "torch" in text.decode(b"torch \xff\xff\xfe 2.8")
    assert text.decode(b"") == ""


@pytest.mark.parametrize(
    ("given_text", "plain"),
    [
        ("a\r\nb\rc", "a\nb\nc"),
        ("\x1b[31mError\x1b[0m: x", "Error: x"),
        ("\x1b]0;title\x07prompt", "prompt"),
        ("can\u2019t \u201cbe\u201d", 'can\'t "be"'),
        ("torch\uff1d\uff1d2.8\uff0emac", "torch==2.8.mac"),
        ("zero\u200bwidth", "zerowidth"),
        ("no\u00a0break", "no break"),
        ("a&nbsp;&lt;b&gt;", "a\u00a0<b>"),
        ("<details><summary>log</summary>x</details>", "  log x "),
        ("over\x08written", "ovewritten"),
        ("nul\x00byte", "nulbyte"),
        ("2 < 3 and List<int> stay", "2 < 3 and List<int> stay"),
    ],
)
def test_typographic_and_control_characters(given_text: str, plain: str) -> None:
    assert text.plain(given_text) == plain


@pytest.mark.parametrize(
    ("line", "bare"),
    [
        ("> > quoted", "quoted"),
        ("- item", "item"),
        ("  * item", "item"),
        ("### Heading", "Heading"),
        ("- [x] done", "done"),
        ("1. first", "first"),
        ("| cell |", "cell"),
        ("2026-12-01 10:00:00,123 INFO x", "INFO x"),
        ("[2026-12-01T10:00:00Z] x", "x"),
        ("web-1  | x", "x"),
        ("-1 is a number", "-1 is a number"),
        ("#hashtag", "#hashtag"),
        (">>> import torch", "import torch"),
    ],
)
def test_marks_before_a_line(line: str, bare: str) -> None:
    assert texts(line) == [bare]


@pytest.mark.parametrize(
    "line",
    [
        "$ pip list", "% pip list", "(base) me@mac ~ % pip list", "me@mac:~/work$ pip list", "❯ pip list",
        "PS C:\\Users\\me> pip list", "In [3]: pip list", ">>> pip list", "(env) $ pip list",
    ],
)  # fmt: skip
def test_prompts_are_taken_off_and_remembered(line: str) -> None:
    found = lines(line)
    assert [(one.text, one.prompt) for one in found] == [("pip list", True)]


@pytest.mark.parametrize("line", ["costs 5 $ a month", "100 % of the GPU", "$", "a > b"])
def test_signs_in_a_sentence_are_no_prompt(line: str) -> None:
    assert [one.prompt for one in lines(line)] == [False]


def test_fences_mark_their_lines_and_are_empty_themselves() -> None:
    found = lines("before\n```python\nimport torch\n```\nafter\n    indented")
    assert [(one.text, one.fenced) for one in found if one.text] == [
        ("before", False),
        ("import torch", True),
        ("after", False),
        ("indented", True),
    ]
    assert [one.number for one in found] == [1, 2, 3, 4, 5, 6]


def test_words_behind_a_fence_are_kept() -> None:
    assert texts("```ERROR: No matching distribution\n```")[0] == "ERROR: No matching distribution"


@given(st.text(max_size=300))
def test_numbers_are_those_of_the_file(whole: str) -> None:
    plain = text.plain(whole)
    assert [one.number for one in lines(plain)] == list(range(1, plain.count("\n") + 2))
    assert text.plain(plain).count("\n") == plain.count("\n")
