"""Companions, NumPy, sources, damage, architectures and OpenMP."""

from __future__ import annotations

from dataclasses import replace

import pytest

from mpsdoctor import (
    Binaries,
    Binary,
    Conda,
    CondaPackage,
    Distribution,
    Host,
    ImportFailure,
    Interpreter,
    Packages,
    Torch,
    run_check,
)

PREFIX = "/opt/conda/envs/ml"
SITE = f"{PREFIX}/lib/python3.12/site-packages"
PYTHON = Interpreter(executable=f"{PREFIX}/bin/python", machine="arm64", prefix=PREFIX, version="3.12.4")
MAC = Host(system="Darwin", arm64_capable=True, macos_version="15.5")


def packages(installer: str | None = "pip", **versions: str) -> Packages:
    return Packages(
        distributions=tuple(
            Distribution(name=n, version=v, location=SITE, installer=installer) for n, v in versions.items()
        )
    )


def records(**versions: str) -> Conda:
    """conda's records: name="version build"."""
    made = []
    for name, text in versions.items():
        version, _, build = text.partition(" ")
        made.append(CondaPackage(name=name.replace("_", "-"), version=version, build=build, channel="conda-forge"))
    return Conda(present=True, prefix=PREFIX, packages=tuple(made))


class TestCompanions:
    def companions(self, **versions: str):
        return run_check("PK101", packages=packages(**versions), interpreter=PYTHON)

    @pytest.mark.parametrize(
        "versions",
        [
            {"torch": "2.14.1", "torchvision": "0.29.1", "torchaudio": "2.11.1"},
            {"torch": "2.15.0", "torchvision": "0.29.2"},
            {"torch": "2.4.1.post101", "torchvision": "0.19.1"},
            {"torch": "2.0.0", "torchaudio": "2.0.1"},
        ],
    )
    def test_passes_on_pairs_that_belong_together(self, versions: dict[str, str]) -> None:
        assert self.companions(**versions).outcome == "pass"

    @pytest.mark.parametrize(
        ("versions", "right"),
        [
            ({"torch": "2.0.0", "torchvision": "0.13.1"}, "torchvision==0.15.1"),
            ({"torch": "2.14.1", "torchvision": "0.20.1"}, "torchvision==0.29.1"),
            ({"torch": "2.5.1", "torchaudio": "2.3.0"}, "torchaudio==2.5.1"),
            ({"torch": "2.5.1", "torchvision": "0.29.2"}, "torchvision==0.20.1"),
        ],
    )
    def test_fails_on_another_generation_and_names_the_right_version(
        self, versions: dict[str, str], right: str
    ) -> None:
        verdict = self.companions(**versions)
        assert verdict.outcome == "fail"
        assert right in verdict.remedies[0].commands[0]
        assert f"torch=={versions['torch']}" in verdict.remedies[0].commands[0]

    def test_warns_within_a_generation_and_leaves_that_to_conda(self) -> None:
        pair = {"torch": "2.7.1", "torchvision": "0.22.0"}
        assert self.companions(**pair).outcome == "warn"
        conda = records(pytorch="2.7.1", torchvision="0.22.0")
        assert run_check("PK101", packages=packages("conda", **pair), conda=conda).outcome == "pass"

    def test_conda_mends_what_conda_brought(self) -> None:
        pair = {"torch": "2.7.1", "torchvision": "0.15.2"}
        conda = records(pytorch="2.7.1", torchvision="0.15.2")
        verdict = run_check("PK101", packages=packages("conda", **pair), conda=conda)
        assert verdict.remedies[0].commands[0][:2] == ("conda", "install")

    def test_a_nightly_needs_nightlies(self) -> None:
        verdict = self.companions(torch="2.14.0.dev20260801", torchvision="0.28.0")
        assert verdict.outcome == "fail"
        assert "--pre" in verdict.remedies[0].commands[0]
        assert self.companions(torch="2.16.0.dev20261120", torchvision="0.29.2").outcome == "pass"
        assert self.companions(torch="2.14.0.dev20260801", torchvision="0.29.0.dev20260801").outcome == "pass"

    def test_a_nightly_of_another_day_is_told_by_its_own_requirement(self) -> None:
        vision = Distribution(name="torchvision", version="0.25.0.dev20251008", requires=("torch==2.10.0.dev20251008",))
        same = replace(
            packages(torch="2.10.0.dev20251008"),
            distributions=(Distribution(name="torch", version="2.10.0.dev20251008"), vision),
        )
        other = Packages(distributions=(Distribution(name="torch", version="2.10.0.dev20251101"), vision))
        assert run_check("PK101", packages=same).outcome == "pass"
        assert run_check("PK101", packages=other).outcome == "fail"

    def test_claims_nothing_of_builds_from_source_and_of_unreadable_requirements(self) -> None:
        pinned = Distribution(name="torchvision", version="0.30.0a0", requires=("!! damaged", "torch==2.15.0"))
        for version in ("2.15.0a0+git2d5fec4", "2.16.0.dev20261120"):
            found = Packages(distributions=(Distribution(name="torch", version=version), pinned))
            assert run_check("PK101", packages=found).outcome == ("fail" if "dev" in version else "pass")
        assert self.companions(torch="2.2.0a0+git2d5fec4", torchvision="0.17.0a0").outcome == "pass"

    def test_without_companions_or_facts(self) -> None:
        assert self.companions(torch="2.14.1").outcome == "skip"
        assert run_check("PK101", torch=Torch(version="2.14.1")).missing == ("packages.distributions",)
        assert run_check("PK101").missing == ("torch.version",)
        extract = Packages(distributions=(), partial=True)
        assert run_check("PK101", torch=Torch(version="2.14.1"), packages=extract).outcome == "unknown"


