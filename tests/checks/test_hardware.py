"""What kind of computer this is."""

from __future__ import annotations

import pytest

from mpsdoctor import Host, run_check


class TestThisIsAMac:
    @pytest.mark.parametrize("host", [Host(system="Darwin"), Host(macos_version="15.5")])
    def test_passes_on_macos(self, host: Host) -> None:
        assert run_check("HW101", host=host).outcome == "pass"

    def test_does_not_know_without_the_system(self) -> None:
        verdict = run_check("HW101")
        assert (verdict.outcome, verdict.missing) == ("unknown", ("host.system",))
        assert "sw_vers" in verdict.ask[0]

    @pytest.mark.parametrize(
        "host",
        [
            Host(system="Linux", kernel="Linux 7.0.12-linuxkit aarch64"),
            Host(system="Linux", cpu_implementer="0x61", container="docker"),
        ],
    )
    def test_knows_a_container_on_a_mac(self, host: Host) -> None:
        verdict = run_check("HW101", host=host)
        assert (verdict.outcome, verdict.cause, verdict.gpu) == ("fail", "linux-container-on-mac", False)

    @pytest.mark.parametrize(
        ("host", "named"),
        [
            (Host(system="Linux", container="docker"), "Linux"),
            (Host(system="Linux", kernel="Linux 6.6.12-linuxkit x86_64", machine="x86_64"), "Linux"),
            (Host(system="Linux", kernel="Linux 6.6-linuxkit aarch64", cpu_implementer="0x51"), "Linux"),
            (Host(system="Linux", cpu_implementer="0x61"), "Linux"),  # Linux on the Mac itself, without macOS
            (Host(system="Linux", wsl=True), "WSL"),
            (Host(system="Windows"), "Windows"),
        ],
    )
    def test_fails_elsewhere_and_names_the_system(self, host: Host, named: str) -> None:
        verdict = run_check("HW101", host=host)
        assert (verdict.outcome, verdict.cause) == ("fail", None)
        assert named in verdict.detail


class TestAppleSilicon:
    @pytest.mark.parametrize(
        "host",
        [
            Host(arm64_capable=True, machine="x86_64"),  # asked under Rosetta
            Host(chip="Apple M3 Ultra"),
            Host(kernel="Darwin Kernel Version 24.5.0: RELEASE_ARM64_T6020"),
            Host(system="Darwin", machine="arm64"),
        ],
    )
    def test_passes_by_any_fact_of_the_hardware(self, host: Host) -> None:
        assert run_check("HW102", host=host).outcome == "pass"

    @pytest.mark.parametrize("host", [Host(arm64_capable=False), Host(chip="Intel(R) Core(TM) i7-9750H")])
    def test_warns_on_an_intel_mac_and_names_its_last_torch(self, host: Host) -> None:
        verdict = run_check("HW102", host=host)
        assert verdict.outcome == "warn"
        assert {"torch==2.2.2", "torchvision==0.17.2", "numpy<2"} <= set(verdict.remedies[0].commands[0])

    def test_x86_64_alone_does_not_tell(self) -> None:
        verdict = run_check("HW102", host=Host(system="Darwin", machine="x86_64"))
        assert verdict.outcome == "unknown"
        assert "hw.optional.arm64" in verdict.ask[0]
