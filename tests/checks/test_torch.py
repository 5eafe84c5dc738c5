"""The installed torch."""

from __future__ import annotations

from datetime import date

import pytest

from mpsdoctor import (
    Distribution,
    Environment,
    Host,
    ImportFailure,
    Interpreter,
    Packages,
    ProcessEnd,
    Torch,
    run_check,
)

MAC = Host(system="Darwin", arm64_capable=True, macos_version="15.5", chip="Apple M2", hypervisor_present=False)
PYTHON = Interpreter(executable="/e/bin/python", prefix="/e", version="3.12.4", machine="arm64")
NOTHING = Packages(distributions=())


class TestIsInstalled:
    def installed(self, **facts: object):
        return run_check("TO101", **{"host": MAC, "interpreter": PYTHON, **facts})

    def test_passes_by_torch_itself_or_by_its_metadata(self) -> None:
        assert self.installed(torch=Torch(version="2.14.1")).detail == "2.14.1"
        metadata = Packages(distributions=(Distribution(name="torch", version="2.9.1"),))
        assert self.installed(packages=metadata).detail == "2.9.1"
        assert self.installed(packages=NOTHING, torch=Torch(imported=True)).outcome == "pass"

    def test_fails_and_names_the_command_for_this_interpreter(self) -> None:
        verdict = self.installed(packages=NOTHING)
        assert verdict.outcome == "fail"
        assert verdict.remedies[0].commands[0] == ("/e/bin/python", "-m", "pip", "install", "torch==2.15.0")

    def test_fails_on_the_imports_own_word(self) -> None:
        failure = ImportFailure(type="ModuleNotFoundError", message="No module named 'torch'")
        assert self.installed(torch=Torch(imported=False, import_failure=failure)).outcome == "fail"

    @pytest.mark.parametrize("name", ["VIRTUAL_ENV", "CONDA_PREFIX"])
    def test_points_to_the_environment_that_is_active_elsewhere(self, name: str) -> None:
        verdict = self.installed(packages=NOTHING, environment=Environment(variables={name: "/other"}))
        assert (verdict.outcome, verdict.cause) == ("fail", "wrong-interpreter")
        assert verdict.remedies[0].commands[0][0] == "/other/bin/python"
        same = self.installed(packages=NOTHING, environment=Environment(variables={name: "/e/"}))
        assert same.cause is None

    def test_a_venv_inside_an_active_conda_base_is_no_wrong_interpreter(self) -> None:
        variables = {"VIRTUAL_ENV": "/e", "CONDA_PREFIX": "/opt/miniconda3"}
        verdict = self.installed(packages=NOTHING, environment=Environment(variables=variables))
        assert verdict.cause is None

    def test_does_not_know_without_a_list_of_packages(self) -> None:
        assert self.installed().missing == ("packages.distributions",)


class TestMacosIsNewEnough:
    def enough(self, torch: str | None, macos: str | None, python: Interpreter = PYTHON):
        return run_check("TO102", host=Host(macos_version=macos), interpreter=python, torch=Torch(version=torch))

    @pytest.mark.parametrize(
        ("torch", "macos"),
        [("2.15.0", "15.0"), ("2.14.1", "14.0"), ("2.8.0", "13.7.4"), ("2.2.2", "12.3"), ("2.9.0", "16.0")],
    )
    def test_passes_at_the_floor(self, torch: str, macos: str) -> None:
        assert self.enough(torch, macos).outcome == "pass"

    @pytest.mark.parametrize(("torch", "macos"), [("2.14.1", "14"), ("2.15.0", "15"), ("2.8.0", "13")])
    def test_a_version_without_minor_meets_a_floor_of_zero(self, torch: str, macos: str) -> None:
        assert self.enough(torch, macos).outcome == "pass"

    def test_a_version_without_minor_leaves_a_finer_floor_open(self) -> None:
        assert self.enough("2.4.1", "12").missing == ("host.macos_version",)
        assert self.enough("2.4.1", "11").outcome == "fail"

    def test_a_torch_that_works_below_its_floor_is_a_warning(self) -> None:
        from mpsdoctor import Trial

        works = Torch(version="2.15.0", available=True, allocation=Trial(name="allocate", outcome="pass"))
        verdict = run_check("TO102", host=Host(macos_version="14.8"), interpreter=PYTHON, torch=works)
        assert verdict.outcome == "warn"

    @pytest.mark.parametrize(
        ("torch", "macos", "remedy"),
        [("2.11.0", "13.7.4", "torch==2.8.0"), ("2.15.0", "14.8", "torch==2.14.1"), ("2.5.1", "12.7", "torch==2.4.1")],
    )
    def test_fails_below_it_and_names_the_newest_that_fits(self, torch: str, macos: str, remedy: str) -> None:
        verdict = self.enough(torch, macos)
        assert (verdict.outcome, verdict.gpu, verdict.confidence) == ("fail", False, "certain")
        assert remedy in verdict.remedies[0].commands[0]

    def test_is_less_certain_of_a_nightly(self) -> None:
        assert self.enough("2.16.0.dev20261120", "14.8").confidence == "likely"

    def test_only_macos_helps_where_no_torch_fits_the_python(self) -> None:
        verdict = self.enough("2.11.0", "13.7.4", Interpreter(version="3.14.0", machine="arm64"))
        assert len(verdict.remedies) == 1
        assert "Update macOS" in verdict.remedies[0].text

    def test_without_facts(self) -> None:
        assert self.enough(None, "15.5").missing == ("torch.version",)
        assert self.enough("2.14.1", None).missing == ("host.macos_version",)
        assert self.enough("2.14.1", "10.16").missing == ("host.macos_version",)
        assert self.enough("1.9.0", "15.5").outcome == "skip"


