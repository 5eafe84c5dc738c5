"""Messages are recognised as they are, wrapped, and without any blanks; the most exact row of the same words stays."""

from __future__ import annotations

import pytest

from mpsdoctor.facts import Message
from mpsdoctor.probes.intake import text
from mpsdoctor.probes.intake.machine import recognise, spans
from mpsdoctor.probes.intake.wrapping import join

FLOAT64 = "TypeError: Cannot convert a MPS Tensor to float64 dtype as the MPS framework doesn't support float64."
PLACEHOLDER = "RuntimeError: Placeholder storage has not been allocated on MPS device!"


def found(whole: str) -> list[Message]:
    lines = text.lines(list(enumerate(whole.split("\n"), 1)))
    return recognise(lines, join(lines))


@pytest.mark.parametrize("width", range(24, 72, 7))
def test_a_fixed_text_is_found_however_it_was_cut(width: int) -> None:
    cut = "\n".join(PLACEHOLDER[at : at + width] for at in range(0, len(PLACEHOLDER), width))
    assert [one.id for one in found(f"before\n{cut}\nbehind")] == ["placeholder-storage"]


def test_the_line_is_that_of_its_beginning() -> None:
    assert [(one.id, one.line) for one in found(f"one\ntwo\n{PLACEHOLDER}\nfour\n{FLOAT64}")] == [
        ("placeholder-storage", 3),
        ("float64-convert-mps", 5),
    ]


def test_of_one_message_three_places_are_kept() -> None:
    whole = "\n\n".join([PLACEHOLDER] * 9)
    assert [one.line for one in found(whole)] == [1, 3, 5]


def test_the_more_exact_row_of_the_same_words_stays() -> None:
    missing = "Error: The operator 'aten::isin.Tensor_Tensor_out' is not currently implemented for the MPS device."
    ids = [one.id for one in found(missing)]
    assert ids[0] == "op-isin"
    assert "mps-general" not in ids


def test_two_messages_in_one_line_are_both_kept() -> None:
    assert {one.id for one in found(f"{PLACEHOLDER} {FLOAT64}")} == {"placeholder-storage", "float64-convert-mps"}


def test_only_torchs_own_texts_date_it() -> None:
    dated = {
        one.id: (one.since, one.until) for one in found("RuntimeError: BFloat16 is not supported on MPS\nKilled: 9")
    }
    assert dated["killed"] == (None, None)
    assert dated["bf16-not-supported"][1] is not None


def test_a_very_long_line_is_shown_around_its_message() -> None:
    shown = found(f"{'x ' * 5_000}{PLACEHOLDER}{' y' * 5_000}")[0].text
    assert "Placeholder storage" in shown
    assert len(shown) <= 400


def test_where_a_message_stands_in_its_line() -> None:
    whole = f"I get {PLACEHOLDER} all the time"
    lines = text.lines([(1, whole)])
    logical = join(lines)
    ((start, end),) = spans(recognise(lines, logical), logical)[1]
    assert whole[start:end].startswith("Placeholder storage")


def test_nothing_is_found_in_nothing() -> None:
    assert found("") == []
    assert found("All is well on my M2.") == []
