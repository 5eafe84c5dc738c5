"""A conda environment by its own files and by what conda, mamba, micromamba and pixi print."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

import pytest

from mpsdoctor.facts import CondaPackage
from mpsdoctor.probes.conda import (
    WHOLE_RECORD_BYTES,
    read_conda,
)

RECORDINGS = Path(__file__).parents[1] / "recordings"
FORGE = "https://conda.example.org/conda-forge"
MAIN = "https://repo.example.org/pkgs/main"


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
    assert told is None or found.source("root_prefix") == "conda-meta/history"
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
    put(tmp_path / "conda-meta" / "own-1.0-0.json", json.dumps({"channel": "defaults", "subdir": "osx-arm64"}))
    assert [(p.name, p.channel, p.subdir) for p in read_conda(tmp_path, home=None).packages or ()] == [
        ("bare", "defaults", None),
        ("old", "pkgs/main", "osx-64"),
        ("own", "defaults", "osx-arm64"),
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
