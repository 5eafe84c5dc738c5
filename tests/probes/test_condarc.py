"""The two settings of condarc files, in the order in which conda reads the files."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mpsdoctor.probes.conda import read_conda
from mpsdoctor.probes.condarc import parse_condarc


def put(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def test_condarc_files_in_their_order(tmp_path: Path):
    root, home = tmp_path / "miniforge3", tmp_path / "home"
    prefix = root / "envs" / "ml"
    for folder in (root, prefix):
        (folder / "conda-meta").mkdir(parents=True)
    put(root / ".condarc", "channels:\n  - conda-forge\n")
    put(home / ".config" / "conda" / ".condarc", "channels: [pytorch]\n")
    put(home / ".condarc", "subdir: osx-64\nchannels:\n- defaults\n")
    found = read_conda(prefix, home=home)
    assert found.configured_subdir == "osx-64"
    assert found.configured_channels == ("defaults", "pytorch", "conda-forge")
    assert found.source("configured_subdir") == str(home / ".condarc")
    told = [home / ".condarc", home / ".config" / "conda" / ".condarc", root / ".condarc"]
    assert found.source("configured_channels") == ", ".join(map(str, told))
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
        ("channels:\n  - https://conda.example.org/conda-forge/\n", None, ("conda-forge",)),
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
