"""The release table agrees with what was read from the wheels, and answers questions about it soundly."""

import datetime
import json
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from packaging.specifiers import SpecifierSet

from mpsdoctor.knowledge import releases as table
from mpsdoctor.knowledge.releases import newest_for, release, releases
from mpsdoctor.knowledge.versions import macos

READ_FROM_WHEELS = json.loads((Path(__file__).parent / "data" / "torch_releases.json").read_text())
RENAMED = {
    "requires_python": "requires_python",
    "arm64_pythons": "macos_arm64_python",
    "arm64_tags": "macos_arm64_wheel_tags",
    "x86_64_pythons": "macos_x86_64_python",
    "x86_64_tags": "macos_x86_64_wheel_tags",
    "mps_floor": "mps_min_macos_supported",
    "mps_floor_enforced": "mps_min_macos_enforced_by_is_available",
    "mps_floor_in_error": "mps_min_macos_stated_in_error",
    "mps_error": "mps_min_macos_error",
    "no_gpu_error": "mps_no_gpu_error",
    "gpu_probe": "mps_gpu_probe",
    "minos": "dylib_minos",
    "sdk": "dylib_sdk",
    "torchvision": "torchvision",
    "torchvision_pin": "torchvision_pin",
    "torchaudio": "torchaudio",
    "torchaudio_pin": "torchaudio_pin",
    "torchaudio_in_step": "torchaudio_in_step",
    "numpy2_abi": "numpy2_abi",
    "bundled_openmp": "bundled_openmp",
    "git_version": "git_version",
    "notes": "notes",
}
MACOS = st.sampled_from(["11.7", "12.2", "12.3", "12.7.6", "13.0", "13.7.4", "14.0", "14.8", "15.5", "26.2", "27.0"])
PYTHON = st.sampled_from(sorted({python for one in releases() for python in (*one.arm64_pythons, *one.x86_64_pythons)}))
MACHINE = st.sampled_from(["arm64", "x86_64"])


def test_covers_every_release_with_mps():
    assert len(releases()) == len(READ_FROM_WHEELS) == 32
    assert (releases()[0].version, table.newest().version) == ("1.12.0", "2.15.0")
    assert [one.key for one in releases()] == sorted({one.key for one in releases()})


@pytest.mark.parametrize("read", READ_FROM_WHEELS, ids=lambda read: read["version"])
def test_agrees_with_the_wheels(read):
    found = release(read["version"])
    assert found.date.isoformat() == read["release_date"]
    for ours, theirs in RENAMED.items():
        expected = read[theirs]
        expected = tuple(expected) if isinstance(expected, list) else expected
        assert getattr(found, ours) == (None if expected == "none" else expected), ours


@pytest.mark.parametrize("one", releases(), ids=lambda one: one.version)
def test_every_field_is_sane(one):
    assert datetime.date(2022, 6, 1) < one.date < datetime.date(2027, 1, 1)
    assert re.fullmatch(r"[0-9a-f]{40}", one.git_version)
    assert macos(one.mps_floor)[0] in {12, 13, 14, 15}
    assert macos(one.minos) <= macos(one.mps_floor)
    for machine in ("arm64", "x86_64"):
        tags = [table.wheel_tag(tag) for tag in one.tags(machine)]
        assert None not in tags
        assert {tag.python for tag in tags} == set(one.pythons(machine))
        for python in one.pythons(machine):
            assert SpecifierSet(one.requires_python).contains(f"{python.rstrip('t')}.9")


def test_the_table_reads_oldest_first_and_the_floor_never_falls():
    floors = [macos(one.mps_floor) for one in releases()]
    assert floors == sorted(floors)
    assert [one.date for one in releases()] == sorted(one.date for one in releases())


@pytest.mark.parametrize(
    ("running", "python", "machine", "expected"),
    [
        ("13.6", "3.11", "arm64", "2.8.0"),
        ("13", "3.14", "arm64", None),
        ("13.6", "3.13t", "arm64", None),  # the free-threaded wheels of 2.7 and 2.8 are tagged macosx_14_0
        ("14.5", "3.12", "arm64", "2.14.1"),
        ("15.5", "3.12", "arm64", "2.15.0"),
        ("26.2", "3.12", "arm64", "2.15.0"),
        ("16.0", "3.12", "arm64", "2.15.0"),
        ("27.0", "3.12", "arm64", "2.15.0"),
        ("15", "3.10", "arm64", "2.14.1"),
        ("15", "3.9", "arm64", "2.8.0"),
        ("15", "3.8", "arm64", "2.4.1"),
        ("12.3", "3.10", "arm64", "2.4.1"),
        ("12.2.1", "3.10", "arm64", None),
        ("14.5", "3.11", "x86_64", "2.2.2"),
        ("14.5", "3.13", "x86_64", None),
        ("10.15.7", "3.9", "x86_64", None),
        ("14.5", "3.12", "ppc", None),
        (None, "3.9", "arm64", "2.8.0"),
        ("10.16", "3.9", "arm64", "2.8.0"),
        ("13.1", None, "arm64", "2.8.0"),
        (None, None, "arm64", "2.15.0"),
    ],
)
def test_newest_for(running, python, machine, expected):
    found = newest_for(running, python, machine)
    assert (found and found.version) == expected


