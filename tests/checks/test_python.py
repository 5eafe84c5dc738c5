"""The interpreter."""

from __future__ import annotations

from datetime import date

import pytest

from mpsdoctor import Conda, Distribution, Host, Interpreter, Packages, ProcessEnd, Torch, run_check

SILICON = Host(system="Darwin", arm64_capable=True, macos_version="15.5")


def commands(verdict) -> str:
    return " ".join(word for remedy in verdict.remedies for command in remedy.commands for word in command)


class TestInterpreterAnswers:
    def test_passes_where_it_answers(self) -> None:
        assert (
            run_check("PY100", interpreter=Interpreter(executable="/e/bin/python", base_exists=True)).outcome == "pass"
        )

    def test_does_not_know_without_an_interpreter(self) -> None:
        assert run_check("PY100").missing == ("interpreter.executable",)

    @pytest.mark.parametrize(
        ("interpreter", "said"),
        [
            (Interpreter(executable="/e/bin/python", base_exists=False), "is gone"),
            (Interpreter(end=ProcessEnd(how="signal", signal="SIGABRT")), "SIGABRT"),
            (Interpreter(end=ProcessEnd(how="not-started", error="no such file")), "no such file"),
        ],
    )
    def test_fails_where_the_environment_is_broken_or_silent(self, interpreter: Interpreter, said: str) -> None:
        verdict = run_check("PY100", interpreter=interpreter)
        assert verdict.outcome == "fail"
        assert said in verdict.detail

    def test_a_moved_environment_still_works_and_stops_nothing(self) -> None:
        verdict = run_check("PY100", interpreter=Interpreter(executable="/e/bin/python", venv_prefix_moved=True))
        assert verdict.outcome == "warn"
        assert "moved or copied" in verdict.detail

    def test_a_slow_start_is_no_broken_environment(self) -> None:
        verdict = run_check("PY100", interpreter=Interpreter(end=ProcessEnd(how="timeout", seconds=15)))
        assert (verdict.outcome, verdict.cause) == ("unknown", None)
        assert "15 s" in verdict.detail

    def test_a_base_that_is_gone_is_certain_and_a_silence_is_not(self) -> None:
        gone = Interpreter(base_exists=False, end=ProcessEnd(how="not-started"))
        assert run_check("PY100", interpreter=gone).confidence == "certain"
        assert run_check("PY100", interpreter=Interpreter(end=ProcessEnd(how="exit", code=1))).confidence == "possible"


class TestNativeInterpreter:
    def native(self, interpreter: Interpreter, host: Host = SILICON, conda: Conda | None = None):
        return run_check("PY101", host=host, interpreter=interpreter, conda=conda or Conda())

    def test_passes_on_arm64(self) -> None:
        assert self.native(Interpreter(machine="arm64")).outcome == "pass"

    @pytest.mark.parametrize(
        "interpreter",
        [
            Interpreter(machine="x86_64"),
            Interpreter(binary_architectures=("x86_64",)),
            Interpreter(platform_tag="macosx-10.9-x86_64"),
        ],
    )
    def test_fails_on_x86_64_on_apple_silicon(self, interpreter: Interpreter) -> None:
        verdict = self.native(interpreter)
        assert (verdict.outcome, verdict.cause, verdict.gpu) == ("fail", None, False)

    def test_a_translated_process_needs_no_other_proof(self) -> None:
        assert self.native(Interpreter(machine="x86_64", translated=True), Host()).cause is None

    def test_without_the_hardware_it_is_not_called_rosetta(self) -> None:
        verdict = self.native(Interpreter(machine="x86_64"), Host(system="Darwin"))
        assert (verdict.outcome, verdict.cause) == ("fail", "x86-python-hardware-unknown")
        assert verdict.ask

    def test_is_right_on_an_intel_mac(self) -> None:
        assert self.native(Interpreter(machine="x86_64"), Host(arm64_capable=False)).outcome == "skip"

    def test_does_not_know_without_an_architecture(self) -> None:
        assert self.native(Interpreter()).missing == ("interpreter.machine",)
        assert self.native(Interpreter(platform_tag="macosx-11-universal2")).outcome == "unknown"

    def test_the_remedy_suits_the_kind_of_python(self) -> None:
        universal = Interpreter(machine="x86_64", binary_architectures=("x86_64", "arm64"))
        assert "arch -arm64" in commands(self.native(universal))
        anaconda = self.native(Interpreter(machine="x86_64", version="3.9.13"), conda=Conda(present=True))
        assert "Miniforge" in anaconda.remedies[0].text
        assert "python=3.12" in commands(anaconda)  # no current torch has a build for 3.9
        assert "cpython-3.11-macos-aarch64" in commands(self.native(Interpreter(machine="x86_64", version="3.11.9")))


def test_implementation() -> None:
    assert run_check("PY102", interpreter=Interpreter(implementation="cpython")).outcome == "pass"
    assert run_check("PY102", interpreter=Interpreter(implementation="pypy")).outcome == "fail"
    assert run_check("PY102").missing == ("interpreter.implementation",)


class TestPythonHasATorch:
    def has(self, version: str | None, host: Host = SILICON, machine: str = "arm64", **facts: object):
        return run_check("PY103", host=host, interpreter=Interpreter(version=version, machine=machine), **facts)

    def test_passes_and_names_the_newest(self) -> None:
        assert "2.15.0" in self.has("3.14.6").detail
        assert "2.8.0" in self.has("3.9.13").detail

    @pytest.mark.parametrize("version", ["3.6.15", "3.16.0"])
    def test_fails_for_a_python_that_is_too_old_or_too_new(self, version: str) -> None:
        verdict = self.has(version)
        assert verdict.outcome == "fail"
        assert "uv venv --python" in commands(verdict)

    def test_fails_for_a_new_python_on_an_old_macos(self) -> None:
        assert self.has("3.14.0", Host(macos_version="13.7.4")).outcome == "fail"

    def test_does_not_apply_where_torch_is_installed_or_nothing_fits(self) -> None:
        assert self.has("3.16.0", torch=Torch(version="2.14.1")).outcome == "skip"
        installed = Packages(distributions=(Distribution(name="torch"),))
        assert self.has("3.16.0", packages=installed).outcome == "skip"
        assert self.has("3.12.0", Host(macos_version="11.7")).outcome == "skip"

    def test_does_not_know_without_a_version(self) -> None:
        assert self.has(None).missing == ("interpreter.version",)


class TestPythonIsSupported:
    def supported(self, version: str | None, today: date = date(2026, 12, 1)):
        return run_check("PY104", host=SILICON, interpreter=Interpreter(version=version, machine="arm64"), today=today)

    def test_never_complains_and_tells_the_end_of_life(self) -> None:
        assert self.supported("3.13.3").detail == ""
        old = self.supported("3.9.13")
        assert old.outcome == "pass"
        assert "2.8.0" in old.detail

    def test_the_end_of_life_comes_with_the_day(self) -> None:
        assert self.supported("3.12.4", date(2027, 1, 1)).detail == ""
        assert "no fixes" in self.supported("3.12.4", date(2030, 1, 1)).detail

    def test_does_not_know_without_a_version(self) -> None:
        assert self.supported(None).missing == ("interpreter.version",)
