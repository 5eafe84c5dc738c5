"""Pins that no Mac can meet, in each format: rewritten for Macs alone, everything else as it was."""

from __future__ import annotations

import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st
from packaging.requirements import Requirement

from mpsdoctor.repair.pins import foreign_indexes, rewrite_requirements, rewriter, split_requirement
from mpsdoctor.repair.pins_toml import rewrite_pixi, rewrite_pyproject

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

LINUX = {"sys_platform": "linux", "platform_system": "Linux", "platform_machine": "x86_64"}
MAC = {"sys_platform": "darwin", "platform_system": "Darwin", "platform_machine": "arm64"}


def wanted(lines: list[str], system: dict[str, str]) -> set[str]:
    """What these requirements ask for on a system."""
    found = [Requirement(line) for line in lines]
    return {f"{r.name}{r.specifier}" for r in found if r.marker is None or r.marker.evaluate(system)}


FOREIGN = [
    "torch==2.1.0+cu118",
    "torch == 2.6.0+cpu",
    "torchvision==0.16.0+cu118",
    "torch==2.5.1+rocm6.2",
    "torchaudio==2.1+xpu",
]


@pytest.mark.parametrize("line", FOREIGN)
def test_a_pin_is_split_by_system(line: str) -> None:
    new, changes = rewrite_requirements(f"numpy\n{line}  # why\nrich==14.0")
    assert len(changes) == 1
    lines = [part.partition("#")[0] for part in new.splitlines()]
    assert wanted(lines, LINUX) == wanted(["numpy", line, "rich==14.0"], LINUX)
    assert wanted(lines, MAC) == {
        "numpy",
        "rich==14.0",
        f"{Requirement(line).name}{str(Requirement(line).specifier).partition('+')[0]}",
    }
    assert "# why" in new
    assert new.endswith("rich==14.0")
    assert rewrite_requirements(new) == (new, ())


@pytest.mark.parametrize(
    "line", ["triton", "triton==2.1.0", "xformers>=0.0.2", "nvidia-cudnn-cu12==9.1", "flash-attn", "flash_attn"]
)
def test_a_package_without_a_mac_build_is_for_the_others(line: str) -> None:
    new, _ = rewrite_requirements(line + "\r\n")
    assert wanted([new.strip()], MAC) == set()
    assert wanted([new.strip()], LINUX) == wanted([line], LINUX)
    assert new.endswith("\r\n")


FINE = [
    "torch==2.1.0",
    "torch==2.1.0+cu118 ; sys_platform == 'linux'",
    "triton; platform_system == 'Linux'",
    "# torch==2.1.0+cu118",
    "-r other.txt",
    "--extra-index-url https://download.pytorch.org/whl/cu118",
    "--index-url https://download.pytorch.org/whl/cpu",
    "numpy==1.0+local",
    "not a requirement at all !!",
    "torch @ https://example.org/torch-2.1.0-cp311-none-macosx_11_0_arm64.whl",
]


@pytest.mark.parametrize("line", FINE)
def test_what_a_mac_can_meet_stays(line: str) -> None:
    assert rewrite_requirements(line) == (line, ())


@pytest.mark.parametrize("option", ["--index-url ", "--index-url=", "-i "])
def test_an_index_without_mac_wheels_is_told_and_left_for_the_others(option: str) -> None:
    line = f"{option}https://download.pytorch.org/whl/cu121"
    text = f"torch\n{line}\n"
    assert rewrite_requirements(text) == (text, ())
    assert foreign_indexes(text) == (line,)


@pytest.mark.parametrize("line", [*FINE, "# --index-url https://download.pytorch.org/whl/cu121"])
def test_an_index_with_mac_wheels_is_not_told(line: str) -> None:
    assert foreign_indexes(line) == ()


def test_a_wheel_for_linux_is_for_linux() -> None:
    url = "https://download.pytorch.org/whl/cu118/torch-2.1.0%2Bcu118-cp310-cp310-linux_x86_64.whl"
    change = split_requirement(f"torch @ {url}")
    assert change is not None
    assert wanted(list(change.new), MAC) == {"torch==2.1.0"}
    assert Requirement(change.new[0]).url == url


