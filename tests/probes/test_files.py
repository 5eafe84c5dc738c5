"""Reading files that nobody vouches for."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from mpsdoctor.probes import files


def test_no_more_is_read_than_asked_for(tmp_path: Path):
    path = tmp_path / "x"
    path.write_bytes(b"abcdef")
    assert files.read_head(path, 4) == b"abcd"
    assert files.read_head(path, 100) == b"abcdef"
    assert files.read_head(path, 0) == b""
    assert files.read_head(tmp_path / "nothing", 4) is None
    assert files.read_head(Path("/dev/zero"), 4) is None


def test_text_of_any_encoding(tmp_path: Path):
    path = tmp_path / "x"
    path.write_bytes(b"\xef\xbb\xbfa\xffb")
    assert files.read_text(path) == "a�b"


def test_a_folder_of_any_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    for name in "cab":
        (tmp_path / name).write_text("")
    assert [entry.name for entry in files.list_folder(tmp_path)] == ["a", "b", "c"]
    monkeypatch.setattr(files, "MAX_ENTRIES", 2)
    assert len(files.list_folder(tmp_path)) == 2
    for path in (tmp_path / "a", tmp_path / "nothing", Path("nul\0")):
        assert files.list_folder(path) == []
        assert not files.can_list(path)
        assert not files.is_dir(path)
    assert files.can_list(tmp_path)


def test_paths_that_no_json_writer_takes():
    assert files.shown(os.fsdecode(b"/a\xff")) == "/a�"
    files.shown("/a\udcff").encode()


@pytest.mark.parametrize(
    ("text", "data"),
    [
        ('{"a": 1}', {"a": 1}),
        (b'\xef\xbb\xbf{"a": "\xff"}', {"a": "�"}),
        ('WARNING: [x] is old\n{"a": 1}\n', {"a": 1}),
        ("note {\n[1]\ntrailing", [1]),
        ('{"a": ', None),
        ("", None),
        ("[" * 100_000, None),
        ("{\n" * 5_000, None),
    ],
)
def test_json_behind_warnings(text: str | bytes, data: object):
    assert files.load_json(text) == data