class TestNumPy:
    def numpy(self, torch_version: str, numpy_version: str, **facts: object):
        return run_check(
            "PK102",
            packages=packages(torch=torch_version, numpy=numpy_version),
            host=MAC,
            **{"interpreter": PYTHON, **facts},
        )

    def test_fails_on_numpy_2_with_a_torch_for_numpy_1(self) -> None:
        verdict = self.numpy("2.2.2", "2.1.0")
        assert verdict.outcome == "fail"
        assert verdict.remedies[0].commands[0][-1] == "numpy<2"
        assert len(verdict.remedies) == 2

    def test_an_intel_python_gets_no_newer_torch(self) -> None:
        assert len(self.numpy("2.2.2", "2.1.0", interpreter=Interpreter(machine="x86_64")).remedies) == 1

    @pytest.mark.parametrize(("torch", "numpy"), [("2.3.0", "2.0.0"), ("2.2.2", "1.26.4"), ("2.14.1", "2.4.6")])
    def test_passes_on_what_fits(self, torch: str, numpy: str) -> None:
        assert self.numpy(torch, numpy).outcome == "pass"

    def test_what_conda_built_together_fails_only_with_torchs_own_warning(self) -> None:
        conda = records(pytorch="2.2.2", numpy="2.0.0")
        assert self.numpy("2.2.2", "2.0.0", conda=conda).outcome == "pass"
        torch = Torch(version="2.2.2", imported=True, warnings=("Failed to initialize NumPy: _ARRAY_API not found",))
        assert self.numpy("2.2.2", "2.0.0", conda=conda, torch=torch).outcome == "fail"

    def test_without_facts(self) -> None:
        assert run_check("PK102").missing == ("torch.version",)
        assert run_check("PK102", torch=Torch(version="2.2.2")).missing == ("packages.distributions",)
        assert run_check("PK102", packages=packages(torch="2.2.2")).outcome == "skip"


