"""A newer torch without MPS where an older one had it: each generation of torch needs a newer macOS."""

from __future__ import annotations

import pytest

from tests.tickets.answers import answer

BOTH = "torch {}: torch.backends.mps.is_available() -> {}; torch {}: torch.backends.mps.is_available() -> {}"


def first(text: str) -> tuple[str | None, str | None]:
    causes = answer(text).diagnosis.causes
    return (causes[0].cause, causes[0].confidence) if causes else (None, None)


@pytest.mark.parametrize(
    "order", [("2.6.0", False, "2.4.0", True), ("2.4.0", True, "2.9.1", False), ("2.2.2", True, "2.5.1", False)]
)
def test_a_raised_floor_takes_mps_away(order: tuple[object, ...]) -> None:
    got = answer(f"M1\n{BOTH.format(*order)}")
    assert first(f"M1\n{BOTH.format(*order)}") == ("macos-too-old-for-torch", "possible")
    assert "the output of sw_vers" in got.diagnosis.ask


@pytest.mark.parametrize(
    "text",
    [
        f"M1, macOS 15.1\n{BOTH.format('2.6.0', False, '2.4.0', True)}",  # this macOS is new enough
        f"M1\n{BOTH.format('2.7.0', False, '2.6.0', True)}",  # one floor for both
        f"M1\n{BOTH.format('2.4.0', False, '2.6.0', True)}",  # the newer one has it
        f"M1\n{BOTH.format('2.4.0', True, '2.6.0', True)}",
        "M1\ntorch 2.6.0: torch.backends.mps.is_available() -> False",
        "After upgrading torch it is much better.",
    ],
)
def test_without_a_raised_floor_it_is_something_else(text: str) -> None:
    assert first(text)[0] != "macos-too-old-for-torch"


@pytest.mark.parametrize(
    "story",
    [
        "After upgrading torch from 2.4 to 2.6 mps is not available any more on my M1.",
        "I updated pytorch and now the GPU is not available, M1",
        "我把 torch 升级之后 mps 不可用了",
    ],
)
def test_the_story_of_an_upgrade(story: str) -> None:
    assert first(story) == ("macos-too-old-for-torch", "possible")
