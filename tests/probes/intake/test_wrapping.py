"""Lines that a terminal or a mail program broke are put together again, and lists are left alone."""

from __future__ import annotations

import textwrap

import pytest

from mpsdoctor.probes.intake import text
from mpsdoctor.probes.intake.machine import recognise
from mpsdoctor.probes.intake.wrapping import MOST_JOINED, NARROWEST, Joined, join, rejoin

LONG = (
    "ImportError: dlopen(/Users/someone/project/.venv/lib/python3.10/site-packages/torch/lib/libtorch_global_deps.dylib"
    ", 0x000A): '/Users/someone/project/.venv/lib/python3.10/site-packages/torch/lib/libtorch_global_deps.dylib' "
    "(mach-o file, but is an incompatible architecture (have 'x86_64', need 'arm64'))"
)
PIP = (
    "ERROR: Could not find a version that satisfies the requirement torch==2.0.1+cu118 (from versions: 1.11.0, 1.12.0, "
    "1.12.1, 1.13.0, 1.13.1, 2.0.0, 2.0.1)"
)


def lines(whole: str) -> tuple[text.Line, ...]:
    return text.lines(list(enumerate(whole.split("\n"), 1)))


def texts(joined: tuple[Joined, ...]) -> list[str]:
    return [one.text for one in joined]


@pytest.mark.parametrize("width", [60, 72, 80, 100])
def test_words_are_joined_across_lines(width: int) -> None:
    words = "The model trains for some minutes and then the process stops without any message at all on this Mac. " * 3
    wrapped = "\n".join(textwrap.wrap(words, width))
    assert texts(join(lines(wrapped), cut=False)) == [words.strip()]
    assert texts(rejoin(lines(wrapped))) == [words.strip()]


@pytest.mark.parametrize("width", [60, 72, 80])
def test_a_word_cut_by_a_terminal_is_whole_again(width: int) -> None:
    cut = "\n".join(LONG[at : at + width] for at in range(0, len(LONG), width))
    joined = join(lines(cut), cut=True)
    assert "".join(joined[0].text.split()) == "".join(LONG.split())
    assert joined[0].broken_word


@pytest.mark.parametrize("width", [48, 56, 64, 72])
def test_a_path_wider_than_the_text_does_not_hide_the_width(width: int) -> None:
    wrapped = "\n".join(textwrap.wrap(LONG, width, break_long_words=False))
    assert [one.id for one in recognise(lines(wrapped), join(lines(wrapped)))] == ["have-x86-need-arm64"]


@pytest.mark.parametrize("width", [56, 64, 72, 80])
def test_a_requirement_on_the_next_line_belongs_to_the_sentence(width: int) -> None:
    wrapped = "\n".join(textwrap.wrap(PIP, width))
    found = recognise(lines(wrapped), join(lines(wrapped)))
    assert found[0].id == "pip-local-version"
    assert (found[0].values or {})["version"] == "2.0.1+cu118"


@pytest.mark.parametrize("join_lines", [join, rejoin])
@pytest.mark.parametrize(
    "whole",
    [
        "OS: macOS 15.1\nChip: Apple M3\nPython: 3.12.4\ntorch: 2.8.0",
        'Traceback (most recent call last):\n  File "/Users/me/train.py", line 3, in <module>\nValueError: three',
        "one\n\ntwo",
        "A longer line of text that somebody has written here\n\nand another one below an empty line",
    ],
)
def test_lines_of_their_own_stay_apart(join_lines, whole: str) -> None:  # type: ignore[no-untyped-def]
    expected = [line.strip() for line in whole.split("\n") if line]
    assert texts(join_lines(lines(whole))) == expected


def test_numbers_are_those_of_the_first_parts() -> None:
    whole = "first\n\n" + "\n".join(textwrap.wrap(PIP, 60))
    assert [(one.number, one.parts) for one in join(lines(whole))] == [(1, 1), (3, len(textwrap.wrap(PIP, 60)))]


def test_a_general_row_does_not_speak_for_the_rest_of_a_wrapped_message() -> None:
    warning = (
        "/Users/me/env/lib/python3.12/site-packages/torch/utils/data/dataloader.py:683: UserWarning: 'pin_memory' "
        "argument is set as true but not supported on MPS now, then device pinned memory won't be used."
    )
    for width in range(NARROWEST + 6, 110, 6):
        wrapped = "\n".join(textwrap.wrap(warning, width, break_long_words=False))
        assert [one.id for one in recognise(lines(wrapped), join(lines(wrapped)))] == ["pin-memory"], width


def test_a_paragraph_may_be_longer_than_what_one_width_must_explain() -> None:
    words = " ".join(f"word{number:03d}" for number in range(200))
    wrapped = textwrap.wrap(words, 70)
    assert len(wrapped) > MOST_JOINED
    assert texts(rejoin(lines("\n".join(wrapped)))) == [words]
