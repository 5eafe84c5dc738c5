"""conda environments: architecture, records, builds, channels."""

from __future__ import annotations

import pytest

from mpsdoctor import Conda, CondaPackage, Distribution, Environment, Host, Interpreter, Packages, Torch, run_check

SILICON = Host(system="Darwin", arm64_capable=True, macos_version="15.5", chip="Apple M2")
NATIVE = Interpreter(machine="arm64", conda=True)


def package(name: str, subdir: str = "osx-arm64", **fields: str) -> CondaPackage:
    return CondaPackage(
        name=name, subdir=subdir, **{"version": "1.0", "build": "0", "channel": "conda-forge", **fields}
    )


def env(*packages: CondaPackage, subdir: str | None = "osx-arm64", **fields: str) -> Conda:
    return Conda(present=True, subdir=subdir, packages=packages, **fields)


@pytest.mark.parametrize("identifier", ["CO101", "CO102", "CO105"])
class TestWithoutConda:
    def test_does_not_apply(self, identifier: str) -> None:
        assert run_check(identifier, host=SILICON, conda=Conda(present=False)).outcome == "skip"
        assert "nothing shows" in run_check(identifier, host=SILICON).detail

    def test_does_not_know_where_the_records_were_not_read(self, identifier: str) -> None:
        assert run_check(identifier, host=SILICON, interpreter=Interpreter(conda=True)).missing == ("conda.packages",)


class TestPackagesAreNative:
    def test_passes_on_native_packages(self) -> None:
        conda = env(package("python"), package("tzdata", "noarch"))
        assert run_check("CO101", host=SILICON, conda=conda).outcome == "pass"

    def test_fails_on_an_intel_environment(self) -> None:
        verdict = run_check("CO101", host=SILICON, conda=env(package("python", "osx-64"), subdir="osx-64"))
        assert (verdict.outcome, verdict.cause, verdict.gpu) == ("fail", None, False)
        assert "Miniforge" in verdict.remedies[0].text

    def test_warns_of_single_intel_packages_and_names_them(self) -> None:
        conda = env(package("python"), package("scipy", "osx-64"))
        verdict = run_check("CO101", host=SILICON, conda=conda)
        assert (verdict.outcome, verdict.cause) == ("warn", "arch-mismatch-binaries")
        assert "scipy" in verdict.detail
        assert "scipy" in verdict.remedies[0].commands[0]
        assert "python" not in verdict.remedies[0].commands[0]

    def test_does_not_apply_to_an_intel_mac_and_needs_the_hardware(self) -> None:
        intel = env(package("python", "osx-64"), subdir="osx-64")
        assert run_check("CO101", host=Host(arm64_capable=False), conda=intel).outcome == "skip"
        assert run_check("CO101", conda=intel).missing == ("host.arm64_capable",)
        assert run_check("CO101", host=SILICON, conda=Conda(present=True)).missing == ("conda.packages",)


class TestInstallsTheSameArchitecture:
    @pytest.mark.parametrize(
        ("fields", "variables"),
        [
            ({"configured_subdir": "osx-64"}, {}),
            ({"tool_platform": "osx-64"}, {}),
            ({"configured_subdir": "osx-arm64", "tool_platform": "osx-arm64"}, {"CONDA_SUBDIR": "osx-64"}),
            ({}, {"CONDA_SUBDIR": "linux-64"}),
        ],
    )
    def test_warns_where_the_next_installation_would_mix(
        self, fields: dict[str, str], variables: dict[str, str]
    ) -> None:
        verdict = run_check("CO102", conda=env(**fields), environment=Environment(variables=variables))
        assert verdict.outcome == "warn"
        assert verdict.remedies[0].commands[0][-1] == "osx-arm64"
        assert (("unset", "CONDA_SUBDIR") in verdict.remedies[0].commands) == bool(variables)

    def test_a_setting_of_the_environment_protects_it_from_an_intel_conda(self) -> None:
        conda = env(configured_subdir="osx-arm64", tool_platform="osx-64")
        assert run_check("CO102", conda=conda).outcome == "pass"

    def test_takes_the_interpreter_where_no_package_tells(self) -> None:
        conda = env(subdir=None, tool_platform="osx-64")
        assert run_check("CO102", conda=conda, interpreter=NATIVE).outcome == "warn"
        assert run_check("CO102", conda=conda, interpreter=Interpreter(machine="x86_64")).outcome == "pass"
        assert run_check("CO102", conda=conda).missing == ("conda.subdir",)

    def test_does_not_know_without_a_setting(self) -> None:
        assert run_check("CO102", conda=env()).missing == ("conda.configured_subdir",)