class TestOneSource:
    def sources(self, found: Packages, conda: Conda | None = None, torch: Torch | None = None):
        return run_check("PK103", packages=found, conda=conda or Conda(), interpreter=PYTHON, torch=torch or Torch())

    def test_warns_where_conda_and_pip_both_own_torch(self) -> None:
        verdict = self.sources(packages(torch="2.14.1"), records(libtorch="2.7.1", pytorch="2.7.1"))
        assert verdict.outcome == "warn"
        assert {"pytorch", "libtorch"} <= set(verdict.remedies[0].commands[0])

    def test_fails_where_torch_does_not_load(self) -> None:
        torch = Torch(imported=False, import_failure=ImportFailure(message="Symbol not found"))
        assert self.sources(packages(torch="2.14.1"), records(pytorch="2.7.1"), torch).outcome == "fail"

    def test_warns_of_condas_torchaudio_beside_pips_torch(self) -> None:
        found = Packages(
            distributions=(*packages(torch="2.5.1").distributions, *packages("conda", torchaudio="2.5.1").distributions)
        )
        assert self.sources(found, records(torchaudio="2.5.1")).outcome == "warn"

    def test_without_an_installer_the_version_tells(self) -> None:
        assert self.sources(packages(None, torch="2.14.1"), records(pytorch="2.7.1")).outcome == "warn"
        assert self.sources(packages(None, torch="2.7.1.post101"), records(pytorch="2.7.1")).outcome == "pass"

    def test_pips_torch_beside_condas_numpy_is_no_fault(self) -> None:
        found = Packages(
            distributions=(*packages(torch="2.14.1").distributions, *packages("conda", numpy="2.3.2").distributions)
        )
        assert self.sources(found, records(numpy="2.3.2")).outcome == "pass"

    def test_numpy_of_two_sources_matters_across_generations(self) -> None:
        assert self.sources(packages(numpy="2.1.0"), records(numpy="1.26.4")).outcome == "warn"
        assert self.sources(packages(numpy="2.1.0"), records(numpy="2.0.2")).outcome == "pass"

    def test_what_conda_lists_of_pips_is_not_condas(self) -> None:
        listed = Conda(present=True, packages=(CondaPackage(name="torch", version="2.14.1", channel="pypi"),))
        assert self.sources(packages(torch="2.14.1"), listed).outcome == "pass"

    def copies(self, first: tuple[str, str], second: tuple[str, str]):
        two = tuple(
            Distribution(name="torch", version=v, location=place, installer="pip") for v, place in (first, second)
        )
        return self.sources(Packages(distributions=two))

    def test_warns_of_two_versions_in_one_folder(self) -> None:
        verdict = self.copies(("2.1.0", SITE), ("2.5.1", SITE))
        assert verdict.outcome == "warn"
        assert "2.1.0" in verdict.detail
        assert "2.5.1" in verdict.detail

    def test_warns_of_a_copy_in_the_users_folder_that_hides_the_environments(self) -> None:
        assert self.copies(("2.1.0", "/Users/u/.local/lib/python3.12/site-packages"), ("2.5.1", SITE)).outcome == "warn"

    def test_a_copy_over_the_base_interpreters_is_meant(self) -> None:
        assert self.copies(("2.5.1", SITE), ("2.1.0", "/opt/homebrew/lib/python3.12/site-packages")).outcome == "pass"

    def test_two_records_of_one_version_are_one_copy(self) -> None:
        assert self.copies(("2.5.1", SITE), ("2.5.1", SITE)).outcome == "pass"

    def test_without_facts(self) -> None:
        assert run_check("PK103").missing == ("packages.distributions",)
        assert self.sources(Packages(distributions=(), partial=True)).missing == ("packages.torch",)


class TestFilesAreWhole:
    def whole(self, missing: int | None = None, kind: str | None = None, installer: str = "pip", **facts: object):
        found = Distribution(name="torch", version="2.14.1", installer=installer, missing_files=missing)
        files = (Binary(path=f"{SITE}/torch/lib/libtorch_cpu.dylib", role="torch", kind=kind),) if kind else ()
        return run_check(
            "PK104",
            packages=Packages(distributions=(found,)),
            binaries=Binaries(files=files),
            interpreter=PYTHON,
            **facts,
        )

    def test_passes_on_whole_files(self) -> None:
        assert self.whole(0).outcome == "pass"
        assert self.whole(None, "mach-o").outcome == "pass"

    @pytest.mark.parametrize("kind", ["missing", "truncated", "unreadable"])
    def test_fails_on_a_damaged_core_library(self, kind: str) -> None:
        verdict = self.whole(0, kind)
        assert (verdict.outcome, verdict.gpu) == ("fail", False)
        assert "torch==2.14.1" in verdict.remedies[0].commands[0]

    def test_missing_files_fail_with_the_import_and_warn_without(self) -> None:
        failed = Torch(imported=False, import_failure=ImportFailure(message="No module named 'torch._dynamo'"))
        assert self.whole(3, torch=failed).outcome == "fail"
        assert self.whole(3).outcome == "warn"
        assert self.whole(3, torch=Torch(imported=True)).outcome == "warn"

    def test_an_imported_torch_outweighs_a_header(self) -> None:
        assert self.whole(0, "unreadable", torch=Torch(imported=True)).outcome == "pass"

    def test_condas_list_of_files_is_no_proof(self) -> None:
        assert self.whole(9, "mach-o", "conda", conda=records(pytorch="2.14.1")).outcome == "pass"
        broken = self.whole(9, "truncated", "conda", conda=records(pytorch="2.14.1"))
        assert broken.remedies[0].commands == (("conda", "install", "--force-reinstall", "pytorch"),)

    def test_without_facts(self) -> None:
        assert run_check("PK104").missing == ("packages.missing_files",)
