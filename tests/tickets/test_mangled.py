"""However a ticket is damaged on its way, nothing crashes, and no certain answer becomes another certain answer."""

from __future__ import annotations

from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.tickets.answers import FOLDER, Ticket, answer, tickets
from tests.tickets.mangle import MANGLES, mangled

ALL = (*tickets(), *tickets(FOLDER / "given"))
HARMLESS = ("quote", "indent", "crlf", "fence")  # nothing gets lost by these
SEEDS = st.integers(0, 1 << 20)


@cache
def causes(ticket: Ticket) -> frozenset[str]:
    """The causes that the whole ticket shows. A damaged one may have lost the first, and not gain another."""
    shown = frozenset(one.cause for one in answer(ticket.text).diagnosis.causes)
    # Without the lines that speak of the Mac around it, a Linux is only a Linux.
    return shown | {"not-a-mac"} if "linux-container-on-mac" in shown else shown


@cache
def certain() -> tuple[Ticket, ...]:
    return tuple(ticket for ticket in ALL if answer(ticket.text).certain)


def assert_no_other_certainty(ticket: Ticket, names: tuple[str, ...], seed: int) -> None:
    got = answer(mangled(ticket.text, names, seed))
    assert got.crashed == []
    assert got.certain is None or got.certain in causes(ticket), (ticket.name, ticket.cause, got.certain)


@pytest.mark.parametrize("name", MANGLES)
def test_one_damage_never_makes_another_certainty(name: str) -> None:
    for seed, ticket in enumerate(certain()):
        assert_no_other_certainty(ticket, (name,), seed)


@settings(max_examples=1200, deadline=None)
@given(st.data(), st.lists(st.sampled_from(sorted(MANGLES)), min_size=2, max_size=4), SEEDS)
def test_several_damages_never_make_another_certainty(data: st.DataObject, names: list[str], seed: int) -> None:
    assert_no_other_certainty(data.draw(st.sampled_from(certain())), tuple(names), seed)


@pytest.mark.parametrize("name", HARMLESS)
def test_what_loses_nothing_changes_no_answer(name: str) -> None:
    changed = {
        ticket.name: got.cause
        for seed, ticket in enumerate(ALL)
        if (got := answer(mangled(ticket.text, (name,), seed))).cause != answer(ticket.text).cause
    }
    assert changed == {}


@pytest.mark.parametrize(("name", "enough"), [("wrap_words", 0.95), ("wrap_hard", 0.93)])
def test_wrapped_lines_are_mostly_put_together(name: str, enough: float) -> None:
    same = [answer(mangled(one.text, (name,), seed)).cause == answer(one.text).cause for seed, one in enumerate(ALL)]
    assert sum(same) / len(same) >= enough


@settings(max_examples=300, deadline=None)
@given(st.lists(st.sampled_from([line for ticket in ALL for line in ticket.text.split("\n")]), max_size=30))
def test_lines_of_all_tickets_together_never_crash(lines: list[str]) -> None:
    assert answer("\n".join(lines)).crashed == []


@settings(max_examples=200, deadline=None)
@given(st.one_of(st.binary(max_size=400), st.text(max_size=400).map(lambda text: text.encode("utf-8", "replace"))))
def test_any_bytes_are_read(data: bytes) -> None:
    assert answer(data).crashed == []
