"""A conda environment by its own files and by what conda, mamba, micromamba and pixi print."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mpsdoctor.facts import Conda, CondaPackage
from mpsdoctor.probes.conda import (
    WHOLE_RECORD_BYTES,
    merge_conda,
    parse_conda_config,
    parse_conda_info,
    parse_conda_list,
    read_conda,
)
from mpsdoctor.probes.conda_output import channel_name, family_of_path
from mpsdoctor.probes.condarc import parse_condarc

RECORDINGS = Path(__file__).parents[1] / "recordings"
FORGE = "https://conda.anaconda.org/conda-forge"
MAIN = "https://repo.anaconda.com/pkgs/main"


def put(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def record(
    prefix: Path, name: str, version: str = "1.0", subdir: str = "osx-arm64", channel: str = FORGE, size: int = 0
):
    """Write a record as conda does: keys in order, the list of files in the middle, filled up to `size` bytes."""
    files = [f"lib/python3.12/site-packages/{name}/module{number:06}.py" for number in range(size // 60)]
    data = {
        "build": "h0_0",
        "build_number": 0,
        "channel": f"{channel}/{subdir}",
        "files": files,
        "fn": f"{name}-{version}-h0_0.conda",
        "link": {"source": "/pkgs", "type": 1},
        "name": name,
        "subdir": subdir,
        "url": f"{channel}/{subdir}/{name}-{version}-h0_0.conda",
        "version": version,
    }
    return put(prefix / "conda-meta" / f"{name}-{version}-h0_0.json", json.dumps(data, indent=2))


def miniforge(folder: Path) -> Path:
    for name in ("python", "conda", "mamba"):
        record(folder, name, "26.7.1" if name == "conda" else "3.13.3")
    return folder


def test_an_environment_of_miniforge(tmp_path: Path):
    root = miniforge(tmp_path / "miniforge3")
    prefix = root / "envs" / "torch"
    record(prefix, "python", "3.13.3")
    record(prefix, "python_abi", "3.13", "noarch")
    record(prefix, "pytorch", "2.7.1", size=400_000)
    found = read_conda(prefix, home=None)
    assert found.present is True
    assert (found.root_prefix, found.environment_name, found.is_base) == (str(root), "torch", False)
    assert (found.family, found.subdir, found.conda_version) == ("miniforge", "osx-arm64", "26.7.1")
    assert found.get("pytorch") == CondaPackage(
        name="pytorch", version="2.7.1", build="h0_0", channel="conda-forge", subdir="osx-arm64"
    )
    assert found.channels == ("conda-forge",)
    assert found.unreadable is None
    assert found.source("family") == "the name of its folder"
    assert found.source("packages") == "conda-meta"


def test_the_base_environment(tmp_path: Path):
    found = read_conda(miniforge(tmp_path / "miniforge3"), home=None)
    assert (found.environment_name, found.is_base) == ("base", True)
    assert found.root_prefix == found.prefix == str(tmp_path / "miniforge3")


def test_a_base_that_lies_in_a_folder_named_envs(tmp_path: Path):
    found = read_conda(miniforge(tmp_path / "envs" / "miniforge3"), home=None)
    assert (found.environment_name, found.is_base) == ("base", True)


def test_no_conda_environment(tmp_path: Path):
    found = read_conda(tmp_path, home=tmp_path)
    assert found.present is False
    assert found.packages is None
    assert found.source("present") == "no conda-meta folder"


HISTORY = """==> 2026-05-01 10:00:00 <==
# cmd: {root}/bin/{tool} create -n ml python=3.12
# conda version: 24.3.0
+conda-forge/osx-arm64::python-3.12.3-h0_0
==> 2026-06-01 10:00:00 <==
# cmd: {root}/bin/{tool} install pytorch
# conda version: 25.1.1
"""


@pytest.mark.parametrize(
    ("place", "root", "tool", "told", "family"),
    [
        # A copy on another machine, by itself: only its history tells where it came from.
        ("copy", "/Users/me/opt/anaconda3", "conda", "/Users/me/opt/anaconda3", "anaconda"),
        (
            "copy",
            "/opt/homebrew/Caskroom/miniforge/base",
            "mamba",
            "/opt/homebrew/Caskroom/miniforge/base",
            "miniforge",
        ),
        ("copy", "/opt/homebrew", "conda", None, None),  # a link there, not an installation
        (".conda/envs/ml", "/Users/me/miniconda3", "conda", "/Users/me/miniconda3", "miniconda"),
        ("copy", "/opt/homebrew", "micromamba", None, "micromamba"),
    ],
)
def test_history_tells_the_root(tmp_path: Path, place: str, root: str, tool: str, told: str | None, family: str | None):
    prefix = tmp_path / place
    record(prefix, "python")
    put(prefix / "conda-meta" / "history", HISTORY.format(root=root, tool=tool))
    found = read_conda(prefix, home=None)
    assert (found.root_prefix, found.family) == (told, family)
    assert found.is_base is (None if told is None and place == "copy" else False)
    assert found.conda_version == "25.1.1"
    assert "history" in found.source("conda_version")


def test_an_environment_of_micromamba(tmp_path: Path):
    prefix = tmp_path / "micromamba" / "envs" / "torch"
    record(prefix, "python")
    put(prefix / "conda-meta" / "history", HISTORY.format(root="/opt/homebrew", tool="micromamba"))
    found = read_conda(prefix, home=None)
    assert (found.family, found.environment_name) == ("micromamba", "torch")
    assert found.root_prefix == str(tmp_path / "micromamba")


def test_an_environment_of_pixi(tmp_path: Path):
    prefix = tmp_path / "demo" / ".pixi" / "envs" / "default"
    record(prefix, "python")
    found = read_conda(prefix, home=None)
    assert (found.family, found.environment_name, found.is_base) == ("pixi", "default", False)
    moved = tmp_path / "moved"
    record(moved, "python")
    put(moved / "conda-meta" / "pixi", "{}")
    assert read_conda(moved, home=None).family == "pixi"


@pytest.mark.parametrize(
    ("folder", "package", "family"),
    [
        ("conda", "anaconda", "anaconda"),
        ("conda", "anaconda-navigator", "anaconda"),
        ("conda", "miniforge_console_shortcut", "miniforge"),
        ("mambaforge", "x", "miniforge"),
        ("miniconda3", "x", "miniconda"),
        ("miniconda3", "anaconda", "anaconda"),
        ("conda", "x", None),
    ],
)
def test_family_by_packages_and_then_by_folder(tmp_path: Path, folder: str, package: str, family: str | None):
    record(miniforge(tmp_path / folder), package)
    record(tmp_path / folder / "envs" / "ml", "python")
    assert read_conda(tmp_path / folder, home=None).family == family
    assert read_conda(tmp_path / folder / "envs" / "ml", home=None).family == family


@pytest.mark.parametrize(
    ("subdirs", "expected"),
    [
        ({"python": "osx-64", "numpy": "osx-arm64", "pytorch": "osx-arm64"}, "osx-64"),
        ({"numpy": "osx-arm64", "pytorch": "osx-arm64", "old": "osx-64"}, "osx-arm64"),
        ({"pip": "noarch"}, None),
        ({}, None),
    ],
)
def test_what_the_packages_are_built_for(tmp_path: Path, subdirs: dict[str, str], expected: str | None):
    (tmp_path / "conda-meta").mkdir()
    for name, subdir in subdirs.items():
        record(tmp_path, name, subdir=subdir)
    found = read_conda(tmp_path, home=None)
    assert found.subdir == expected
    assert {p.name: p.subdir for p in found.packages or ()} == subdirs


@pytest.mark.parametrize("size", [0, 4 * WHOLE_RECORD_BYTES])
def test_damaged_records_are_named(tmp_path: Path, size: int):
    whole = record(tmp_path, "good", size=size).read_bytes()
    meta = tmp_path / "conda-meta"
    damaged = {
        "cut-1.0-0.json": whole[: len(whole) // 2],
        "empty-1.0-0.json": b"",
        "zeros-1.0-0.json": b"\0" * len(whole),
        "list-1.0-0.json": b"[" + whole + b"]",
        "nothreeparts.json": whole,
    }
    for name, content in damaged.items():
        (meta / name).write_bytes(content)
    os.mkfifo(meta / "pipe-1.0-0.json")
    (meta / "folder-1.0-0.json").mkdir()
    (meta / "link-1.0-0.json").symlink_to("nowhere")
    found = read_conda(tmp_path, home=None)
    assert [package.name for package in found.packages or ()] == ["good"]
    others = {"pipe-1.0-0.json", "folder-1.0-0.json", "link-1.0-0.json"}
    assert set(found.unreadable or ()) == set(damaged) | others


def test_large_records_tell_the_same_as_small_ones(tmp_path: Path):
    path = record(tmp_path, "large", size=4 * WHOLE_RECORD_BYTES)
    # Files may be called like keys.
    tricky = r'"files": ["subdir", "channel", "x\"subdir\": \"no\"",'
    path.write_text(path.read_text().replace('"files": [', tricky, 1))
    assert json.loads(path.read_bytes())["files"][2] == 'x"subdir": "no"'
    large = read_conda(tmp_path, home=None).get("large")
    assert large is not None
    assert (large.channel, large.subdir) == ("conda-forge", "osx-arm64")


def test_records_without_a_subdir_take_it_from_the_channel(tmp_path: Path):
    put(tmp_path / "conda-meta" / "old-1.0-0.json", json.dumps({"channel": f"{MAIN}/osx-64"}))
    put(tmp_path / "conda-meta" / "bare-1.0-0.json", json.dumps({"channel": "defaults", "subdir": 3}))
    assert [(p.name, p.channel, p.subdir) for p in read_conda(tmp_path, home=None).packages or ()] == [
        ("bare", "defaults", None),
        ("old", "pkgs/main", "osx-64"),
    ]


def test_a_folder_that_may_not_be_listed_is_not_an_empty_one(tmp_path: Path):
    record(tmp_path, "python")
    (tmp_path / "conda-meta").chmod(0)
    for folder in (tmp_path, *tmp_path.parents[:3]):
        folder.chmod(folder.stat().st_mode | 0o055)
    user = os.geteuid()
    if user == 0:  # root may list everything
        os.seteuid(65534)
    try:
        found = read_conda(tmp_path, home=None)
    finally:
        os.seteuid(user)
    assert (found.present, found.packages, found.unreadable) == (True, None, ("conda-meta",))


def test_condarc_files_in_their_order(tmp_path: Path):
    root, home = miniforge(tmp_path / "miniforge3"), tmp_path / "home"
    prefix = root / "envs" / "ml"
    record(prefix, "python")
    put(root / ".condarc", "channels:\n  - conda-forge\n")
    put(home / ".config" / "conda" / ".condarc", "channels: [pytorch]\n")
    put(home / ".condarc", "subdir: osx-64\nchannels:\n- defaults\n")
    found = read_conda(prefix, home=home)
    assert found.configured_subdir == "osx-64"
    assert found.configured_channels == ("defaults", "pytorch", "conda-forge")
    assert found.source("configured_subdir") == str(home / ".condarc")
    put(prefix / ".condarc", "subdir: osx-arm64\n")
    assert read_conda(prefix, home=home).configured_subdir == "osx-arm64"
    assert read_conda(prefix, home=None).configured_channels == ("conda-forge",)


@pytest.mark.parametrize(
    ("text", "subdir", "channels"),
    [
        ("", None, None),
        ("subdir: osx-64", "osx-64", None),
        ("subdir: 'osx-64'  # Intel\r\n", "osx-64", None),
        ('"subdir" : "osx-arm64"', "osx-arm64", None),
        ("subdirs:\n  - osx-64\nsubdir:\n", None, None),
        ("nested:\n  subdir: osx-64\n  channels: [x]\n", None, None),
        ("channels:\n  - conda-forge # first\n\n  - 'pytorch'\nsubdir: osx-64", "osx-64", ("conda-forge", "pytorch")),
        ("channels:\n- a\n- b\nother:\n- c\n", None, ("a", "b")),
        ("channels: [a, 'b',\n  c]\nx: 1", None, ("a", "b", "c")),
        ("channels: conda-forge", None, ("conda-forge",)),
        ("channels: []", None, ()),
        ("channels:\n", None, ()),
        ("channels:\n  - https://me:secret@host.org/t/tk-1/ch\n", None, ("https://host.org/t/***/ch",)),
        ("channels:\n  - https://conda.anaconda.org/conda-forge/\n", None, ("conda-forge",)),
        ("\ufeffsubdir: osx-64", "osx-64", None),
        ("{subdir: osx-64}", None, None),
        (":\n- : -\n[[[", None, None),
    ],
)
def test_the_two_keys_of_condarc(tmp_path: Path, text: str, subdir: str | None, channels: tuple[str, ...] | None):
    (tmp_path / "conda-meta").mkdir()
    (tmp_path / ".condarc").write_text(text, encoding="utf-8")
    found = read_conda(tmp_path, home=None)
    assert (found.configured_subdir, found.configured_channels) == (subdir, channels)


@given(st.text(alphabet="subdirchanel: -[],'\"#\n\t", max_size=200))
def test_no_condarc_does_harm(text: str):
    found = parse_condarc(text)
    assert found.subdir is None or found.subdir.strip()


@pytest.mark.parametrize(
    ("channel", "name"),
    [
        (f"{FORGE}/osx-arm64", "conda-forge"),
        (f"{FORGE}/noarch/", "conda-forge"),
        (MAIN, "pkgs/main"),
        (f"{MAIN}/osx-64", "pkgs/main"),
        ("https://conda.anaconda.org/t/tk-1/private/osx-64", "private"),
        ("https://user:password@conda.example.org/team/osx-64", "https://conda.example.org/team"),
        ("pypi", "pypi"),
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


def test_three_hundred_records_are_quick(tmp_path: Path):
    """100 ms, or less than it takes to parse the records whole, for 300 records of 13 MB like a full Anaconda."""
    for number in range(300):
        record(tmp_path, f"package{number}", size=2_000_000 if number == 0 else 300_000 if number % 10 == 0 else 8_000)
    paths = sorted((tmp_path / "conda-meta").iterdir())
    assert len(read_conda(tmp_path, home=None).packages or ()) == 300
    assert best(lambda: read_conda(tmp_path, home=None)) < max(
        0.1, best(lambda: [json.loads(p.read_bytes()) for p in paths])
    )


def best(call) -> float:
    times = []
    for _ in range(5):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return min(times)


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
        prefix="/miniforge3", root_prefix="/miniforge3", environment_name="base", is_base=True, tool_platform="osx-64"
    )
    found = merge_conda(venv, active)
    assert (found.present, found.environment_name, found.is_base) == (False, None, None)
    assert (found.root_prefix, found.tool_platform) == ("/miniforge3", "osx-64")
