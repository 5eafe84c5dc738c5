"""The operating system and what Python is told of it."""

from __future__ import annotations

import pytest

from mpsdoctor import Environment, Host, Interpreter, run_check


def test_the_version_is_known_or_not() -> None:
    assert run_check("OS101", host=Host(macos_version="15.5")).outcome == "pass"
    assert run_check("OS101").missing == ("host.macos_version",)


class TestPythonIsToldTheTrueMacos:
    def told(self, seen: str | None, machine: str = "arm64", *, silicon: bool = True, **variables: str):
        return run_check(
            "OS102",
            host=Host(macos_version="14.5", arm64_capable=silicon),
            interpreter=Interpreter(macos_version_seen=seen, machine=machine),
            environment=Environment(variables=variables),
        )

    def test_passes_on_the_truth_and_on_the_harmless_16(self) -> None:
        assert self.told("14.5").outcome == "pass"
        assert self.told("16.0").outcome == "pass"

    def test_does_not_apply_where_the_interpreter_did_not_say(self) -> None:
        assert self.told(None).outcome == "skip"

    @pytest.mark.parametrize("machine", ["arm64", "x86_64"])
    def test_fails_on_10_16(self, machine: str) -> None:
        verdict = self.told("10.16", machine)
        assert verdict.outcome == "fail"
        assert verdict.remedies[0].commands == ()

    def test_an_old_intel_build_on_an_intel_mac_is_harmless(self) -> None:
        assert self.told("10.16", "x86_64", silicon=False).outcome == "pass"

    def test_names_the_variable_that_forces_it(self) -> None:
        verdict = self.told("10.16", SYSTEM_VERSION_COMPAT="1")
        assert verdict.remedies[0].commands == (("unset", "SYSTEM_VERSION_COMPAT"),)


class TestMacosIsOneThatTorchKnows:
    @pytest.mark.parametrize("version", ["12.3", "12.3.1", "15.5", "27.0", "16.0"])
    def test_passes_from_12_3_on(self, version: str) -> None:
        assert run_check("OS103", host=Host(macos_version=version)).outcome == "pass"

    @pytest.mark.parametrize("version", ["12.2.1", "11.7", "10.15.7"])
    def test_fails_below(self, version: str) -> None:
        verdict = run_check("OS103", host=Host(macos_version=version))
        assert (verdict.outcome, verdict.cause, verdict.gpu) == ("fail", "macos-too-old-for-torch", False)
        assert version in verdict.detail

    @pytest.mark.parametrize("version", [None, "10.16", "Sequoia"])
    def test_does_not_know_a_missing_or_disguised_version(self, version: str | None) -> None:
        assert run_check("OS103", host=Host(macos_version=version)).missing == ("host.macos_version",)
