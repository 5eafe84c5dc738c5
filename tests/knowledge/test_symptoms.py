"""Symptoms as people tell them, in their languages; a denial is none."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mpsdoctor.knowledge import causes, symptoms

ROWS = pytest.mark.parametrize("row", symptoms.symptoms(), ids=lambda row: row.id)
TOLD = {
    "black-image": [
        "The pictures come out all black.",
        "I only get black images",
        "生成的图片是全黑的",
        "真っ黒な画像しか出ません",
        "Es kommen nur schwarze Bilder heraus.",
    ],
    "nan": ["The loss is NaN after the first step", "loss 变成 nan 了"],
    "slower-on-mps": [
        "the cpu is faster than mps",
        "cpu 比 mps 快",
        "Why is the fp16 performance with MPS worse than with the CPU?",
        "mps should be faster than the cpu, but it is slower",
        "mps is not faster than the cpu",
        "mps is much slower than the cpu",
        "用 mps 比 cpu 还慢",
        "MPS ist langsamer als die CPU",
    ],
    "crash": ["Python crashes as soon as the model is loaded", "一运行就崩溃"],
    "gibberish": ["The model answers with gibberish only", "输出全是乱码"],
}
DENIED = {
    "crash": ["There is no crash.", "It does not crash any more", "没有崩溃"],
    "black-image": ["No black images with the cpu."],
    "nan": [
        "my loss has no NaN",
        "The loss is fine, no NaN",
        "loss: 0.43, all fine, no NaN, no errors.",
        "The loss decreases and is never NaN",
        "loss never becomes nan",
        "gradients without NaN",
    ],
    "wrong-results": ["It runs on mps. My loss has no NaN", "mps is fine, the loss shows no NaN"],
    "slower-on-mps": [
        "mps is 3 times faster than the cpu",
        "The GPU is faster than the CPU here",
        "mps 比 cpu 快很多",
        "MPS ist schneller als die CPU",
        "cpu is slower than mps",
    ],
}


def told(text: str) -> set[str]:
    return {row.id for row in symptoms.told(text)}


@ROWS
def test_every_row_is_well_formed(row: symptoms.Symptom) -> None:
    assert row.means.endswith(".")
    assert all(causes.cause(slug) for slug in row.causes)
    assert row.patterns or row.together or row.id == "slower-on-mps"
    assert all(name in symptoms.concepts() for names in row.together for name in names)
    assert symptoms.symptom(row.id) is row


def test_ids_are_unique_and_every_concept_is_used() -> None:
    ids = [row.id for row in symptoms.symptoms()]
    assert len(set(ids)) == len(ids)
    used = {name for row in symptoms.symptoms() for names in (*row.together, row.unless) for name in names}
    assert set(symptoms.concepts()) == used
    assert symptoms.symptom("no such") is None


@pytest.mark.parametrize(("identifier", "text"), [(one, text) for one, texts in TOLD.items() for text in texts])
def test_a_symptom_is_heard(identifier: str, text: str) -> None:
    assert identifier in told(text)


@pytest.mark.parametrize(("identifier", "text"), [(one, text) for one, texts in DENIED.items() for text in texts])
def test_a_denied_symptom_is_none(identifier: str, text: str) -> None:
    assert identifier not in told(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Everything works on my M2, thank you!",
        "OS: macOS 15.1 (arm64)",
        "I followed the instructions of the README and installed the requirements.",
        "How long does the first epoch usually take?",
        "请问这个怎么解决？谢谢大家",
    ],
)
def test_nothing_is_made_up(text: str) -> None:
    assert told(text) == set()


def test_a_story_may_go_on_in_the_next_line_and_not_only_there() -> None:
    first, second = "I run it on mps.", "It is much slower than on the cpu."
    assert "slower-on-mps" in {row.id for row in symptoms.told(first, second)}
    assert {row.id for row in symptoms.told("A line of something else", "The pictures are black")} == set()


@pytest.mark.parametrize(
    "text", ["It does not crash on the cpu but crashes on mps", "No crash at first, then it crashes"]
)
def test_a_denial_covers_one_place_alone(text: str) -> None:
    assert "crash" in told(text)


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=200))
def test_any_text_is_read(text: str) -> None:
    assert told(text) <= {row.id for row in symptoms.symptoms()}
