"""Every recorded Mac gives the expected diagnosis, through the command line."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from tests.conftest import RECORDINGS, Ran

EXPECTED = json.loads((RECORDINGS / "expected.json").read_text())


@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_a_recorded_mac_gives_its_diagnosis(name: str, mpsdoctor: Callable[..., Ran]) -> None:
    want = EXPECTED[name]
    ran = mpsdoctor("check", "--replay", str(RECORDINGS / name), "--format", "json")
    diagnosis = ran.json["diagnosis"]
    causes = [item["cause"] for item in diagnosis["causes"]]
    assert (diagnosis["verdict"], diagnosis["mps_usable"]) == (want["verdict"], want["mps_usable"])
    assert causes[:1] == ([want["cause"]] if want["cause"] else [])
    for name_in_remedy in want.get("remedy_names", []):
        assert name_in_remedy in json.dumps(diagnosis)
    assert ran.code == {"healthy": 0, "degraded": 0, "broken": 1, "not-applicable": 0}[want["verdict"]]
    assert ran.err == ""


@pytest.mark.parametrize("name", [name for name, want in EXPECTED.items() if want["verdict"] == "healthy"])
def test_a_healthy_mac_gets_no_warning_at_all(name: str, mpsdoctor: Callable[..., Ran]) -> None:
    ran = mpsdoctor("check", "--replay", str(RECORDINGS / name), "--format", "json", "--fail-on", "warning")
    assert ran.code == 0
    assert [c["id"] for c in ran.json["checks"] if c["outcome"] in ("warn", "fail", "crash")] == []


@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_the_report_of_a_recording_replays_to_the_same_diagnosis(name: str, mpsdoctor: Callable[..., Ran]) -> None:
    first = mpsdoctor("check", "--replay", str(RECORDINGS / name), "--format", "json")
    again = mpsdoctor("check", "--from", "-", "--format", "json", stdin=first.out.encode())
    assert again.json["diagnosis"] == first.json["diagnosis"]
    assert again.json["facts"] == first.json["facts"]


def test_expect_mps_asks_for_a_usable_gpu(mpsdoctor: Callable[..., Ran]) -> None:
    def code(name: str, expect: str) -> int:
        return mpsdoctor("check", "--replay", str(RECORDINGS / name), "--expect", expect).code

    assert code("01-m1-air-8gb-macos14-uv", "mps") == 0
    assert code("08-github-macos-15-arm64-runner", "mps") == 0
    assert code("09-docker-linux-on-mac", "mps") == 1
    assert code("04-m1-macos13-old", "mps") == 1
    assert code("04-m1-macos13-old", "cpu") == 0
