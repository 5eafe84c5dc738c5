"""Known faults match the machines that they were seen on, and leave healthy Macs alone."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mpsdoctor.knowledge.causes import cause
from mpsdoctor.knowledge.known_bad import EFFECTS, SEVERITIES, known_bad, matching
from mpsdoctor.knowledge.releases import release, releases
from mpsdoctor.knowledge.versions import macos, macos_in

TORCH = st.sampled_from([None, "2.12.0.dev20260316", "2.16.0", *(one.version for one in releases())])
MACOS = st.sampled_from(
    [None, "10.16", "12.7.6", "13.7.4", "14.2", "14.4", "14.4.1", "14.8", "15.7.7", "16.0", "26.2", "26.6.2", "27.0"]
)
VIRTUAL = st.sampled_from([None, True, False])
CHIP = st.sampled_from(
    [None, "Apple M1", "Apple M1 (Virtual)", "Apple M3 Ultra", "Apple M5 Max", "Intel(R) Core(TM) i7"]
)


def ids(*arguments, severity=None, **keywords):
    return {one.id for one in matching(*arguments, **keywords) if severity in (None, one.severity)}


@pytest.mark.parametrize("one", known_bad(), ids=lambda one: one.id)
def test_every_row_is_well_formed(one):
    assert re.fullmatch(r"[a-z0-9.-]+", one.id)
    assert one.effect in EFFECTS
    assert one.severity in SEVERITIES
    assert cause(one.cause) is not None
    assert one.what.endswith(".")
    assert one.remedy.endswith(".")
    assert one.sources
    assert all(bound is None or release(bound) for bound in (one.torch_from, one.torch_until))
    assert all(bound is None or macos(bound) for bound in (one.macos_from, one.macos_until))
    assert any((one.torch_from, one.torch_until, one.macos_from, one.macos_until, one.virtual))
    if one.torch_from and one.torch_until:
        assert release(one.torch_from).key <= release(one.torch_until).key
    if one.macos_from and one.macos_until:
        assert macos_in(macos(one.macos_from), one.macos_from, one.macos_until)


def test_ids_are_unique_and_the_worst_comes_first():
    rows = known_bad()
    assert len({one.id for one in rows}) == len(rows)
    assert [SEVERITIES.index(one.severity) for one in rows] == sorted(SEVERITIES.index(one.severity) for one in rows)


@pytest.mark.parametrize("chip", ["Apple M1", "Apple M2 Pro", "Apple M3 Ultra", "Apple M4 Max", "Apple M5 Max", None])
@pytest.mark.parametrize(
    ("torch", "running"),
    [
        ("2.14.1", "14.0"),
        ("2.14.1", "14.4.1"),
        ("2.14.1", "14.7.2"),
        ("2.14.1", "15.7"),
        ("2.14.1", "26.2"),
        ("2.14.1", "26.6.2"),
        ("2.14.1", "27.0"),
        ("2.15.0", "15.5"),
        ("2.15.0", "26.7"),
        ("2.15.0", "27.0"),
        ("2.7.1", "15.5"),
        ("2.8.0", "13.7.4"),
        ("2.10.0", "15.5"),
    ],
)
@pytest.mark.parametrize("virtual", [False, None])
def test_a_healthy_real_mac_is_not_warned(torch, running, chip, virtual):
    found = matching(torch, running, virtual=virtual, chip=chip)
    assert [one.id for one in found if one.severity != "note"] == []


@pytest.mark.parametrize(
    ("torch", "running", "virtual", "chip", "severity", "expected"),
    [
        ("2.13.0", "26.5", True, "Apple M1 (Virtual)", "fail", {"vm-macos26-linear-bias"}),
        ("2.13.0", "26.5", False, "Apple M1", "warn", {"linear-bias-m1-macos26"}),
        ("2.13.0", "26.5", False, "Apple M4", "warn", set()),
        ("2.13.0", "26.5", False, None, "warn", set()),
        ("2.14.0", "26.5", True, "Apple M1 (Virtual)", "fail", {"vm-macos26-metal4-compile"}),
        ("2.14.1+cpu", "16.2", True, None, "fail", {"vm-macos26-metal4-compile"}),
        ("2.14.1", "26.5", False, "Apple M1", "fail", set()),
        ("2.15.0", "26.5", True, None, "fail", {"vm-no-apple-gpu-family"}),
        ("2.15.0", "15.7", True, None, "fail", {"vm-no-apple-gpu-family"}),
        ("2.14.1", "15.7.7", True, "Apple M1 (Virtual)", "fail", set()),
        ("2.14.1", "15.7.7", True, "Apple M1 (Virtual)", "warn", set()),
        ("2.3.0", "14.8.7", True, "Apple M1 (Virtual)", "warn", {"vm-macos14-allocation"}),
        ("2.3.0", "13.6", True, None, "fail", {"vm-before-macos14"}),
        ("2.2.2", "14.4.1", False, "Apple M2", "warn", {"torch22-macos14-4"}),
        ("2.2.2", "14.5", False, "Apple M2", "warn", set()),
        ("2.3.0", "14.4.1", False, "Apple M2", "note", {"lstm-backward-macos14-4"}),
        ("2.4.0", "15.0", False, None, "warn", {"batch-norm-2.4.0"}),
        ("2.4.1", "15.0", False, None, "warn", set()),
        ("2.5.1", "14.5", None, None, "warn", {"backward-view-2.5", "images-2.5"}),
        ("2.9.1", "26.0", False, "Apple M4", "warn", {"torch29-macos26"}),
        ("2.9.1", "15.0", False, "Apple M4", "warn", set()),
        ("2.13.0", "27.0", False, "Apple M5", "warn", {"bf16-linear-macos27"}),
        ("2.12.1", "27.0", False, "Apple M5", "warn", {"diffusion-macos27"}),
        ("2.12.1", "15.0", False, "Apple M5", "note", {"gradscaler-half-parameters"}),
        ("2.13.0", "15.0", False, "Apple M5", "note", set()),
        ("2.10.0", "15.0", False, "Apple M5", "note", {"gradscaler-half-parameters", "torch210-wheel-tag"}),
    ],
)
def test_matching(torch, running, virtual, chip, severity, expected):
    assert ids(torch, running, virtual=virtual, chip=chip, severity=severity) == expected


def test_a_nightly_and_an_unknown_macos_match_nothing_that_asks_for_them():
    assert ids("2.4.0.dev20240401", None, virtual=None, chip=None) == set()
    assert ids(None, "10.16", virtual=True, chip="Apple M1") == set()
    assert ids(None, None, virtual=None, chip=None) == set()


@given(TORCH, MACOS, VIRTUAL, CHIP)
def test_learning_a_fact_never_removes_a_fault_found_without_it(torch, running, virtual, chip):
    full = ids(torch, running, virtual=virtual, chip=chip)
    assert ids(None, running, virtual=virtual, chip=chip) <= full
    assert ids(torch, None, virtual=virtual, chip=chip) <= full
    assert ids(torch, running, virtual=None, chip=chip) <= full
    assert ids(torch, running, virtual=virtual, chip=None) <= full


def test_every_fault_is_reachable():
    reached = set()
    for one in known_bad():
        chip = f"Apple M{one.generations[0]}" if one.generations else None
        torch = one.torch_from or one.torch_until
        found = ids(torch, one.macos_from or one.macos_until, virtual=one.virtual, chip=chip)
        assert one.id in found
        reached |= found
    assert reached >= {one.id for one in known_bad()}
