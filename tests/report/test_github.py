"""Annotations, outputs and summaries by GitHub's rules and within its limits."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mpsdoctor.report.github import (
    SUMMARY_LIMIT,
    annotation,
    format_annotations,
    format_outputs,
    format_summary,
    outputs,
)
from tests.conftest import RECORDINGS, Ran
from tests.report.conftest import HOSTILE, NAMES, findings, made
from tests.report.workflow_commands import read

MIB = 1024 * 1024


@given(title=st.text(), message=st.text() | st.sampled_from(HOSTILE))
def test_any_annotation_is_one_command_that_says_what_was_meant(title: str, message: str) -> None:
    line = annotation("error", title, message)
    (command,) = read(line)
    assert (command.name, set(command.properties) <= {"title"}) == ("error", True)
    printable = "".join(c if c.isprintable() or c == "\n" else " " for c in message)
    assert command.data.strip() == printable.strip()


@pytest.mark.parametrize("text", ["100%", "%25", "%0A", "a\r\nb", "a, b: c", "::debug::x", "a::b", "%3A%2C"])
def test_what_github_would_read_as_its_own_is_escaped(text: str) -> None:
    (command,) = read(annotation("warning", text, text) + "\n")
    assert command.data == text.replace("\r\n", " \n")
    assert command.properties["title"].replace("\ufffd", "") == text.replace("\r\n", "  ")


def test_a_long_message_is_cut_before_it_is_escaped() -> None:
    (command,) = read(annotation("error", "t", "%" * (2 * MIB)))
    assert len(command.data) == 3000
    assert set(command.data[:-2]) == {"%"}


@pytest.mark.parametrize("detail", [*HOSTILE, "x" * (2 * MIB)])
@pytest.mark.parametrize("count", [1, 10, 11, 300])
def test_at_most_ten_of_a_kind_and_the_rest_is_counted(count: int, detail: str) -> None:
    text = format_annotations(made(findings(count, detail=detail)))
    commands = read(text)
    assert len(commands) == len(text.splitlines())
    kinds = Counter(command.name for command in commands)
    assert kinds["error"] == min(count, 10)
    assert max(kinds.values()) <= 10
    if count > 10:
        assert f"{count - 10} more" in commands[-1].data
    assert len(text) < 64 * 1024 * 11


def test_the_worst_come_first_and_kinds_do_not_push_each_other_out() -> None:
    checks = findings(12, "warn") + [{**row, "id": f"F{row['id']}"} for row in findings(12, "fail")]
    commands = read(format_annotations(made(checks)))
    assert [c.name for c in commands] == ["error"] * 10 + ["warning"] * 10 + ["notice"]
    assert "4 more" in commands[-1].data


def test_a_full_list_of_notices_keeps_a_place_for_the_count() -> None:
    checks = findings(25, "warn")
    commands = read(format_annotations(made(checks, verdict="not-applicable")))
    assert [c.name for c in commands] == ["notice"] * 10
    assert "16 more" in commands[-1].data


def test_what_follows_from_a_cause_is_told_with_it_and_not_on_its_own() -> None:
    document = made([*findings(1), {**findings(1, because="XX000")[0], "id": "YY000", "detail": "the consequence"}])
    document["diagnosis"]["causes"][0]["consequences"] = ["YY000"]
    (command,) = read(format_annotations(document))
    assert "It explains: the consequence" in command.data


def test_a_healthy_mac_gets_one_notice(recorded: Callable[[str], dict[str, Any]]) -> None:
    (command,) = read(format_annotations(recorded("01-m1-air-8gb-macos14-uv")))
    assert command.name == "notice"
    assert "can use this Mac's GPU" in command.data


@pytest.mark.parametrize(
    ("policy", "kinds"), [(None, ["error"]), ("warn", ["warning"]), ("fail", ["error"]), ("ignore", [])]
)
def test_the_policy_says_what_a_virtual_machine_is(
    policy: str | None, kinds: list[str], recorded: Callable[[str], dict[str, Any]]
) -> None:
    document = recorded("07-github-macos-14-arm64-runner")
    assert [c.name for c in read(format_annotations(document, policy))] == kinds
    other = recorded("05-m1pro-anaconda-x86_64-rosetta")
    assert [c.name for c in read(format_annotations(other, policy))] == ["error"]


@pytest.mark.parametrize(
    ("name", "want"),
    [
        ("01-m1-air-8gb-macos14-uv", {"status": "healthy", "mps-usable": "true", "device": "mps", "is-vm": "false"}),
        ("08-github-macos-15-arm64-runner", {"status": "degraded", "device": "mps", "is-vm": "true"}),
        ("09-docker-linux-on-mac", {"status": "not-applicable", "device": "cpu", "macos-version": ""}),
        ("04-m1-macos13-old", {"reason": "macos-too-old-for-torch", "mps-usable": "false", "torch-version": "2.11.0"}),
    ],
)
def test_outputs_say_the_diagnosis(name: str, want: dict[str, str], recorded: Callable[[str], dict[str, Any]]) -> None:
    found = outputs(recorded(name))
    assert {key: found[key] for key in want} == want


@given(st.text() | st.sampled_from(HOSTILE))
def test_an_output_is_always_one_line(value: str) -> None:
    document = made(findings(1))
    document["facts"] = {"torch": {"version": value}, "host": {"macos_version": value}}
    lines = format_outputs(outputs(document)).split("\n")
    assert [line.split("=", 1)[0] for line in lines] == [
        "status", "mps-usable", "reason", "device", "torch-version", "macos-version", "is-vm", "",
    ]  # fmt: skip
    assert "\r" not in "".join(lines)


@pytest.mark.parametrize("used", [0, 500_000, SUMMARY_LIMIT - 100, SUMMARY_LIMIT, 3 * SUMMARY_LIMIT])
@pytest.mark.parametrize("count", [1, 300])
def test_a_step_never_writes_more_than_a_mebibyte(count: int, used: int) -> None:
    text = format_summary(made(findings(count, detail="¥" * 200_000)), used)
    assert len(text.encode()) + used <= max(SUMMARY_LIMIT, used)
    assert text == "" or "Removed before writing" in text


@pytest.mark.parametrize("name", NAMES)
def test_check_writes_where_the_runner_asks_it_to(name: str, mpsdoctor: Callable[..., Ran], tmp_path: Path) -> None:
    summary, output = tmp_path / "summary.md", tmp_path / "output"
    summary.write_text("from the step before\n")
    env = {"GITHUB_STEP_SUMMARY": str(summary), "GITHUB_OUTPUT": str(output)}
    ran = mpsdoctor("check", "--replay", str(RECORDINGS / name), "--format", "github", env=env)
    assert len(read(ran.out)) == len(ran.out.splitlines()) == 1
    assert summary.read_text().startswith("from the step before\n### ")
    assert dict(line.split("=", 1) for line in output.read_text().splitlines())["status"] in ran_verdicts()


def ran_verdicts() -> set[str]:
    return {"healthy", "degraded", "broken", "not-applicable", "undecided"}


def test_an_expectation_that_is_not_met_is_an_error(mpsdoctor: Callable[..., Ran]) -> None:
    replay = ("check", "--replay", str(RECORDINGS / "09-docker-linux-on-mac"), "--format", "github")
    assert [c.name for c in read(mpsdoctor(*replay).out)] == ["notice"]
    ran = mpsdoctor(*replay, "--expect", "mps")
    assert (ran.code, [c.name for c in read(ran.out)]) == (1, ["error", "notice"])


def test_a_summary_that_cannot_be_written_is_told_and_harms_nothing(
    mpsdoctor: Callable[..., Ran], tmp_path: Path
) -> None:
    env = {"GITHUB_STEP_SUMMARY": str(tmp_path / "no" / "folder"), "GITHUB_OUTPUT": str(tmp_path)}
    ran = mpsdoctor("check", "--replay", str(RECORDINGS / NAMES[0]), "--format", "github", env=env)
    assert ran.code == 0
    assert ran.err.count("could not be written") == 2
