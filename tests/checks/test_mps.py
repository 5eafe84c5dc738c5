"""MPS itself."""

from __future__ import annotations

import pytest

from mpsdoctor import Conda, CondaPackage, Environment, Host, Torch, Trial, run_check

MAC = Host(system="Darwin", macos_version="15.5")


class TestIsBuilt:
    def test_passes_fails_or_is_not_known(self) -> None:
        assert run_check("MP101", torch=Torch(built=True)).outcome == "pass"
        assert run_check("MP101").missing == ("torch.built",)
        verdict = run_check("MP101", torch=Torch(built=False))
        assert (verdict.outcome, verdict.gpu) == ("fail", False)
        assert "pip" in verdict.remedies[0].commands[0]

    def test_conda_takes_another_build(self) -> None:
        conda = Conda(
            packages=(CondaPackage(name="pytorch", version="2.6.0", build="cpu_py312_0", channel="pkgs/main"),)
        )
        verdict = run_check("MP101", torch=Torch(built=False), conda=conda)
        assert verdict.remedies[0].commands[0][:2] == ("conda", "install")
        assert any("cpu_py312_0" in str(one.value) for one in verdict.evidence)


class TestIsAvailable:
    def available(self, value: bool | None, **facts: object):
        return run_check("MP102", host=MAC, torch=Torch(built=True, available=value), **facts)

    def test_passes_or_is_not_known(self) -> None:
        assert self.available(True).outcome == "pass"
        assert self.available(None).missing == ("torch.available",)

    def test_fails_without_advising_to_reinstall(self) -> None:
        verdict = self.available(False)
        assert (verdict.outcome, verdict.confidence, verdict.gpu) == ("fail", "possible", False)
        assert "new enough" not in verdict.detail  # nothing told the macOS and the torch
        known = run_check("MP102", host=Host(macos_version="15.5"), torch=self.torch("2.14.1"))
        assert (known.confidence, "new enough" in known.detail) == ("likely", True)
        assert "Terminal" in verdict.remedies[0].text
        assert not any("install" in word for remedy in verdict.remedies for line in remedy.commands for word in line)

    def torch(self, version: str) -> Torch:
        return Torch(built=True, available=False, version=version)

    def test_an_old_macos_is_the_cause_where_it_is_old(self) -> None:
        verdict = run_check("MP102", host=Host(macos_version="13.7"), torch=self.torch("2.11.0"))
        assert (verdict.outcome, verdict.cause) == ("fail", "macos-too-old-for-torch")

    def test_says_nothing_of_an_intel_mac_or_an_unknown_build(self) -> None:
        assert run_check("MP102", host=Host(arm64_capable=False), torch=self.torch("2.2.2")).outcome == "skip"
        assert run_check("MP102", host=MAC, torch=Torch(available=False)).missing == ("torch.built",)

    def test_a_sandbox_makes_it_certain(self) -> None:
        verdict = self.available(False, environment=Environment(sandbox="CODEX_SANDBOX=seatbelt"))
        assert verdict.confidence == "certain"
        assert "sandbox" in verdict.detail


class TestAllocates:
    def allocates(self, outcome: str | None, error: str | None = None):
        trial = None if outcome is None else Trial(name="allocate", outcome=outcome, error=error)
        return run_check("MP103", torch=Torch(allocation=trial))

    def test_passes_or_is_not_known(self) -> None:
        assert self.allocates("pass").outcome == "pass"
        assert self.allocates(None).missing == ("torch.allocation",)

    @pytest.mark.parametrize(
        ("outcome", "error"), [("error", "RuntimeError: x"), ("crash", None), ("stalled", "no answer")]
    )
    def test_fails_in_every_way(self, outcome: str, error: str | None) -> None:
        verdict = self.allocates(outcome, error)
        assert (verdict.outcome, verdict.cause, verdict.confidence) == ("fail", None, "possible")

    def test_knows_the_refused_watermark(self) -> None:
        verdict = self.allocates("error", "RuntimeError: invalid low watermark ratio 1.4")
        assert (verdict.cause, verdict.confidence) == ("watermark-env-var-invalid", "certain")


class TestComputesAsTheCpu:
    def computes(self, *trials: Trial, version: str = "2.13.0", host: Host = MAC):
        return run_check("MP104", host=host, torch=Torch(version=version, comparisons=trials or None))

    def test_passes_where_all_agree(self) -> None:
        good = Trial(name="matmul", outcome="pass", max_abs_difference=1e-6)
        assert self.computes(good, good).detail == "2 comparisons agree"

    @pytest.mark.parametrize(
        ("trial", "said"),
        [
            (Trial(name="linear", outcome="wrong", max_abs_difference=3.8), "differs from the CPU by 3.8"),
            (Trial(name="linear", outcome="wrong"), "NaN or infinity"),
            (Trial(name="cholesky", outcome="error", error="RuntimeError: x"), "RuntimeError: x"),
            (Trial(name="matmul", outcome="crash"), "crash"),
        ],
    )
    def test_fails_and_names_another_release(self, trial: Trial, said: str) -> None:
        verdict = self.computes(Trial(name="matmul", outcome="pass"), trial)
        assert (verdict.outcome, verdict.gpu) == ("fail", False)
        assert said in verdict.detail
        assert "torch==2.15.0" in verdict.remedies[0].commands[0]

    def test_the_newest_release_leaves_only_the_cpu(self) -> None:
        verdict = self.computes(Trial(name="matmul", outcome="crash"), version="2.15.0")
        assert verdict.remedies[0].commands == ()
        assert "CPU" in verdict.remedies[0].text

    def test_without_comparisons(self) -> None:
        assert self.computes().missing == ("torch.comparisons",)
        recorded = Torch(allocation=Trial(name="allocate", outcome="pass"))
        assert run_check("MP104", torch=recorded).outcome == "skip"
