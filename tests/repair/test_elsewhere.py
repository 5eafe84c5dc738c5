"""A plan for another Mac, asked of a real index by uv: for its macOS and its Python, not for those of this machine."""

from __future__ import annotations

import dataclasses
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from mpsdoctor.repair.elsewhere import with_resolution_elsewhere
from mpsdoctor.repair.plan import Plan
from tests.conftest import RECORDINGS, Ran
from tests.fixes.golden import CASES, Case, _facts, installed, mac, venv
from tests.repair.wheels import UV, Index, environment, page


def asked(case: Case, index: Index, home: Path, uv: str | None = UV) -> Plan:
    return with_resolution_elsewhere(case.plan(), case.facts, environment(index, home), uv)


def with_packages(macos: str = "13.6", python: str = "3.12.11", **versions: str) -> Case:
    """A Mac whose torch is to be another one, and whose user has these packages."""
    packages = installed(torch="2.11.0", **versions)
    return Case(_facts(host=mac(macos_version=macos), interpreter=venv(version=python), packages=packages),
                causes=("macos-too-old-for-torch",))  # fmt: skip


def tagged(index: Index, name: str, version: str, tag: str) -> None:
    """Add a wheel that only some systems take."""
    index.add(name, version)
    folder = index.folder / name
    (folder / f"{name}-{version}-py3-none-any.whl").rename(folder / f"{name}-{version}-{tag}.whl")
    page(index.folder)


def test_all_of_it_is_there(index: Index, tmp_path: Path) -> None:
    plan = asked(with_packages(helper="1.0"), index, tmp_path)
    assert plan.fixes[0].notes[-1] == "the index has all of it for macOS 13.6 and Python 3.12"
    assert plan.cannot_keep == ()


def test_a_pin_that_asks_for_another_torch_cannot_be_kept(index: Index, tmp_path: Path) -> None:
    index.add("needy", "3.1", requires=("torch>=2.9",))
    plan = asked(with_packages(helper="1.0", needy="3.1", gone="7.7"), index, tmp_path)
    assert plan.cannot_keep == ("needy==3.1", "gone==7.7")
    assert "the index has torch and what belongs to it for macOS 13.6" in plan.fixes[0].notes[-1]


@pytest.mark.parametrize(("macos", "lost"), [("13.6", ("newer==1.0",)), ("14.5", ())])
def test_it_is_asked_for_that_macos(macos: str, lost: tuple[str, ...], index: Index, tmp_path: Path) -> None:
    tagged(index, "newer", "1.0", "py3-none-macosx_14_0_arm64")
    assert asked(with_packages(macos, newer="1.0"), index, tmp_path).cannot_keep == lost


@pytest.mark.parametrize(("python", "lost"), [("3.11.9", ("newer==1.0",)), ("3.12.11", ())])
def test_it_is_asked_for_that_python(python: str, lost: tuple[str, ...], index: Index, tmp_path: Path) -> None:
    tagged(index, "newer", "1.0", "cp312-cp312-macosx_11_0_arm64")
    assert asked(with_packages(python=python, newer="1.0"), index, tmp_path).cannot_keep == lost


def test_a_new_environment_is_asked_for_its_own_python(index: Index, tmp_path: Path) -> None:
    case = CASES["macos-too-old-for-torch, Python without one"]
    shutil.rmtree(index.folder / "helper")
    page(index.folder)
    tagged(index, "rich", "14.0", "cp312-cp312-macosx_11_0_arm64")
    plan = asked(case, index, tmp_path)
    assert plan.fixes[0].notes[-1].endswith("for macOS 13.6 and Python 3.12")
    assert plan.cannot_keep == ()


def test_a_torch_that_the_index_has_not_is_told(index: Index, tmp_path: Path) -> None:
    (index.folder / "torch" / "torch-2.8.0-py3-none-any.whl").unlink()
    page(index.folder)
    note = asked(with_packages(), index, tmp_path).fixes[0].notes[-1]
    assert "the index does not give it for macOS 13.6 and Python 3.12" in note
    assert "torch==2.8.0" in note


def test_no_answer_is_no_verdict(index: Index, tmp_path: Path) -> None:
    case = with_packages(helper="1.0")
    assert "not checked against the index: uv is not here" in asked(case, index, tmp_path, None).fixes[0].notes
    index.close()
    plan = asked(case, index, tmp_path)
    assert "not checked against the index" in plan.fixes[0].notes[-1]
    assert plan.cannot_keep == ()


def test_a_hostile_report_asks_for_nothing_but_names(index: Index, tmp_path: Path) -> None:
    case = CASES["a hostile report"]
    quiet = dataclasses.replace(case, facts=dataclasses.replace(case.facts, host=mac(macos_version="14.5")))
    plan = asked(quiet, index, tmp_path)
    assert not any("evil" in pin or "rm" in pin for pin in plan.cannot_keep)


def test_only_a_plan_that_asks_for_it_uses_the_net(index: Index, tmp_path: Path, mpsdoctor: Callable[..., Ran]) -> None:
    env = {**environment(index, tmp_path), "PATH": f"{Path(UV).parent}:/usr/bin:/bin"}
    arguments = ("fix", "--replay", str(RECORDINGS / "04-m1-macos13-old"))
    assert "the index" not in mpsdoctor(*arguments, env=env).out
    assert "the index has" in " ".join(mpsdoctor(*arguments, "--resolve", env=env).out.split())
