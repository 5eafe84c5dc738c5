"""Golden plans, read by eye, and what must hold for every plan."""

from __future__ import annotations

import json
import re

import pytest

from mpsdoctor.knowledge import releases, versions
from mpsdoctor.knowledge.causes import causes
from mpsdoctor.repair.plan import Step
from mpsdoctor.repair.registry import SECTIONS, load_fixes
from mpsdoctor.repair.wanted import is_bad
from tests.fixes.golden import CASES, FOLDER, Case, all_cases, file_of, text_of

ALL = all_cases()
each = pytest.mark.parametrize("name", sorted(ALL))


def steps_of(case: Case) -> list[Step]:
    return [step for fix in case.plan().fixes for step in fix.steps]


@each
def test_the_plan_is_the_one_that_was_read(name: str) -> None:
    assert text_of(ALL[name]) == file_of(name).read_text()


def test_no_plan_was_left_behind() -> None:
    assert {path.name for path in FOLDER.iterdir()} == {file_of(name).name for name in ALL}


def test_every_environment_cause_has_a_fix_and_a_case() -> None:
    fixes = load_fixes()
    assert fixes.broken == {}
    wanted = {cause.slug for cause in causes() if cause.family == "environment"}
    assert {slug for slug in wanted if not fixes.for_cause(slug)} == set()
    shown = {cause.cause for case in CASES.values() for cause in case.diagnosis().causes}
    assert wanted - shown == {"package-without-mac-wheel"}  # shown by requirement files, tests/repair/test_pins.py


@each
def test_the_json_has_the_keys_of_the_design(name: str) -> None:
    plan = json.loads(json.dumps(ALL[name].plan().to_json()))
    assert {"target", "fixes", "manual", "refused"} <= plan.keys()
    for fix in plan["fixes"]:
        assert {"fix", "cause", "summary", "needs_admin", "reversible", "downloads_mb", "steps"} <= fix.keys()
        for step in fix["steps"]:
            assert {"title", "argv", "env", "writes", "undo"} <= step.keys()
            assert (step["argv"] is None) == ("action" in step)


@each
def test_no_plan_asks_for_rights_or_a_shell(name: str) -> None:
    for step in steps_of(ALL[name]):
        words = step.argv or ("-",)
        assert "sudo" not in words
        assert "--break-system-packages" not in words
        assert words[0].rpartition("/")[2] not in ("sh", "zsh", "env") or words[1:2] != ("-c",)
        if words[0] == "/bin/bash":  # the one script that is run was compared with its published checksum
            assert words[1].endswith("/Miniforge3-MacOSX-arm64.sh")
    assert not any(fix.needs_admin for fix in ALL[name].plan().fixes)


@each
def test_no_plan_installs_a_torch_that_is_bad_or_too_new_here(name: str) -> None:
    case = ALL[name]
    for step in steps_of(case):
        for word in step.argv or ():
            match = re.fullmatch(r"torch==(\d[\d.]*)", word)
            if match is None or case.facts.host.is_apple_silicon is False:
                continue
            release = releases.release(match[1])
            running = versions.macos(case.facts.host.macos_version)
            assert release is not None
            assert running is not None
            assert versions.macos_in(running, release.mps_floor, None)
            assert not is_bad(release.version, case.facts.host)


def test_what_a_hostile_report_says_enters_no_command() -> None:
    steps = steps_of(CASES["a hostile report"])
    words = [word for step in steps for word in step.argv or ()]
    assert "good" in words
    assert not [word for word in words if "evil" in word or word.startswith("x;") or "1.0 --pre" in word]


def test_a_plan_from_a_report_is_told_and_never_done() -> None:
    plan = CASES["x86-python-under-rosetta, conda"].plan()
    assert [fix.fix for fix in plan.fixes] == ["native"]
    assert plan.disk_free_mb is None


_NAMED = re.compile(r"\b([a-z]+)==([\d.]+\d)")


@each
def test_what_check_advises_is_what_fix_does(name: str) -> None:
    """The same versions in both; and the words of a fix tell what to do, as those of a check do."""
    case = ALL[name]
    done = {m[1]: m[2] for step in steps_of(case) for word in step.argv or () if (m := _NAMED.fullmatch(word))}
    for cause in case.diagnosis().causes:
        for package, version in _NAMED.findall(cause.remedy):
            assert done.get(package, version) == version, cause.remedy
    for fix in case.plan().fixes:
        assert fix.summary.split()[0] in {
            *("Install", "Make", "Take", "Unset", "Rename", "Remove", "Uninstall", "Write", "Let"),
        }, fix.summary


def test_every_fix_says_its_steps_what_it_keeps_and_how_it_is_taken_back() -> None:
    for fix in load_fixes().fixes:
        if fix.origin == "mpsdoctor":
            assert tuple(fix.sections) == SECTIONS, fix.id