def torch_record(
    channel: str = "conda-forge", build: str = "cpu_generic_py312_0", version: str = "2.5.1", **fields: str
):
    return package("pytorch", channel=channel, build=build, version=version, **fields)


class TestBuildHasMps:
    def test_fails_on_anacondas_build_without_it(self) -> None:
        conda = env(torch_record("pkgs/main", "cpu_py312hc5fc1ca_0"))
        verdict = run_check("CO103", conda=conda)
        assert (verdict.outcome, verdict.confidence) == ("fail", "likely")
        assert run_check("CO103", conda=conda, torch=Torch(built=False)).confidence == "certain"

    @pytest.mark.parametrize(
        ("channel", "build"),
        [
            ("conda-forge", "cpu_generic_py312_0"),
            ("pkgs/main", "gpu_mps_py312h1_100"),
            ("pytorch", "py3.12_0"),
        ],
    )
    def test_passes_on_builds_that_have_it(self, channel: str, build: str) -> None:
        assert run_check("CO103", conda=env(torch_record(channel, build))).outcome == "pass"

    def test_believes_torch_before_a_name(self) -> None:
        conda = env(torch_record("pkgs/main", "cpu_py312hc5fc1ca_0"))
        assert run_check("CO103", conda=conda, torch=Torch(built=True)).outcome == "pass"

    def test_does_not_apply_to_wheels_and_intel_builds(self) -> None:
        assert run_check("CO103", conda=env(package("torch", channel="pypi"))).outcome == "skip"
        assert run_check("CO103", conda=env(torch_record("pkgs/main", "cpu_0", subdir="osx-64"))).outcome == "skip"
        wheel = Packages(distributions=(Distribution(name="torch", version="2.14.1", installer="pip"),))
        assert run_check("CO103", conda=env(torch_record("pkgs/main", "cpu_0")), packages=wheel).outcome == "skip"

    @pytest.mark.parametrize("identifier", ["CO103", "CO104"])
    def test_does_not_know_without_records(self, identifier: str) -> None:
        assert run_check(identifier, conda=Conda(present=True)).missing == ("conda.packages",)
        assert run_check(identifier, conda=env(CondaPackage(name="pytorch", version="2.5.1"))).missing == (
            "conda.packages",
        )


class TestChannelStillPublishes:
    def test_a_working_torch_of_the_ended_channel_is_only_noted(self) -> None:
        verdict = run_check("CO104", host=SILICON, conda=env(torch_record("pytorch", "py3.12_0", "2.4.1")))
        assert verdict.outcome == "pass"
        assert "ended" in verdict.detail

    def test_warns_where_this_release_has_a_fault_here_that_only_a_later_one_mends(self) -> None:
        verdict = run_check("CO104", host=SILICON, conda=env(torch_record("pytorch", "py3.12_0", "2.5.1")))
        assert verdict.outcome == "warn"
        assert "conda-forge" in verdict.remedies[0].commands[0]

    def test_other_channels_pass_and_wheels_are_skipped(self) -> None:
        assert run_check("CO104", host=SILICON, conda=env(torch_record())).outcome == "pass"
        assert run_check("CO104", host=SILICON, conda=env()).outcome == "skip"


class TestRecordsCanBeRead:
    def test_passes_on_whole_records(self) -> None:
        assert run_check("CO105", conda=env(package("python"))).detail == "1 records"

    def test_does_not_know_what_a_damaged_record_stands_for_and_says_what_to_do(self) -> None:
        verdict = run_check("CO105", conda=env(unreadable=("numpy-2.3.2-py313h674b998_0.json",)))
        assert (verdict.outcome, verdict.missing) == ("unknown", ("conda.packages",))
        assert verdict.remedies[0].commands[0][-1] == "numpy"
        assert "numpy-2.3.2" in verdict.detail