@given(MACOS, MACOS, PYTHON, MACHINE)
def test_a_newer_macos_never_gets_an_older_torch(one, other, python, machine):
    older, newer = sorted((one, other), key=macos)
    before, after = newest_for(older, python, machine), newest_for(newer, python, machine)
    assert before is None or before.key <= after.key


@given(MACOS, PYTHON, MACHINE)
def test_the_answer_fits_and_nothing_newer_does(running, python, machine):
    found = newest_for(running, python, machine)
    fitting = [
        one
        for one in releases()
        if python in one.pythons(machine)
        and macos(one.mps_floor) <= macos(running)
        and any(
            tag.python == python and macos(tag.macos) <= macos(running)
            for tag in map(table.wheel_tag, one.tags(machine))
        )
    ]
    assert found == (fitting[-1] if fitting else None)


@given(MACOS, PYTHON, MACHINE)
def test_excluding_the_answer_gives_an_older_one(running, python, machine):
    first = newest_for(running, python, machine)
    if first is not None:
        second = newest_for(running, python, machine, exclude=[f"{first.version}+local"])
        assert second is None or second.key < first.key


@pytest.mark.parametrize(
    ("version", "expected"),
    [
        ("2.9.1", "2.9.1"),
        ("2.9.1+cpu", "2.9.1"),
        ("2.9.1.post0", "2.9.1"),
        (" v2.9.1 ", "2.9.1"),
        ("2.12.0.dev20260316", None),
        ("2.6.0a0+git1eba9b3", None),
        ("2.9.0rc1", None),
        ("1.11.0", None),
        ("2.99.0", None),
        ("", None),
        ("not a version", None),
    ],
)
def test_release_accepts_only_builds_of_that_release(version, expected):
    found = release(version)
    assert (found and found.version) == expected


@pytest.mark.parametrize(
    ("version", "floor", "certain"),
    [
        ("2.4.1", "12.3", True),
        ("2.5.0", "13.0", True),
        ("2.8.0+cpu", "13.0", True),
        ("2.9.0", "14.0", True),
        ("2.15.0", "15.0", True),
        ("2.15.1", "15.0", False),
        ("3.0.0", "15.0", False),
        ("2.12.0.dev20260316", "14.0", False),
        ("2.9.0.dev20250701", "13.0", False),
        ("2.6.0a0+git1eba9b3", "13.0", False),
    ],
)
def test_floor_says_how_sure_it_is(version, floor, certain):
    assert table.floor_for(version) == table.Floor(floor, certain)


@pytest.mark.parametrize("version", ["1.11.0", "nonsense", ""])
def test_no_floor_where_there_is_no_mps(version):
    assert table.floor_for(version) is None


def test_a_release_that_nobody_has_checked_yet_is_not_trusted(monkeypatch):
    unchecked = release("2.15.0").__class__(
        **{**release("2.15.0").__dict__, "version": "2.16.0", "mps_floor": None, "git_version": None}
    )
    monkeypatch.setattr(table, "releases", lambda: (*releases(), unchecked))
    assert newest_for("27.0", "3.12", "arm64").version == "2.15.0"
    assert table.floor_for("2.16.0") == table.Floor("15.0", certain=False)


def test_pythons_for():
    assert table.pythons_for("2.2.2", "x86_64") == ("3.8", "3.9", "3.10", "3.11", "3.12")
    assert table.pythons_for("2.3.0", "x86_64") == ()
    assert table.pythons_for("9.9.9", "arm64") == ()


def test_release_for_git_finds_each_release_by_hash_and_prefix():
    for one in releases():
        assert table.release_for_git(one.git_version) == one
        assert table.release_for_git(one.git_version[:7].upper()) == one
    assert table.release_for_git("d0f2af") is None
    assert table.release_for_git("0000000") is None
    assert table.release_for_git("") is None


def test_nightly():
    assert table.nightly("2.12.0.dev20260316") == table.Nightly(datetime.date(2026, 3, 16), "2.12.0")
    assert table.nightly("2.12.0.dev20260316+cpu").base == "2.12.0"
    for other in ("2.12.0", "2.12.0.dev1", "2.12.0.dev20261316", "2.12.0rc1", "x"):
        assert table.nightly(other) is None


@pytest.mark.parametrize(("days", "left"), [(-1, None), (0, False), (59, False), (60, None), (89, None), (90, True)])
def test_nightlies_leave_the_index_after_about_two_months(days, left):
    today = datetime.date(2026, 12, 1)
    assert table.nightly_left_index(today - datetime.timedelta(days), today) is left


@pytest.mark.parametrize(
    ("tag", "expected"),
    [
        ("cp310-none-macosx_11_0_arm64", ("3.10", "11.0")),
        ("2-cp313-none-macosx_11_0_arm64", ("3.13", "11.0")),
        ("cp314-cp314t-macosx_14_0_arm64", ("3.14t", "14.0")),
        ("cp39-none-macosx_10_9_x86_64", ("3.9", "10.9")),
    ],
)
def test_wheel_tag(tag, expected):
    found = table.wheel_tag(tag)
    assert (found.python, found.macos) == expected


@pytest.mark.parametrize("tag", ["cp310-cp310-manylinux1_x86_64", "py3-none-any", "cp310-none-macosx_110_0_arm64x", ""])
def test_other_tags_are_no_mac_wheels(tag):
    assert table.wheel_tag(tag) is None
