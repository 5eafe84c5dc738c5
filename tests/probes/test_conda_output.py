"""Conda's side as conda, mamba, micromamba and pixi print it, and how facts of several places are joined."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mpsdoctor.facts import Conda, CondaPackage
from mpsdoctor.probes.conda import merge_conda, parse_conda_config, parse_conda_info, parse_conda_list
from mpsdoctor.probes.conda_output import channel_name, family_of_path

RECORDINGS = Path(__file__).parents[1] / "recordings"
FORGE = "https://conda.example.org/conda-forge"
MAIN = "https://repo.example.org/pkgs/main"


@pytest.mark.parametrize(
    ("channel", "name"),
    [
        (f"{FORGE}/osx-arm64", "conda-forge"),
        (f"{FORGE}/noarch/", "conda-forge"),
        (MAIN, "pkgs/main"),
        (f"{MAIN}/osx-64", "pkgs/main"),
        ("https://conda.example.org/t/tk-1/private/osx-64", "https://conda.example.org/t/***/private"),
        ("https://mirror.example.org/api/conda/conda-forge/osx-arm64", "conda-forge"),
        ("https://conda.example.org/my-conda-forge/noarch", "https://conda.example.org/my-conda-forge"),
        ("https://user:password@conda.example.org/team/osx-64", "https://conda.example.org/team"),
        ("pypi", "pypi"),
        ("file:///Users/someone/pytorch", "file:///Users/someone/pytorch"),
        ("conda-forge", "conda-forge"),
    ],
)
def test_names_of_channels(channel: str, name: str):
    assert channel_name(channel) == name


@pytest.mark.parametrize(
    ("path", "family"),
    [
        ("/Users/user/opt/anaconda3", "anaconda"),
        ("/opt/homebrew/Caskroom/miniforge/base", "miniforge"),
        ("/Users/user/Miniconda3", "miniconda"),
        ("/Users/user/demo/.pixi/envs/default", "pixi"),
        ("/usr/local", None),
    ],
)
def test_family_of_a_folder(path: str, family: str | None):
    assert family_of_path(path) == family


def recorded(profile: str, file: str) -> str:
    return (RECORDINGS / profile / file).read_text()


NEW, OLD = "02-m2pro-macos15-miniforge", "05-m1pro-anaconda-x86_64-rosetta"


def test_recorded_miniforge_with_conda_26():
    found = merge_conda(
        parse_conda_info(recorded(NEW, "conda_info_--json.json")),
        parse_conda_config(recorded(NEW, "conda_config_--show_--json.json")),
        parse_conda_list(recorded(NEW, "conda_list_--json.json")),
    )
    assert (found.prefix, found.root_prefix) == ("/Users/user/miniforge3/envs/torch", "/Users/user/miniforge3")
    assert (found.environment_name, found.is_base, found.family) == ("torch", False, "miniforge")
    assert (found.tool_platform, found.configured_subdir, found.subdir) == ("osx-arm64", "osx-arm64", "osx-arm64")
    assert (found.conda_version, found.configured_channels) == ("26.7.1", ("conda-forge",))
    assert found.get("pytorch") == CondaPackage(
        name="pytorch",
        version="2.7.1",
        build="cpu_generic_py313_h510b526_1",
        channel="conda-forge",
        subdir="osx-arm64",
    )
    assert found.present is None, "conda answers also where the target is no conda environment"
    assert found.source("packages") == "conda list"
    assert found.source("tool_platform") == "conda info"


def test_recorded_anaconda_with_conda_22():
    found = merge_conda(
        parse_conda_info(recorded(OLD, "conda_info_--json.json")),
        parse_conda_config(recorded(OLD, "conda_config_--show_--json.json")),
        parse_conda_list(recorded(OLD, "conda_list_--json.json")),
    )
    assert (found.environment_name, found.is_base, found.family) == ("ml", False, "anaconda")
    assert (found.tool_platform, found.configured_subdir, found.subdir) == ("osx-64", "osx-64", "osx-64")
    assert (found.conda_version, found.configured_channels) == ("22.9.0", ("pkgs/main", "pkgs/r"))
    assert found.channels == ("pkgs/main",)
    assert found.get("mkl") is not None


@pytest.mark.parametrize(
    ("file", "family", "prefix", "root", "name"),
    [
        (
            "mamba_info_--json.json",
            "miniforge",
            "/Users/user/miniforge3/envs/torch",
            "/Users/user/miniforge3",
            "torch",
        ),
        (
            "micromamba_info_--json.json",
            "micromamba",
            "/Users/user/micromamba/envs/torch",
            "/Users/user/micromamba",
            "torch",
        ),
        ("pixi_info_--json.json", "pixi", "/Users/user/demo/.pixi/envs/default", None, "default"),
    ],
)
def test_recorded_other_tools(file: str, family: str, prefix: str, root: str | None, name: str):
    found = parse_conda_info(recorded(NEW, file))
    assert (found.family, found.prefix, found.root_prefix, found.environment_name) == (family, prefix, root, name)
    assert (found.tool_platform, found.is_base, found.configured_channels) == ("osx-arm64", False, ("conda-forge",))


@pytest.mark.parametrize(("prefix", "name", "is_base"), [("/m", "base", True), ("/m/envs/x", None, False)])
def test_conda_without_an_active_environment(prefix: str, name: str | None, is_base: bool):
    data = {"conda_version": "26.7.1", "active_prefix": None, "default_prefix": prefix, "root_prefix": "/m"}
    found = parse_conda_info(json.dumps(data))
    assert (found.prefix, found.environment_name, found.is_base) == (prefix, name, is_base)


@pytest.mark.parametrize("key", ["environments_info", "global_info"])
def test_pixi_outside_a_project(key: str):
    found = parse_conda_info(json.dumps({"platform": "osx-arm64", key: [] if key == "environments_info" else {}}))
    assert (found.family, found.tool_platform) == ("pixi", "osx-arm64")
    assert (found.prefix, found.environment_name, found.is_base, found.configured_channels) == (None, None, None, None)


def test_mamba_that_prints_lists_of_one():
    data = {"libmamba version": ["2.5.0"], "env location": ["/m"], "base environment": ["/m"], "platform": ["osx-64"]}
    found = parse_conda_info(json.dumps(data))
    assert (found.prefix, found.is_base, found.tool_platform) == ("/m", True, "osx-64")


def test_packages_from_pip_and_from_pixi():
    found = parse_conda_list(
        json.dumps(
            [
                {"name": "torch", "version": "2.9.1", "build_string": "pypi_0", "channel": "pypi", "platform": "pypi"},
                {"name": "python", "version": "3.12", "build": "h0", "kind": "conda", "source": f"{FORGE}/osx-arm64"},
                {"name": "x", "kind": "pypi"},
                {"version": "1"},
                7,
            ]
        )
    )
    assert found.packages == (
        CondaPackage(name="torch", version="2.9.1", build="pypi_0", channel="pypi"),
        CondaPackage(name="python", version="3.12", build="h0", channel="conda-forge"),
        CondaPackage(name="x", channel="pypi"),
    )


@pytest.mark.parametrize("parse", [parse_conda_info, parse_conda_config, parse_conda_list])
@pytest.mark.parametrize(
    "text",
    ["", "null", "7", "[" * 9999, '{"conda_version": ', "CondaError: no", '{"libmamba version": {}}', '[{"a"', "[3]"],
)
def test_unusable_output_leaves_everything_unknown(parse, text: str):
    found = parse(text)
    assert (found.prefix, found.subdir, found.root_prefix, found.environment_name) == (None, None, None, None)


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(
    st.dictionaries(
        st.sampled_from(
            [
                "conda_version",
                "libmamba version",
                "environments_info",
                "channels",
                "active_prefix",
                "root_prefix",
                "subdir",
            ]
        ),
        st.none()
        | st.text(max_size=5)
        | st.lists(st.text(max_size=5) | st.integers())
        | st.dictionaries(st.text(), st.none()),
    )
)
def test_values_of_any_type_do_no_harm(data: dict[str, object]):
    for parse in (parse_conda_info, parse_conda_config):
        assert isinstance(parse(json.dumps(data)), Conda)


def test_the_first_known_value_wins_with_its_source():
    first = Conda(prefix="/a", subdir="osx-64", sources={"*": "files"}, extra={"x": 1})
    second = Conda(
        prefix="/a", subdir="osx-arm64", conda_version="26.7.1", sources={"*": "conda info"}, extra={"x": 2, "y": 3}
    )
    found = merge_conda(Conda(), first, second)
    assert (found.subdir, found.conda_version) == ("osx-64", "26.7.1")
    assert (found.source("subdir"), found.source("conda_version")) == ("files", "conda info")
    assert found.extra == {"x": 1, "y": 3}
    assert merge_conda() == Conda()


def test_another_active_environment_says_nothing_of_the_target():
    venv = Conda(present=False, prefix="/proj/.venv")
    active = Conda(
        present=True,
        prefix="/miniforge3",
        root_prefix="/miniforge3",
        environment_name="base",
        is_base=True,
        subdir="osx-64",
        packages=(CondaPackage(name="pytorch"),),
        unreadable=("x.json",),
        tool_platform="osx-64",
    )
    found = merge_conda(venv, active)
    assert (found.present, found.environment_name, found.is_base) == (False, None, None)
    assert (found.subdir, found.packages, found.unreadable) == (None, None, None)
    assert (found.root_prefix, found.tool_platform) == ("/miniforge3", "osx-64")
