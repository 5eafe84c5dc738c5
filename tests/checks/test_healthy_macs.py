"""Whole Macs: a healthy one gets no finding, and one fault is told by the check of that fault alone."""

from __future__ import annotations

from dataclasses import replace
from datetime import date

import pytest

from mpsdoctor import (
    Binaries,
    Binary,
    Distribution,
    Facts,
    ImportFailure,
    Packages,
    ProcessEnd,
    Shadow,
    Torch,
)
from mpsdoctor.diagnosis import diagnose
from mpsdoctor.registry import Finding, judge, load_registry

TODAY = date(2026, 12, 1)


@pytest.mark.parametrize("fixture", ["wheel_mac", "conda_mac"])
def test_a_healthy_mac_gets_no_finding(fixture: str, request: pytest.FixtureRequest) -> None:
    facts = request.getfixturevalue(fixture)
    findings = judge(facts, load_registry(), today=TODAY)
    assert [(f.id, f.verdict.detail) for f in findings if f.outcome not in ("pass", "skip")] == []
    assert diagnose(findings, facts).verdict == "healthy"


def findings_of(facts: Facts) -> dict[str, Finding]:
    """What went wrong, by the id of the check."""
    found = judge(facts, load_registry(), today=TODAY)
    return {one.id: one for one in found if one.outcome in ("fail", "warn", "crash")}


class TestOneFaultInAHealthyMac:
    """The facts of a whole Mac with one thing changed: only the check of that thing speaks."""

    def outcomes(self, facts: Facts) -> dict[str, str]:
        return {name: finding.outcome for name, finding in findings_of(facts).items()}

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
        verdict = findings_of(facts)["PK104"].verdict
        assert verdict.remedies[0].commands[0][:2] == ("uv", "pip")


def failing(message: str, file: str | None = None) -> Torch:
    return Torch(imported=False, import_failure=ImportFailure(message=message, file=file))


def causes_of(facts: Facts) -> list[str]:
    return [one.cause for one in diagnose(judge(facts, load_registry(), today=TODAY), facts).causes]


class TestAFailedImportHasOneCause:
    """What the files show is the cause; that torch cannot be imported follows from it."""

    def test_a_file_called_torch(self, wheel_mac: Facts) -> None:
        surroundings = replace(wheel_mac.environment, shadows=(Shadow(name="torch", path="/proj/torch.py"),))
        torch = failing("No module named 'torch.nn'; 'torch' is not a package", "/proj/torch.py")
        assert causes_of(replace(wheel_mac, environment=surroundings, torch=torch)) == ["local-file-shadows-torch"]

    def test_files_for_another_architecture(self, wheel_mac: Facts) -> None:
        files = tuple(
            replace(b, kind="mach-o", architectures=("x86_64",)) if b.role.startswith("torch") else b
            for b in wheel_mac.binaries.files or ()
        )
        torch = failing("dlopen(/e/_C.so, 2): incompatible architecture (have 'x86_64', need 'arm64')")
        facts = replace(wheel_mac, binaries=Binaries(files=files), torch=torch)
        assert causes_of(facts) == ["arch-mismatch-binaries"]

    def test_a_missing_openmp_runtime(self, wheel_mac: Facts) -> None:
        files = tuple(b for b in wheel_mac.binaries.files or () if not b.path.endswith("torch/lib/libomp.dylib"))
        torch = failing("dlopen(/e/_C.so, 2): Library not loaded: @rpath/libomp.dylib")
        assert causes_of(replace(wheel_mac, binaries=Binaries(files=files), torch=torch)) == ["missing-libomp"]

    def test_two_openmp_runtimes_that_crash_without_a_word(self, conda_mac: Facts) -> None:
        own = Binary(
            path="/e/site-packages/torch/lib/libomp.dylib", role="openmp", kind="mach-o", architectures=("arm64",)
        )
        files = Binaries(files=(*(conda_mac.binaries.files or ()), own))
        torch = Torch(imported=False, end=ProcessEnd(how="signal", signal="SIGSEGV", stage="import"), stage="import")
        assert causes_of(replace(conda_mac, binaries=files, torch=torch)) == ["duplicate-openmp"]

    def test_torch_of_two_sources(self, conda_mac: Facts) -> None:
        wheel = Distribution(name="torch", version="2.9.1", location="/x", installer="pip", missing_files=0)
        facts = replace(
            conda_mac,
            packages=Packages(distributions=(wheel,)),
            torch=failing("Symbol not found: __ZN2at8internal15invoke_parallel Expected in: /e/lib/libtorch_cpu.dylib"),
        )
        assert causes_of(facts) == ["mixed-package-sources"]

    def test_a_truncated_library(self, wheel_mac: Facts) -> None:
        files = tuple(
            replace(b, kind="truncated") if "libtorch_cpu" in b.path else b for b in wheel_mac.binaries.files or ()
        )
        facts = replace(wheel_mac, binaries=Binaries(files=files), torch=failing("dlopen: truncated mach-o"))
        assert causes_of(facts) == ["torch-import-fails"]

    def test_a_variable_that_this_torch_cannot_read(self, wheel_mac: Facts) -> None:
        surroundings = replace(wheel_mac.environment, variables={"PYTORCH_ENABLE_MPS_FALLBACK": "true"})
        old = Packages(distributions=(Distribution(name="torch", version="2.6.0", installer="uv", missing_files=0),))
        torch = replace(failing("stoi: no conversion"), version="2.6.0")
        assert causes_of(replace(wheel_mac, environment=surroundings, packages=old, torch=torch)) == [
            "env-var-ineffective"
        ]


class TestAnIntelPythonOnAppleSilicon:
    def test_all_that_its_environment_shows_follows_from_it(self, conda_mac: Facts) -> None:
        intel = tuple(replace(p, subdir="osx-64") for p in conda_mac.conda.packages or ())
        old = Packages(
            distributions=(
                Distribution(name="torch", version="2.2.2", installer="pip"),
                Distribution(name="torchvision", version="0.22.0", installer="conda"),
                Distribution(name="numpy", version="2.0.0", installer="pip"),
            )
        )
        facts = replace(
            conda_mac,
            interpreter=replace(conda_mac.interpreter, machine="x86_64", translated=True, macos_version_seen="10.16"),
            conda=replace(conda_mac.conda, subdir="osx-64", tool_platform="osx-64", packages=intel),
            packages=old,
            torch=Torch(imported=True, version="2.2.2", built=True, available=True),
        )
        assert causes_of(facts) == ["x86-python-under-rosetta"]
