"""`explain` answers for every check, cause and message, offline and in a screenful."""

from __future__ import annotations

import json
import socket
from collections.abc import Callable
from pathlib import Path

import pytest

from mpsdoctor.cli import _run
from mpsdoctor.knowledge import causes, messages
from mpsdoctor.registry import load_registry
from tests.conftest import Ran

SCREENFUL = 40  # lines
SAMPLES: dict[str, list[str]] = json.loads(
    (Path(__file__).parents[1] / "knowledge" / "data" / "message_samples.json").read_text("utf-8")
)["samples"]


@pytest.fixture
def explained(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[[str], Ran]:
    """Run `explain TEXT` within this process, without a network."""
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setattr(socket, "socket", None)

    def run(text: str) -> Ran:
        code = _run(["explain", "--", text])
        return Ran(code, *capsys.readouterr())

    return run


def assert_a_screenful(ran: Ran) -> None:
    assert ran.code == 0, ran.err
    assert ran.err == ""
    assert 3 <= ran.out.count("\n") <= SCREENFUL
    assert all(line.isprintable() for line in ran.out.split("\n"))


@pytest.mark.parametrize("identifier", [check.id for check in load_registry().checks])
def test_every_check(identifier: str, explained: Callable[[str], Ran]) -> None:
    ran = explained(identifier)
    assert_a_screenful(ran)
    assert identifier in ran.out
    assert explained(identifier.lower()).out == ran.out


@pytest.mark.parametrize("slug", [one.slug for one in causes.causes()])
def test_every_cause(slug: str, explained: Callable[[str], Ran]) -> None:
    ran = explained(slug)
    assert_a_screenful(ran)
    assert ran.out.startswith(slug)
    assert "What to do" in ran.out


@pytest.mark.parametrize("row", [row for row in messages.messages() if row.causes], ids=lambda row: row.id)
def test_every_message(row: messages.Message, explained: Callable[[str], Ran]) -> None:
    for text in SAMPLES[row.id] if row.match == "regex" else [f"Error: {row.pattern}x"]:
        ran = explained(text)
        assert_a_screenful(ran)
        assert "What to do" in ran.out
        first = ran.out.split()[0]
        assert causes.cause(first) is not None, first


@pytest.mark.parametrize("text", ["no such thing at all", "XX999", "x" * 5_000, "\x1b[31m", "-"])
def test_what_nobody_knows_says_how_to_ask(text: str, mpsdoctor: Callable[..., Ran]) -> None:
    ran = mpsdoctor("explain", "--", text, stdin=b"no such thing" if text == "-" else None)
    assert ran.code == 3
    assert "\x1b[31m" not in ran.out
    assert "explain --list" in " ".join(ran.out.split())
    assert ran.out.count("\n") <= SCREENFUL
