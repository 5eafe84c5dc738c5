"""The conda plans solve for osx-arm64, by conda's own kind of solver (rattler), against a channel made here."""

from __future__ import annotations

import asyncio
import dataclasses
import hashlib
import json
from pathlib import Path

import pytest
from rattler import BuildString, GenericVirtualPackage, PackageName, Version, solve

from mpsdoctor.facts import Torch
from mpsdoctor.knowledge import releases, versions
from mpsdoctor.repair.plan import Plan, Step
from mpsdoctor.repair.survey import Survey
from tests.fixes.golden import CASES, Case, conda_env, mac, recording

# (name, version, build, depends): as on conda-forge, with its own build strings.
PACKAGES = [
    *[("python", f"3.{minor}.9", "0_cpython", ["__osx >=11.0"]) for minor in (10, 11, 12, 13, 14)],
    *[("numpy", version, "0", ["python"]) for version in ("1.26.4", "2.3.5")],
    *[
        ("pandas", "2.3.3", "0", ["python", "numpy"]),
        ("pandas", "2.2.3", "0", ["python", "numpy"]),
        ("setuptools", "80.0", "0", ["python"]),
    ],
    *[(name, "21.1.0", "0", []) for name in ("llvm-openmp",)],
    *[
        (name, torch, f"cpu_generic_{n}", ["__osx >=11.0", "python", "llvm-openmp", "numpy"])
        for n, torch in enumerate(("2.8.0", "2.9.1", "2.13.0", "2.14.1", "2.15.0"))
        for name in ("pytorch",)
    ],
    *[
        ("torchvision", vision, "cpu_0", [f"pytorch {torch}.*", "python"])
        for vision, torch in (
            ("0.23.0", "2.8"),
            ("0.24.1", "2.9"),
            ("0.28.0", "2.13"),
            ("0.29.1", "2.14"),
            ("0.29.2", "2.15"),
        )
    ],
    ("pytorch-gpu", "2.7.1", "gpu_mps_0", ["python"]),
]


@pytest.fixture(scope="module")
def channel(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("channel")
    records = {}
    for name, version, build, depends in PACKAGES:
        file = f"{name}-{version}-{build}.conda"
        digest = hashlib.sha256(file.encode()).hexdigest()
        records[file] = {"name": name, "version": version, "build": build, "build_number": 0, "depends": depends,
                         "subdir": "osx-arm64", "md5": digest[:32], "sha256": digest, "size": 1}  # fmt: skip
    for subdir, found in (("osx-arm64", records), ("noarch", {})):
        (folder / subdir).mkdir()
        document = {"info": {"subdir": subdir}, "packages": {}, "packages.conda": found, "repodata_version": 1}
        (folder / subdir / "repodata.json").write_text(json.dumps(document))
    return folder.as_uri()


def conda_steps(plan: Plan) -> list[Step]:
    return [s for s in plan.steps if s.argv and s.argv[0].endswith("conda") and s.argv[1] in ("create", "install")]


def solved(step: Step, channel: str, macos: str) -> dict[str, str]:
    """The packages that the step would bring to a Mac with this macOS."""
    assert step.argv is not None
    rest = list(step.argv[2:])
    for option in ("--prefix", "--channel"):
        if option in rest:
            where = rest.index(option)
            del rest[where : where + 2]
    specs = [word for word in rest if not word.startswith("--")]
    system = GenericVirtualPackage(PackageName("__osx"), Version(macos), BuildString("0"))
    records = asyncio.run(solve([channel], specs, platforms=["osx-arm64", "noarch"], virtual_packages=[system]))
    return {record.name.normalized: str(record.version) for record in records}


WITH_CONDA = {
    **{name: case for name, case in CASES.items() if conda_steps(case.plan())},
    "recorded Rosetta": recording("05-m1pro-anaconda-x86_64-rosetta"),
}


@pytest.mark.parametrize("name", sorted(WITH_CONDA))
def test_a_conda_plan_solves_for_apple_silicon(name: str, channel: str) -> None:
    case = WITH_CONDA[name]
    macos = case.facts.host.macos_version or ""
    steps = conda_steps(case.plan())
    assert steps
    for step in steps:
        brought = solved(step, channel, macos)
        release = releases.release(brought.get("pytorch") or brought["pytorch-gpu"])
        assert release is not None
        assert versions.macos_in(versions.macos(macos) or (), release.mps_floor, None)


@pytest.mark.parametrize(
    ("macos", "torch"), [("13.6", "2.8.0"), ("14.5", "2.14.1"), ("15.5", "2.15.0"), ("26.4", "2.15.0")]
)
def test_conda_gets_the_newest_torch_whose_gpu_support_runs_here(macos: str, torch: str, channel: str) -> None:
    """conda-forge's builds install on any macOS from 11 on; only the bound in the plan keeps the GPU."""
    interpreter, conda = conda_env(pytorch="2.13.0 cpu_generic_0", torchvision="0.28.0 cpu_0")
    facts = dataclasses.replace(
        CASES["companion-version-mismatch, conda"].facts,
        host=mac(macos_version=macos),
        interpreter=interpreter,
        conda=conda,
        torch=Torch(imported=True, version="2.13.0"),
    )
    case = Case(facts, Survey(), causes=("known-bad-torch-release",))
    (step,) = conda_steps(case.plan())
    brought = solved(step, channel, macos)
    assert brought["pytorch"] == torch
    assert "torchvision" in brought


def test_the_new_environment_says_which_platform_it_is_for() -> None:
    (step,) = conda_steps(WITH_CONDA["recorded Rosetta"].plan())
    assert step.env == {"CONDA_SUBDIR": "osx-arm64"}
    assert step.argv is not None
    assert Path(step.argv[0]).parts[-3:] == ("miniforge3", "bin", "conda")
