"""Our reader of entry points gives what importlib.metadata gives, on real installations and on odd ones."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from importlib import metadata
from pathlib import Path

import pytest

from mpsdoctor.entry_points import EntryPoint, entry_points

GROUP = "mpsdoctor.example"
FILES = {
    "plain": f"[{GROUP}]\none = os.path:join\ntwo = json\n",
    "spaces, comments, other groups": f"# {GROUP}\n[other]\nx = y:z\n\n  [{GROUP}] \n #a = b\n  one=os.path : join \n",
    "extras": f"[{GROUP}]\none = os.path:join [extra, other]\n",
    "an attribute of an attribute": f"[{GROUP}]\none = os:path.join\n",
    "windows lines": f"[{GROUP}]\r\none = json\r\n[other]\r\ntwo = re\r\n",
    "group in a longer name": f"[{GROUP}.more]\none = json\n",
    "no value": f"[{GROUP}]\none\ntwo = json\n",
    "empty": "",
}  # fmt: skip


def theirs(group: str) -> list[tuple[str, str]]:
    return sorted((point.name, point.value) for point in metadata.entry_points(group=group))


def ours(group: str) -> list[tuple[str, str]]:
    return sorted((point.name, point.value) for point in entry_points(group))


def announce(folder: Path, text: str, name: str = "example_plugin-1.0.dist-info") -> None:
    info = folder / name
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name.partition('-')[0]}\nVersion: 1.0\n")
    (info / "entry_points.txt").write_bytes(text.encode())


def test_every_group_of_this_environment_reads_alike() -> None:
    groups = metadata.entry_points().groups
    assert {"mpsdoctor.checks", "mpsdoctor.fixes", "console_scripts"} <= set(groups)
    for group in groups:
        assert ours(group) == theirs(group), group


@pytest.mark.parametrize("kind", [kind for kind in FILES if kind != "no value"])
def test_a_file_of_entry_points_reads_alike(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    announce(tmp_path, FILES[kind])
    monkeypatch.syspath_prepend(str(tmp_path))
    assert ours(GROUP) == theirs(GROUP)
    expected = [point.load() for point in metadata.entry_points(group=GROUP)]
    assert [point.load() for point in entry_points(GROUP)] == expected


def test_a_line_without_a_value_harms_no_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    announce(tmp_path, FILES["no value"])
    monkeypatch.syspath_prepend(str(tmp_path))
    assert ours(GROUP) == [("two", "json")]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("Example.Plugin-1.0.dist-info", "example_plugin-2.0.dist-info"),
        ("example_plugin-1.0-py3.11.egg-info", "example_plugin-2.0.dist-info"),
    ],
)
def test_of_two_copies_the_first_on_the_path_counts(
    first: str, second: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    announce(tmp_path / "a", f"[{GROUP}]\none = json\n", first)
    announce(tmp_path / "b", f"[{GROUP}]\none = os\n", second)
    monkeypatch.syspath_prepend(str(tmp_path / "b"))
    monkeypatch.syspath_prepend(str(tmp_path / "a"))
    assert entry_points(GROUP) == [EntryPoint("one", "json", "example-plugin")]


def test_a_package_in_a_zip_file_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    archive = tmp_path / "plugins.zip"
    with zipfile.ZipFile(archive, "w") as file:
        file.writestr("example_plugin-1.0.dist-info/METADATA", "Name: example_plugin\nVersion: 1.0\n")
        file.writestr("example_plugin-1.0.dist-info/entry_points.txt", FILES["plain"])
    monkeypatch.syspath_prepend(str(archive))
    assert ours(GROUP) == theirs(GROUP) == [("one", "os.path:join"), ("two", "json")]


def test_a_path_object_on_the_path_harms_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    before = entry_points("mpsdoctor.checks")
    monkeypatch.setattr(sys, "path", [*sys.path, Path("/tmp"), b"/tmp", None])
    assert entry_points("mpsdoctor.checks") == before


@pytest.mark.parametrize("kind", ["a pipe", "a folder", "too large", "a loop"])
def test_what_is_no_ordinary_file_is_passed_over(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    info = tmp_path / "example_plugin-1.0.dist-info"
    info.mkdir()
    file = info / "entry_points.txt"
    if kind == "a pipe":
        os.mkfifo(file)
    elif kind == "a folder":
        file.mkdir()
    elif kind == "a loop":
        file.symlink_to(file)
    else:
        file.write_text(f"[{GROUP}]\none = json\n" + "#" * (2 << 20))
    monkeypatch.syspath_prepend(str(tmp_path))
    assert entry_points(GROUP) == []


def test_a_line_behind_a_semicolon_is_a_comment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    announce(tmp_path, f"[{GROUP}]\n; one = json\n;two = os\nthree = re\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    assert ours(GROUP) == [("three", "re")]


@pytest.mark.parametrize("entry", ["/no/such/folder", "", "relative", "\udcff", "a" * 5000, "nul\0byte"])
def test_an_odd_entry_of_the_path_harms_nothing(entry: str, monkeypatch: pytest.MonkeyPatch) -> None:
    before = entry_points("mpsdoctor.checks")
    monkeypatch.setattr(sys, "path", [entry, *sys.path])
    assert entry_points("mpsdoctor.checks") == before


def test_a_finder_of_its_own_is_asked(tmp_path: Path) -> None:
    """A tool that keeps distributions elsewhere (importlib.metadata's documented way) is not passed over."""
    announce(tmp_path, FILES["plain"])
    code = f"""
import sys, importlib.metadata, pathlib
class Elsewhere:
    def find_spec(self, *_): return None
    def find_distributions(self, context=None):
        return [importlib.metadata.PathDistribution(pathlib.Path({str(tmp_path)!r}) / "example_plugin-1.0.dist-info")]
sys.meta_path.append(Elsewhere())
from mpsdoctor.entry_points import entry_points
print(sorted(p.name for p in entry_points({GROUP!r})))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "['one', 'two']"