class TestImports:
    def imports(self, **torch: object):
        return run_check("TO103", torch=Torch(**torch))

    def failed(self, message: str, *paths: str):
        return self.imports(imported=False, import_failure=ImportFailure(message=message, paths=paths))

    def test_passes_with_the_time_it_took(self) -> None:
        assert self.imports(imported=True, import_seconds=1.25).detail == "in 1.2 s"
        assert self.imports(imported=True).outcome == "pass"

    def test_does_not_know_what_was_not_tried(self) -> None:
        assert self.imports().missing == ("torch.imported",)

    @pytest.mark.parametrize(
        ("message", "cause"),
        [
            (
                "dlopen(/e/torch/_C.so, 0x0002): tried: '/e/torch/_C.so' (mach-o file, but is an incompatible "
                "architecture (have 'x86_64', need 'arm64'))",
                "arch-mismatch-binaries",
            ),
            ("dlopen(/e/torch/_C.so): Library not loaded: @rpath/libomp.dylib\n  Referenced from: x", "missing-libomp"),
        ],
    )
    def test_fails_with_the_cause_that_the_loader_names(self, message: str, cause: str) -> None:
        verdict = self.failed(message, "/e/torch/_C.so")
        assert (verdict.outcome, verdict.cause, verdict.gpu) == ("fail", cause, False)
        assert ["/e/torch/_C.so"] in [one.value for one in verdict.evidence]

    def test_names_the_openmp_message_of_a_dead_process(self) -> None:
        text = "OMP: Error #15: Initializing libiomp5.dylib, but found libomp.dylib already initialized."
        verdict = self.imports(end=ProcessEnd(how="signal", signal="SIGABRT", stderr_tail=text))
        assert verdict.cause == "duplicate-openmp"

    @pytest.mark.parametrize(
        ("torch", "said"),
        [
            (
                {"imported": False, "import_failure": ImportFailure(type="ValueError", message="boom\nmore")},
                "ValueError: boom",
            ),
            ({"imported": False, "import_failure": ImportFailure(message="")}, "no message"),
            ({"end": ProcessEnd(how="signal", signal="SIGSEGV")}, "SIGSEGV"),
            ({"end": ProcessEnd(how="exit", code=3)}, "status 3"),
            ({"end": ProcessEnd(how="timeout", seconds=60)}, "60 s"),
            ({"imported": False}, "no answer"),
        ],
    )
    def test_fails_and_says_how_where_no_cause_shows(self, torch: dict[str, object], said: str) -> None:
        verdict = self.imports(**torch)
        assert (verdict.outcome, verdict.cause) == ("fail", None)
        assert said in verdict.detail


class TestNotKnownBad:
    def bad(self, torch: str | None, host: Host = MAC):
        return run_check("TO104", host=host, torch=Torch(version=torch))

    def test_warns_of_a_release_with_a_known_fault(self) -> None:
        verdict = self.bad("2.5.1")
        assert (verdict.outcome, verdict.cause) == ("warn", "known-bad-torch-release")
        assert "2.6.0" in verdict.remedies[0].text

    def test_fails_where_results_cannot_be_trusted(self) -> None:
        vm = Host(macos_version="26.4", hypervisor_present=True, chip="Apple M1 (Virtual)")
        assert self.bad("2.13.0", vm).outcome == "fail"

    def test_passes_on_a_good_release_and_only_notes_what_is_rare(self) -> None:
        assert self.bad("2.14.1").outcome == "pass"
        noted = self.bad("2.8.0")
        assert noted.outcome == "pass"
        assert "GradScaler" in noted.detail

    def test_passes_without_a_macos_and_does_not_know_without_a_torch(self) -> None:
        assert self.bad("2.14.1", Host()).outcome == "pass"
        assert self.bad(None).missing == ("torch.version",)


@pytest.mark.parametrize(
    ("version", "outcome"),
    [
        ("1.12.0", "pass"),
        ("2.15.0", "pass"),
        ("1.11.0", "fail"),
        ("1.12.0a0", "unknown"),
        ("unreadable", "unknown"),
        (None, "unknown"),
    ],
)
def test_torch_has_mps_from_1_12_on(version: str | None, outcome: str) -> None:
    assert run_check("TO105", torch=Torch(version=version)).outcome == outcome


@pytest.mark.parametrize(
    ("version", "said"),
    [
        ("2.14.1", "a release"),
        ("2.15.0a0+git2d5fec4", "no table"),
        ("2.16.0.dev20261120", "11 days old"),
        ("2.14.0.dev20260601", "left the nightly index"),
    ],
)
def test_kind_of_build(version: str, said: str) -> None:
    verdict = run_check("TO106", torch=Torch(version=version), today=date(2026, 12, 1))
    assert verdict.outcome == "pass"
    assert said in verdict.detail


def test_kind_of_build_needs_a_version() -> None:
    assert run_check("TO106").missing == ("torch.version",)
