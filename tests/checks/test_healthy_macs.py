"""Whole Macs: a healthy one gets no finding, and one fault is told by the check of that fault alone."""

from __future__ import annotations

from dataclasses import replace
from datetime import date

import pytest

from mpsdoctor import Binaries, Distribution, Facts, Packages, Torch, run_check
from mpsdoctor.diagnosis import diagnose
from mpsdoctor.registry import judge, load_registry

TODAY = date(2026, 12, 1)


@pytest.mark.parametrize("fixture", ["wheel_mac", "conda_mac"])
def test_a_healthy_mac_gets_no_finding(fixture: str, request: pytest.FixtureRequest) -> None:
    facts = request.getfixturevalue(fixture)
    findings = judge(facts, load_registry(), today=TODAY)
    assert [(f.id, f.verdict.detail) for f in findings if f.outcome not in ("pass", "skip")] == []
    assert diagnose(findings, facts).verdict == "healthy"


def check_facts(identifier: str, facts: Facts):
    item = load_registry().get(identifier)
    assert item is not None
    return run_check(identifier, **{name: getattr(facts, name) for name in item.parameters})


class TestOneFaultInAHealthyMac:
    """The facts of a whole Mac with one thing changed: only the check of that thing speaks."""

    def outcomes(self, facts: Facts) -> dict[str, str]:
        ids = [item.id for item in load_registry().checks if item.id[:2] in ("EN", "CO", "PK")]
        found = {identifier: check_facts(identifier, facts).outcome for identifier in ids}
        return {name: outcome for name, outcome in found.items() if outcome not in ("pass", "skip")}

    def test_pips_torch_over_condas(self, conda_mac: Facts) -> None:
        wheel = Distribution(name="torch", version="2.14.1", location="/x", installer="pip", missing_files=0)
        others = tuple(d for d in conda_mac.packages.distributions or () if d.name == "numpy")
        facts = replace(
            conda_mac,
            packages=Packages(distributions=(wheel, *others)),
            torch=replace(conda_mac.torch, version="2.14.1"),
        )
        assert self.outcomes(facts) == {"PK103": "warn"}

    def test_a_torchvision_left_behind(self, wheel_mac: Facts) -> None:
        old = tuple(
            replace(d, version="0.20.1") if d.name == "torchvision" else d
            for d in wheel_mac.packages.distributions or ()
        )
        assert self.outcomes(replace(wheel_mac, packages=Packages(distributions=old))) == {"PK101": "fail"}

    def test_uv_repairs_what_uv_installed(self, wheel_mac: Facts) -> None:
        files = tuple(replace(b, kind="truncated") if b.role == "torch" else b for b in wheel_mac.binaries.files or ())
        facts = replace(wheel_mac, binaries=Binaries(files=files), torch=Torch())
        verdict = check_facts("PK104", facts)
        assert verdict.remedies[0].commands[0][:2] == ("uv", "pip")
