"""What differs between two reports, the worst first."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from mpsdoctor.report.diff import BETTER, OTHER, WORSE, compare, format_diff
from tests.conftest import RECORDINGS, Ran
from tests.report.conftest import NAMES, findings, made

HEALTHY, BROKEN = "01-m1-air-8gb-macos14-uv", "05-m1pro-anaconda-x86_64-rosetta"
Get = Callable[[str], dict[str, Any]]


@pytest.mark.parametrize("name", NAMES)
def test_a_report_does_not_differ_from_itself(name: str, recorded: Get) -> None:
    assert compare(recorded(name), {**recorded(name), "created": "later", "seconds": 9}) == []


def test_a_repair_is_better_and_its_reverse_worse(recorded: Get) -> None:
    better = compare(recorded(BROKEN), recorded(HEALTHY))
    worse = compare(recorded(HEALTHY), recorded(BROKEN))
    assert (better[0].name, better[0].before, better[0].after) == ("verdict", "broken", "healthy")
    assert (worse[0].direction, worse[0].after) == (WORSE, "broken")
    causes = {d.name: d.direction for d in better if d.kind == "cause"}
    assert causes["x86-python-under-rosetta"] == BETTER
    checks = {d.name: (d.before, d.after, d.direction) for d in better if d.kind == "check"}
    assert checks["PY101"] == ("fail", "pass", BETTER)
    assert checks["CO101"] == ("fail", "skip", OTHER)  # no conda there: nothing shows that its packages are better
    assert {d.name: d.after for d in better if d.kind == "fact"}["interpreter.machine"] == "arm64"


def test_what_became_worse_comes_before_everything_else(recorded: Get) -> None:
    for one in NAMES:
        for other in NAMES:
            directions = [d.direction for d in compare(recorded(one), recorded(other))]
            assert directions == sorted(directions, key=[WORSE, BETTER, OTHER].index)


def test_packages_are_compared_by_their_normal_names() -> None:
    old, new = made(findings(1)), made(findings(1))
    old["facts"]["packages"] = {"distributions": [{"name": "My.Pkg", "version": "1"}, {"name": "gone", "version": "2"}]}
    new["facts"]["packages"] = {"distributions": [{"name": "my-pkg", "version": "3"}, {"name": "new"}]}
    found = [(d.name, d.before, d.after) for d in compare(old, new)]
    assert found == [("gone", "2", "-"), ("my-pkg", "1", "3"), ("new", "-", "?")]
    del new["facts"]["packages"]
    assert compare(old, new) == []  # not known is no difference


def test_a_long_list_is_shortened_and_nothing_worse_is_ever_hidden() -> None:
    old, new = made(findings(30, "pass"), "healthy"), made(findings(30))
    old["facts"]["packages"] = {"distributions": [{"name": f"p{n}", "version": "1"} for n in range(40)]}
    new["facts"]["packages"] = {"distributions": []}
    text = "\n".join(line.plain for line in format_diff(("a", "b"), (old, new), 80, False))
    assert text.count("pass → fail") == 30
    assert "and 28 more facts and packages" in text
    assert max(len(line) for line in text.splitlines()) <= 80
    assert "more facts" not in "\n".join(line.plain for line in format_diff(("a", "b"), (old, new), 80, True))


def test_facts_are_told_in_words_and_those_that_checks_rest_on_first(recorded: Get) -> None:
    reports = (recorded(BROKEN), recorded(HEALTHY))
    text = "\n".join(line.plain for line in format_diff(("a", "b"), reports, 100, True))
    facts = text.split("\nfacts ")[1].split("\npackages ")[0]
    assert not re.search(
        r"\b(?:host|interpreter|torch|environment|conda)\.\w|: (?:True|False) →|→ (?:True|False)$", facts
    )
    assert "macOS: 14.5 → 14.7.2" in facts
    assert "memory: 16 GB → 8 GB" in facts
    order = [
        facts.index(part) for part in ("macOS: 14.5", "Python's architecture: x86_64 → arm64", "host kernel release")
    ]
    assert order == sorted(order)
    names = [d.name for d in compare(*reports) if d.kind == "fact"]
    assert "interpreter.machine" in names  # the JSON keeps the names of the facts


def test_the_command(mpsdoctor: Callable[..., Ran], recorded: Get, tmp_path: Path) -> None:
    for name, path in ((BROKEN, "a.json"), (HEALTHY, "b.json")):
        (tmp_path / path).write_text(json.dumps(recorded(name)))
    ran = mpsdoctor("diff", "a.json", "b.json")
    lines = ran.out.splitlines()
    assert (ran.code, ran.err) == (1, "")
    assert lines[0].startswith("before    a.json  ✗ This Python runs as x86_64 under Rosetta")
    assert any(line.startswith("better    verdict: broken → healthy") for line in lines)
    assert mpsdoctor("diff", "a.json", "a.json").code == 0
    data = mpsdoctor("diff", "-", "b.json", "--format", "json", stdin=(tmp_path / "a.json").read_bytes()).json
    assert data["schema"] == "mpsdoctor.diff/1"
    assert data["differences"][0]["kind"] == "verdict"
    assert mpsdoctor("diff", "-", "-").code == 2
    assert mpsdoctor("diff", "a.json", "none.json").code == 2


def test_a_pipe_is_read_as_a_file_is(tmp_path: Path, recorded: Get) -> None:
    for name, path in ((BROKEN, "a.json"), (HEALTHY, "b.json")):
        (tmp_path / path).write_text(json.dumps(recorded(name)))

    def run(*arguments: str) -> tuple[int, list[Any]]:
        line = f"{shlex.quote(sys.executable)} -m mpsdoctor {' '.join(arguments)}"
        done = subprocess.run(
            ["bash", "-c", line], cwd=tmp_path, capture_output=True, text=True, check=False, timeout=60
        )
        assert done.stderr == ""
        return done.returncode, json.loads(done.stdout)["differences"]

    by_name = run("diff --format json", "a.json", "b.json")
    assert len(by_name[1]) > 20
    assert run("diff --format json", "<(sleep 0.3; cat a.json)", "<(cat b.json)") == by_name
    assert run("diff --format json", "a.json", "/dev/stdin", "< b.json") == by_name
    assert run("diff --format json", "a.json", "/dev/fd/0", "< <(cat b.json)") == by_name


@pytest.mark.parametrize(("place", "says"), [(".", "so it is no recording"), ("/dev/null", "no file that can be read")])
def test_what_is_neither_a_file_nor_a_pipe_is_refused_in_a_line(
    place: str, says: str, mpsdoctor: Callable[..., Ran]
) -> None:
    ran = mpsdoctor("diff", place, place)
    assert (ran.code, ran.out, ran.err.count("\n"), says in ran.err) == (2, "", 1, True)


def test_recordings_can_be_compared_as_they_are(mpsdoctor: Callable[..., Ran], tmp_path: Path) -> None:
    before, after = RECORDINGS / "05-m1pro-anaconda-x86_64-rosetta", RECORDINGS / "03-m4max-macos26"
    done = mpsdoctor("diff", str(before), str(after))
    assert (done.code, done.err) == (1, "")
    assert "x86-python-under-rosetta" in done.out
    assert mpsdoctor("diff", str(after), str(after)).code == 0
    nothing = mpsdoctor("diff", str(after), str(tmp_path))
    assert (nothing.code, nothing.err.count("\n")) == (2, 1)
