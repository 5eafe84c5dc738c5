"""Public tickets in our own words, each with its right cause: every cause that a text can show is among them."""

from __future__ import annotations

import pytest

from mpsdoctor.knowledge import causes
from tests.tickets.answers import FOLDER, Ticket, answer, tickets

# What only a live run finds: torch on disk that does not import without a known message, a training run that fails.
NEEDS_THE_MACHINE = {"torch-import-fails", "gpu-training-fails"}


@pytest.mark.parametrize("ticket", tickets(), ids=lambda ticket: ticket.name)
def test_the_right_cause_comes_first(ticket: Ticket) -> None:
    got = answer(ticket.text)
    assert got.crashed == []
    assert got.cause in ticket.right, [(one.cause, one.confidence) for one in got.diagnosis.causes]


def test_every_cause_that_a_text_can_show_has_a_ticket() -> None:
    shown = {ticket.cause for ticket in tickets()}
    assert {one.slug for one in causes.causes()} - shown == NEEDS_THE_MACHINE


def test_labels_and_texts_belong_together() -> None:
    assert {ticket.name for ticket in tickets()} == {path.stem for path in FOLDER.glob("*.txt")}
    known = {one.slug for one in causes.causes()}
    for ticket in tickets():
        assert ticket.right <= known, ticket.name
        assert ticket.source, ticket.name


def test_every_reported_line_stands_where_it_is_said_to() -> None:
    for ticket in tickets():
        count = ticket.text.count("\n") + 1
        for message in answer(ticket.text).facts.messages.items or ():
            assert message.line is None or 1 <= message.line <= count, (ticket.name, message.id)


@pytest.mark.parametrize("ticket", tickets(), ids=lambda ticket: ticket.name)
def test_an_answer_that_is_not_certain_asks_or_has_something_to_do(ticket: Ticket) -> None:
    diagnosis = answer(ticket.text).diagnosis
    first = diagnosis.causes[0]
    assert first.remedy or diagnosis.ask
    if first.cause in ("x86-python-hardware-unknown", "insufficient-information"):
        assert diagnosis.ask
