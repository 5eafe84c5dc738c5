"""What `mpsdoctor check` prints: the exact text, its colours, widths and JSON, and what goes where."""

from __future__ import annotations

import json
import os
import pty
import re
import shlex
import subprocess
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path

import jsonschema
import pytest

from mpsdoctor import facts
from mpsdoctor.cli.target import gather
from mpsdoctor.registry import load_registry
from mpsdoctor.report.model import Report, make_report
from mpsdoctor.report.text import Style, format_text
from tests.conftest import RECORDINGS, ROOT, Ran
from tests.terminal import all_of

NAMES = sorted(path.name for path in RECORDINGS.iterdir() if path.is_dir())
HEALTHY, BROKEN, LIMITED = (
    "01-m1-air-8gb-macos14-uv",
    "05-m1pro-anaconda-x86_64-rosetta",
    "08-github-macos-15-arm64-runner",
)
ESCAPE = re.compile(r"\x1b\[[0-9;]*m")
# The last paragraph counts the checks; the tests of its numbers are below.
COUNTS = re.compile(r"\n  \d+ [^\n]*(?:\n  (?!mpsdoctor)[^\n]*)*")


@cache
def recorded(name: str) -> Report:
    gathered = gather(python=None, env=None, from_=None, replay=str(RECORDINGS / name))
    return make_report(gathered.facts, gathered.source, load_registry(), problems=("a problem " * 20,))


def shown(mpsdoctor: Callable[..., Ran], name: str, *options: str, **env: str) -> str:
    ran = mpsdoctor("check", "--replay", str(RECORDINGS / name), *options, env=env)
    assert ran.err == ""
    return ran.out


@pytest.mark.parametrize("name", [HEALTHY, BROKEN, LIMITED])
def test_the_text_is_exactly_that_of_the_file(name: str, mpsdoctor: Callable[..., Ran]) -> None:
    """Written anew by `mpsdoctor check --replay tests/recordings/NAME > tests/data/check_NAME.txt`."""
    expected = (ROOT / "tests" / "data" / f"check_{name}.txt").read_text(encoding="utf-8")
    assert COUNTS.sub("", shown(mpsdoctor, name)) == COUNTS.sub("", expected)


@pytest.mark.parametrize("name", NAMES)
def test_the_json_fits_its_schema_and_the_text_counts_what_it_holds(name: str, mpsdoctor: Callable[..., Ran]) -> None:
    report = json.loads(shown(mpsdoctor, name, "--format", "json"))
    schema = json.loads(Path(facts.__file__).with_name("report.schema.json").read_text())
    jsonschema.Draft202012Validator(schema).validate(report)
    counts = COUNTS.search("\n".join(line.plain for line in format_text(recorded(name), Style())))
    assert counts is not None
    text = " ".join(counts[0].split())
    outcomes = [check["outcome"] for check in report["checks"]]
    behind = sum(check["outcome"] == "skip" and check["because"] is not None for check in report["checks"])
    for number, words in [
        (outcomes.count("pass"), "passed"),
        (outcomes.count("unknown"), "not known"),
        (behind, "checks? not reached"),
        (outcomes.count("skip") - behind, "do(?:es)? not apply"),
        (len(report["diagnosis"]["causes"]), "causes?"),
    ]:
        found = re.search(rf"(\d+) {words}", text)
        assert (int(found[1]) if found else 0) == number, (words, text)


def test_without_a_terminal_there_is_no_colour_and_colour_changes_no_letter(mpsdoctor: Callable[..., Ran]) -> None:
    plain = shown(mpsdoctor, BROKEN)
    coloured = shown(mpsdoctor, BROKEN, FORCE_COLOR="1")
    assert "\x1b" not in plain
    assert coloured.count("\x1b[") > 20
    assert ESCAPE.sub("", coloured) == plain
    assert shown(mpsdoctor, BROKEN, FORCE_COLOR="1", NO_COLOR="1") == plain
    assert shown(mpsdoctor, BROKEN, FORCE_COLOR="", NO_COLOR="") == plain


def on_a_terminal(command: list[str], **env: str) -> tuple[str, str, int]:
    """Run with a terminal as stdout and another as stderr; return what each showed and the exit status."""
    ends = [pty.openpty(), pty.openpty()]
    clean = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "FORCE_COLOR", "COLUMNS", "VIRTUAL_ENV")}
    given = {**clean, "TERM": "xterm-256color", **env}
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=ends[0][1], stderr=ends[1][1], env=given)
    for _, end in ends:
        os.close(end)
    shown_there = [all_of(end).decode().replace("\r\n", "\n") for end, _ in ends]
    return shown_there[0], shown_there[1], process.wait()