@given(st.text(max_size=80))
def test_no_text_is_too_strange(text: str) -> None:
    for name in ("requirements.txt", "pyproject.toml", "pixi.toml"):
        rewrite = rewriter(name)
        assert rewrite is not None
        new, changes = rewrite(text)
        assert changes or new == text


PYPROJECT = """\
# a project
[project]
name = "x"   # odd   spacing stays
dependencies = [
    "numpy",
    "torch==2.1.0+cu118",  # pinned
]

[project.optional-dependencies]
gpu = ["triton"]

[dependency-groups]
dev = ["torchvision==0.16.0+cu118", {include-group = "test"}]
test = []

[tool.uv.sources]
torch = { index = "pytorch-cu121" }
torchvision = [{ index = "pytorch-cu121", marker = "sys_platform == 'linux'" }]

[[tool.uv.index]]
name = "pytorch-cu121"
url = "https://download.pytorch.org/whl/cu121"
explicit = true

[tool.poetry.dependencies]
python = "^3.11"
torch = "2.1.0+cu118"
torchaudio = { version = "2.1.0", source = "torch_cu118" }

[tool.other]
keep = 'this'
"""


def test_pyproject_keeps_its_form_and_serves_both_systems() -> None:
    new, changes = rewrite_pyproject(PYPROJECT)
    assert len(changes) == 6
    before, after = tomllib.loads(PYPROJECT), tomllib.loads(new)
    both = after["project"]["dependencies"]
    assert wanted(both, MAC) == {"numpy", "torch==2.1.0"}
    assert wanted(both, LINUX) == {"numpy", "torch==2.1.0+cu118"}
    assert wanted(after["project"]["optional-dependencies"]["gpu"], MAC) == set()
    assert wanted(after["dependency-groups"]["dev"][:2], MAC) == {"torchvision==0.16.0"}
    assert after["dependency-groups"]["dev"][-1] == {"include-group": "test"}
    assert after["tool"]["uv"]["sources"]["torch"] == {"index": "pytorch-cu121", "marker": "sys_platform != 'darwin'"}
    assert after["tool"]["uv"]["sources"]["torchvision"] == before["tool"]["uv"]["sources"]["torchvision"]
    others, mac = after["tool"]["poetry"]["dependencies"]["torch"]
    assert (others["version"], others["markers"]) == ("2.1.0+cu118", "sys_platform != 'darwin'")
    assert (mac["version"], mac["markers"]) == ("2.1.0", "sys_platform == 'darwin'")
    assert after["tool"]["poetry"]["dependencies"]["torchaudio"][0]["source"] == "torch_cu118"
    assert after["tool"]["other"] == before["tool"]["other"]
    for kept in ("# a project", 'name = "x"   # odd   spacing stays', "# pinned", "keep = 'this'", "explicit = true"):
        assert kept in new
    assert rewrite_pyproject(new) == (new, ())


PIXI = """\
[workspace]
channels = ["conda-forge"]
platforms = ["linux-64"]  # for now

[dependencies]
python = "3.12.*"
pytorch-cuda = "12.1.*"   # only there

[pypi-dependencies]
torch = { version = "==2.1.0+cu121", index = "https://download.pytorch.org/whl/cu121" }
rich = "*"
"""


@pytest.mark.parametrize("inside", [False, True])
def test_pixi_moves_to_linux_what_only_linux_has(inside: bool) -> None:
    text = PIXI.replace("[", "[tool.pixi.", 1).replace("\n[", "\n[tool.pixi.") if inside else PIXI
    new, changes = (rewrite_pyproject if inside else rewrite_pixi)(text)
    assert len(changes) == 3
    after = tomllib.loads(new)
    after = after["tool"]["pixi"] if inside else after
    assert after["workspace"]["platforms"] == ["linux-64", "osx-arm64"]
    assert after["dependencies"] == {"python": "3.12.*"}
    assert after["pypi-dependencies"] == {"torch": "==2.1.0", "rich": "*"}
    linux = after["target"]["linux-64"]
    assert linux["dependencies"] == {"pytorch-cuda": "12.1.*"}
    assert linux["pypi-dependencies"]["torch"]["version"] == "==2.1.0+cu121"
    assert "# for now" in new
    assert (rewrite_pyproject if inside else rewrite_pixi)(new)[1] == ()
