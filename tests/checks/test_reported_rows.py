"""Every row of the message table makes a check speak, and no message proves more than its own words."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from mpsdoctor import Evidence
from mpsdoctor.knowledge import messages as table
from tests.tickets.answers import Answer, answer

SAMPLES: dict[str, list[str]] = json.loads(
    (Path(__file__).parents[1] / "knowledge" / "data" / "message_samples.json").read_text("utf-8")
)["samples"]
# Rows that no check reads, and why.
SILENT = {
    "has-mps-deprecated": "a notice of an old name; both names work",
    "unexpected-macos": "torch tells which version it looks up; nothing is wrong",
    "libcxx-terminating": "the line before it tells why",
    "leaked-semaphores": "comes after any hard end of a process",
    "metal-toolchain": "Xcode's, and torch's wheels do not need it",
    "developer-path": "Xcode's, and torch's wheels do not need it",
}
# Rows whose words a more exact row, or the same message in other words, always covers with the same first cause.
COVERED = {"uv-local-version": "uv-no-wheel-for-platform", "dyld-python-gone": "python-framework-gone"}
# Words that a message without any architecture must not be taken to prove.
X86 = ("x86-python-under-rosetta", "x86-python-hardware-unknown")
ROWS = pytest.mark.parametrize("row", table.messages(), ids=lambda row: row.id)


def samples(row: table.Message) -> list[str]:
    return SAMPLES[row.id] if row.match == "regex" else [f"RuntimeError: x{row.pattern}y"]


def evidence(got: Answer) -> set[str]:
    shown = [one for finding in got.findings for one in finding.verdict.evidence]
    return {one.fact.removeprefix("messages.") for one in shown if isinstance(one, Evidence)}


@ROWS
def test_a_check_speaks_of_every_row(row: table.Message) -> None:
    for sample in samples(row):
        got = answer(sample)
        seen = {message.id for message in got.facts.messages.items or ()}
        if row.id in SILENT:
            assert row.causes == ()
            assert got.cause == "insufficient-information"
            continue
        expected = set(row.causes) | ({"torch-not-installed"} if row.causes == ("wrong-interpreter",) else set())
        assert got.cause in expected, sample
        assert COVERED.get(row.id, row.id) in seen
        assert COVERED.get(row.id, row.id) in evidence(got)


@ROWS
def test_a_row_never_hides_another_with_other_causes(row: table.Message) -> None:
    """Where rows match the same words the first of the table is kept: it must not be the more general one."""
    for sample in samples(row):
        kept = [message.id for message in answer(sample).facts.messages.items or ()]
        hiding = [one for one in map(table.message, kept) if one is not None]
        assert row.id in kept or any(one.causes[:1] == row.causes[:1] for one in hiding), (sample, kept)


def test_the_lists_of_exceptions_hold_no_stale_row() -> None:
    known = {row.id for row in table.messages()}
    assert set(SILENT) == {row.id for row in table.messages() if not row.causes}
    assert set(COVERED) | set(COVERED.values()) <= known


def names_x86(text: str) -> bool:
    files = [word for word in text.split() if word.endswith(".whl")]
    for file in files:  # the name of a refused file says what the file is for
        text = text.replace(file, "")
    return "x86_64" in text


@pytest.mark.parametrize("chip", ["Apple M3", "Intel(R) Core(TM) i7", None])
@ROWS
def test_no_message_proves_an_architecture_that_it_does_not_name(row: table.Message, chip: str | None) -> None:
    for sample in samples(row):
        if names_x86(sample) or row.id == "pip-ends-at-2.2.2":  # the index proves what such a list means
            continue
        got = answer(f"Chip: {chip}\n{sample}" if chip else sample)
        assert got.facts.interpreter.machine != "x86_64"
        for cause in got.diagnosis.causes:
            assert cause.cause not in X86 or cause.confidence == "possible", (sample, cause)


REFUSED = "ERROR: torch-2.8.0-cp312-none-macosx_{}.whl is not a supported wheel on this platform."


@pytest.mark.parametrize("tag", ["11_0_arm64", "10_9_x86_64", "12_0_universal2"])
def test_a_refused_file_proves_no_python(tag: str) -> None:
    got = answer(f"Chip: Apple M3\nmacOS: 15.1\n{REFUSED.format(tag)}")
    first = got.diagnosis.causes[0]
    assert first.confidence == "possible"
    assert got.diagnosis.ask
    assert got.facts.interpreter.machine is None


@pytest.mark.parametrize(
    ("facts", "cause"),
    [
        ("Python architecture: x86_64", "x86-python-under-rosetta"),
        ("Python platform: macOS-14.5-x86_64-i386-64bit", "x86-python-under-rosetta"),
        ("Python: 3.13 (arm64)", "python-version-no-wheel"),
    ],
)
def test_other_facts_decide_about_a_refused_file(facts: str, cause: str) -> None:
    got = answer(f"Chip: Apple M3\n{facts}\n{REFUSED.format('11_0_arm64')}")
    assert (got.cause, got.diagnosis.causes[0].confidence) == (cause, "certain")


def test_a_file_for_intel_is_not_the_pythons_fault() -> None:
    arm64 = answer(f"Chip: Apple M3\nPython: 3.12.4 (arm64)\n{REFUSED.format('10_9_x86_64')}")
    assert arm64.cause == "arch-mismatch-binaries"
    assert arm64.diagnosis.causes[0].remedy
    assert answer(f"Chip: Apple M3\nPython: 3.12.4\n{REFUSED.format('10_9_x86_64')}").certain is None


def test_what_the_loader_needs_proves_the_process() -> None:
    for need in ("x86_64", "x86_64h"):
        got = answer(f"Chip: Apple M1\ndlopen(_C.so): incompatible architecture (have (arm64), need ({need}))")
        assert got.facts.interpreter.machine == "x86_64"
        assert got.certain == "x86-python-under-rosetta"


def test_a_graphics_card_with_its_own_memory_is_an_intel_macs() -> None:
    assert answer("RuntimeError: MPS backend is only supported on devices with unified memory").cause == "intel-mac"