def test_on_a_terminal_it_is_coloured_unless_that_is_refused(mpsdoctor: Callable[..., Ran]) -> None:
    command = [sys.executable, "-m", "mpsdoctor", "check", "--replay", str(RECORDINGS / BROKEN)]
    plain = shown(mpsdoctor, BROKEN)
    out, err, code = on_a_terminal(command)
    assert (ESCAPE.sub("", out), err, code) == (plain, "", 1)
    assert "\x1b[" in out
    assert on_a_terminal(command, NO_COLOR="1")[0] == plain
    assert on_a_terminal(command, TERM="dumb")[0] == plain


def test_progress_shows_on_stderr_and_only_where_somebody_watches(
    tmp_path: Path, mpsdoctor: Callable[..., Ran]
) -> None:
    slow = tmp_path / "python"
    slow.write_text(f'#!/bin/sh\nsleep 1.3\nexec {shlex.quote(sys.executable)} "$@"\n')
    slow.chmod(0o755)
    arguments = ["check", "--python", str(slow), "--no-import", "--format", "json"]
    out, err, _ = on_a_terminal([sys.executable, "-m", "mpsdoctor", *arguments])
    assert json.loads(out)["facts"]["interpreter"]["version"] == sys.version.split()[0]
    assert "asking the machine" in err
    assert err.endswith("\r")  # and it is wiped out again
    assert mpsdoctor(*arguments).err == ""


@pytest.mark.parametrize("width", [40, 57, 80, 100])
@pytest.mark.parametrize("name", NAMES)
def test_no_line_is_wider_than_the_terminal(name: str, width: int) -> None:
    for line in format_text(recorded(name), Style(width, verbose=True, home="/Users/user")):
        text = line.plain
        to_copy = line.no_wrap or text.startswith("  mpsdoctor explain ")
        assert len(text) <= width or to_copy, text


@pytest.mark.parametrize(
    ("columns", "width"),
    [("40", 40), ("200", 100), ("10", 40), ("0", 80), ("-5", 80), ("x", 80), ("", 80), ("99999", 80), ("٨٠", 80)],
)
def test_columns_are_respected_within_reason(columns: str, width: int, mpsdoctor: Callable[..., Ran]) -> None:
    lines = shown(mpsdoctor, HEALTHY, "-v", COLUMNS=columns).splitlines()
    assert all(line == line.rstrip() for line in lines)
    assert width - 15 < max(map(len, lines)) <= width


@pytest.mark.parametrize(
    ("name", "fail_on", "code"),
    [
        (HEALTHY, "warning", 0),
        (LIMITED, "error", 0),
        (LIMITED, "warning", 1),
        (BROKEN, "error", 1),
        (BROKEN, "never", 0),
    ],
)
def test_fail_on_sets_the_exit_status_and_nothing_else(
    name: str, fail_on: str, code: int, mpsdoctor: Callable[..., Ran]
) -> None:
    ran = mpsdoctor("check", "--replay", str(RECORDINGS / name), "--fail-on", fail_on)
    assert (ran.code, ran.err) == (code, "")
    assert ran.out == shown(mpsdoctor, name)


@pytest.mark.parametrize("options", [[], ["-v"], ["--format", "json"], ["--format", "markdown"]], ids=" ".join)
def test_no_secret_of_a_log_is_shown(options: list[str], mpsdoctor: Callable[..., Ran]) -> None:
    log = (
        "macOS 14.5 arm64, Python 3.12\nLooking in indexes: https://me:hunter22@download.pytorch.org/whl/cu118\n"
        "PIP_EXTRA_INDEX_URL=https://pypi.example.com/t/ab-hunter22-0123/simple?token=hunter22\nHF_TOKEN=hunter22\n"
        "ERROR: Could not find a version that satisfies the requirement torch (from versions: none)\n"
    )
    ran = mpsdoctor("check", "--from", "-", *options, stdin=log.encode())
    assert "download.pytorch.org" in ran.out
    assert "hunter22" not in ran.out + ran.err


def test_selected_checks_alone_are_shown(mpsdoctor: Callable[..., Ran]) -> None:
    report = json.loads(shown(mpsdoctor, BROKEN, "--select", "PY,hardware", "--format", "json"))
    families = {check["family"] for check in report["checks"]}
    assert families == {"python", "hardware"}
    ignored = json.loads(shown(mpsdoctor, BROKEN, "--ignore", "PY101=we know", "--format", "json"))
    found = next(check for check in ignored["checks"] if check["id"] == "PY101")
    assert (found["outcome"], found["detail"]) == ("skip", "ignored: we know")
