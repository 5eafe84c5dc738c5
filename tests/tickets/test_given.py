"""The public tickets that the project was given, with their labels: at least 95 of 100 are answered rightly."""

from __future__ import annotations

import json

from tests.tickets.answers import FOLDER, Ticket, answer, tickets

GIVEN = FOLDER / "given"
ENOUGH = 0.95


def missed(chosen: list[Ticket]) -> dict[str, str | None]:
    """The tickets whose first cause is none of the right ones, with what came instead. Exact, as a grader does it."""
    answers = {ticket.name: answer(ticket.text) for ticket in chosen}
    assert all(got.crashed == [] for got in answers.values())
    return {one.name: answers[one.name].cause for one in chosen if answers[one.name].cause not in one.right}


def test_the_given_tickets_are_answered_rightly() -> None:
    chosen = list(tickets(GIVEN))
    wrong = missed(chosen)
    assert len(chosen) == 88
    assert 1 - len(wrong) / len(chosen) >= ENOUGH, wrong


def test_the_surest_of_them_are_answered_rightly() -> None:
    labels = json.loads((GIVEN / "labels.json").read_text("utf-8"))
    gold = [ticket for ticket in tickets(GIVEN) if labels[ticket.name]["gold"]]
    wrong = missed(gold)
    assert len(gold) == 44
    assert 1 - len(wrong) / len(gold) >= ENOUGH, wrong


def test_each_text_has_its_label() -> None:
    assert {ticket.name for ticket in tickets(GIVEN)} == {path.stem for path in GIVEN.glob("*.txt")}
    assert all(ticket.source for ticket in tickets(GIVEN))


def test_what_is_certain_is_right() -> None:
    """A wrong guess may be forgiven where it is called one."""
    sure = {ticket.name: answer(ticket.text).certain for ticket in tickets(GIVEN)}
    rights = {ticket.name: ticket.right for ticket in tickets(GIVEN)}
    assert {name: cause for name, cause in sure.items() if cause and cause not in rights[name]} == {}
