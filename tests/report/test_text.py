"""The answer at a terminal: one cause and one remedy first; what was expected, ignored and noticed in a line each."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from mpsdoctor.cli.target import gather
from mpsdoctor.registry import load_registry
from mpsdoctor.report.html import format_html
from mpsdoctor.report.layout import link
from mpsdoctor.report.markdown import format_markdown
from mpsdoctor.report.model import make_report
from mpsdoctor.report.program import started_as
from mpsdoctor.verdict import CRASH, FAIL, PASS, SKIP, UNKNOWN, WARN
from tests.conftest import RECORDINGS, ROOT, Ran
from tests.report.conftest import findings, made

HEALTHY, SANDBOX = str(RECORDINGS / "01-m1-air-8gb-macos14-uv"), str(RECORDINGS / "11-m3-macos26-built-not-available")
# A fault of the program on a release that has a known fault of its own, which this user did not meet.
TWO_CAUSES = (
    b"PyTorch version: 2.5.0\nOS: macOS 15.3 (arm64)\nPython platform: macOS-15.3-arm64-arm-64bit\nCPU: Apple M4 Pro\n"
    b"TypeError: Cannot convert a MPS Tensor to float64 dtype as the MPS framework doesn't support float64.\n"
)
Run = Callable[..., Ran]


def words(text: str) -> str:
    return " ".join(text.split())


def test_one_cause_is_told_in_full_and_the_others_in_a_line(mpsdoctor: Run) -> None:
    ran = mpsdoctor("check", "--from", "-", stdin=TWO_CAUSES)
    assert (ran.out.count("How we know"), ran.out.count("What to do"), ran.out.count("Also noticed")) == (1, 1, 1)
    assert re.search(r"^✗ .*float64.* PR101$", ran.out, re.MULTILINE)
    assert re.search(r"Also noticed .* \(TO104\)", words(ran.out))
    assert ran.out.index("What to do") < ran.out.index("Also noticed") < ran.out.index("chain")
    assert "-v shows all causes in full" in words(ran.out)


def test_with_v_every_cause_is_told_in_full(mpsdoctor: Run) -> None:
    out = mpsdoctor("check", "--from", "-", "-v", stdin=TWO_CAUSES).out
    assert out.count("How we know") >= 2
    assert "Also noticed" not in out
    assert "shows all causes" not in out


def test_what_was_ignored_is_told_with_its_reason(mpsdoctor: Run) -> None:
    ran = mpsdoctor("check", "--replay", SANDBOX, "--ignore", "MP102=the sandbox is meant, here", "--ignore", "TO")
    assert "ignored: MP102 (the sandbox is meant, here)" in words(ran.out)
    assert re.search(r"ignored: TO\d+, .* and \d+ more \(no reason was given\)", words(ran.out))
    assert "TO105" in words(mpsdoctor("check", "--replay", SANDBOX, "--ignore", "TO", "-v").out).split("ignored: ")[1]
    assert "ignored" not in mpsdoctor("check", "--replay", SANDBOX).out


@pytest.mark.parametrize(
    ("recording", "expect", "said"),
    [
        (SANDBOX, "mps", "✗ --expect mps is not met: the GPU was expected to be usable, and is not."),
        (HEALTHY, "mps", None),
        (SANDBOX, "any", None),
        (SANDBOX, "cpu", None),
    ],
)
def test_an_expectation_that_is_not_met_is_one_line(
    recording: str, expect: str, said: str | None, mpsdoctor: Run
) -> None:
    ran = mpsdoctor("check", "--replay", recording, "--expect", expect)
    lines = [line.strip() for line in ran.out.splitlines() if "--expect" in line]
    assert lines == ([said] if said else [])
    assert ran.code == 1 or said is None


def test_an_expectation_of_which_nothing_is_known_is_not_called_wrong(mpsdoctor: Run) -> None:
    ran = mpsdoctor("check", "--from", "-", "--expect", "mps", stdin=b"OS: macOS 15.3 (arm64)\nCPU: Apple M4 Pro\n")
    assert ran.code == 1
    assert "expected to be usable, and nothing shows that it is." in words(ran.out)


def test_a_gpu_that_is_usable_is_never_said_to_be_not(mpsdoctor: Run) -> None:
    replay = str(RECORDINGS / "08-github-macos-15-arm64-runner")
    ran = mpsdoctor("check", "--replay", replay, "--expect", "mps", "--fail-on", "warning")
    assert (ran.code, "--expect" in ran.out) == (1, False)


def test_a_link_shows_its_worst_check_and_doubts_nothing_behind_a_gpu_that_works() -> None:
    assert [link({PASS, other}, True) for other in (FAIL, CRASH, WARN, SKIP)] == [FAIL, CRASH, WARN, PASS]
    assert [link({PASS, UNKNOWN}, usable) for usable in (True, False, None)] == [PASS, UNKNOWN, UNKNOWN]
    assert [link({UNKNOWN, SKIP}, True), link({SKIP}, True)] == [UNKNOWN, SKIP]


@pytest.mark.parametrize(
    ("script", "interpreter", "name"),
    [
        ("/opt/env/bin/mpsdoctor", "/opt/env/bin/python3", "mpsdoctor"),
        ("/x/mpsdoctor/__main__.py", "python3", "mpsdoctor"),
        ("", "", "mpsdoctor"),
        ("mpsdoctor.pyz", "python3.12", "python3.12 mpsdoctor.pyz"),
        ("./my tools/doctor.pyz", "/usr/bin/python3", "/usr/bin/python3 './my tools/doctor.pyz'"),
    ],
)
def test_a_hint_names_the_program_as_it_was_started(script: str, interpreter: str, name: str) -> None:
    assert started_as(script, interpreter) == name


def test_markdown_and_html_fold_the_other_causes_as_the_text_does() -> None:
    rows = findings(3)
    for number, row in enumerate(rows):
        row["detail"], row["remedies"][0]["text"] = f"summary-{number}", f"remedy-{number}"
    document = made(rows)
    markdown, page = format_markdown(document), format_html(document)
    first, _, rest = markdown.partition("**Also noticed**")
    assert re.findall(r"remedy-\d", first) == ["remedy-0"]
    assert re.findall(r"summary-\d", rest.partition("<details>")[0]) == ["summary-1", "summary-2"]
    assert "remedy-1" in rest.partition("<details>")[2]
    open_part = re.sub(r"<details>.*?</details>", "", page, flags=re.DOTALL)
    assert set(re.findall(r"remedy-\d", open_part)) == {"remedy-0"}
    assert page.count("<summary>Also noticed: summary-") == 2


@pytest.mark.parametrize("path", sorted((ROOT / "tests" / "tickets").glob("*.txt")), ids=lambda path: path.stem)
def test_a_cause_never_explains_that_nothing_decides(path: Path) -> None:
    gathered = gather(python=None, env=None, from_=str(path), replay=None)
    report = make_report(gathered.facts, gathered.source, load_registry())
    last = {finding.id for finding in report.findings if finding.check.cause == "insufficient-information"}
    assert last
    assert [cause for cause in report.diagnosis.causes if last & set(cause.consequences)] == []


def test_a_machine_that_is_no_mac_is_not_told_off(mpsdoctor: Run) -> None:
    ran = mpsdoctor("check", "--replay", str(RECORDINGS / "09-docker-linux-on-mac"))
    assert ran.code == 0
    assert re.search(r"^· This is Linux", ran.out, re.MULTILINE)
    assert not re.search(r"^[✗!]", ran.out, re.MULTILINE)


def test_with_v_every_check_is_there_and_what_was_left_out_is_no_wall_of_text(mpsdoctor: Run) -> None:
    out = mpsdoctor("check", "--replay", HEALTHY, "-v").out
    ids = [check.id for check in load_registry().checks]
    assert [id_ for id_ in ids if not re.search(rf"\b{id_}\b", out)] == []
    assert out.count("no such message was reported") == 1
    assert len(out.splitlines()) < 70
