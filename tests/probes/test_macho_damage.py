"""Files that are cut, damaged, hostile, or no files at all: told in plain words, in bounded time, never raised."""

from __future__ import annotations

import os
import socket
import struct
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mpsdoctor.facts import Binary, encode
from mpsdoctor.probes.macho import read_binary
from mpsdoctor.probes.macho_image import MAX_COMMAND_BYTES
from tests import macho_bytes as make
from tests.conftest_wheels import MacWheels, mac_wheels

__all__ = ["mac_wheels"]

KINDS = {"mach-o", "universal", "elf", "pe", "script", "truncated", "missing", "loop", "unreadable", "other"}
HEAD = 16 * 1024
TORCHES = ["torch-2.9.1", "torch-2.14.1", "torch-2.2.2-x86_64"]


def read(folder: Path, content: bytes) -> Binary:
    path = folder / "lib.dylib"
    path.write_bytes(content)
    return read_binary(path, "torch")


JAVA = bytes.fromhex("cafebabe00000034 0010 0a00")  # a class of Java 8
CUT = make.library()
FAT_CUT = make.universal({"x86_64": make.library("x86_64"), "arm64": make.library()})


@pytest.mark.parametrize(
    ("content", "kind", "word"),
    [
        (b"", "truncated", "empty"),
        (b"\xcf\xfa", "truncated", "2 bytes"),
        (CUT[:20], "truncated", "ends after 20 bytes"),
        (CUT[:-5], "truncated", "ends after"),
        (make.image("arm64", [make.segment(0, 100_000)]), "truncated", "100000"),
        (FAT_CUT[:6], "truncated", "ends after"),
        (FAT_CUT[:30], "truncated", "ends after"),
        (FAT_CUT[:-9], "truncated", "architectures"),
        (b"\x7fELF\x02\x01", "truncated", "ends after"),
        (b"MZ" + b"\0" * 58 + struct.pack("<I", 1 << 30), "truncated", "ends after"),
        (b"MZ" + b"\0" * 58 + struct.pack("<I", 2) + b"\0" * 20, "other", "DOS"),
        (b"#!/bin/sh\nexec python\n", "script", ""),
        (b"version https://git-lfs.github.com/spec/v1\n", "other", "Git LFS"),
        (b"404: Not Found\n", "other", "text"),
        ("<html>é</html>".encode(), "other", "text"),
        (b"\0" * 4096, "other", "00 00 00 00"),
        (b"!<arch>\n" + b"\0" * 60, "other", "static library"),
        (JAVA, "other", "Java"),
        (make.universal({}), "other", "without any architecture"),
        (make.universal({"arm64": b"!<arch>\nfoo"}), "other", "static library"),
        (make.universal({"arm64": make.universal({"arm64": make.library()})}), "other", "no Mach-O image"),
        (struct.pack(">2I", 0xCAFEBABE, 0xFFFFFFFF), "other", "damaged universal"),
    ],
)
def test_files_that_are_no_whole_library(tmp_path: Path, content: bytes, kind: str, word: str):
    binary = read(tmp_path, content)
    assert (binary.kind, binary.is_macho) == (kind, False)
    assert word in (binary.problem or "")
    assert "\n" not in (binary.problem or "")


def test_a_cut_file_still_tells_its_architecture(tmp_path: Path):
    assert read(tmp_path, CUT[:-5]).architectures == ("arm64",)
    assert read(tmp_path, FAT_CUT[:-9]).architectures == ("x86_64", "arm64")


HOSTILE = {
    "command of size 0": make.image("arm64", [struct.pack("<2I", 0xC, 0)]),
    "command of size 7": make.image("arm64", [struct.pack("<2I", 0xC, 7)]),
    "command larger than the rest": make.image("arm64", [struct.pack("<2I", 0xC, 0xFFFFFFF8)]),
    "more commands than bytes": make.image("arm64", [make.rpath("@loader_path")], count=9),
    "four thousand million commands": make.image("arm64", [make.rpath("@loader_path")], count=0xFFFFFFFF),
    "four thousand million bytes": make.image("arm64", [], size=0xFFFFFFFF, count=1),
    "name before its command": make.image("arm64", [make.command(0xC, struct.pack("<4I", 0, 0, 0, 0))]),
    "name behind its command": make.image("arm64", [make.command(0xC, struct.pack("<4I", 0xFFFF, 0, 0, 0))]),
    "build version without a body": make.image("arm64", [make.command(0x32, b"")]),
    "segment without a body": make.image("arm64", [make.command(0x19, b"")]),
}


@pytest.mark.parametrize("case", sorted(HOSTILE))
def test_damaged_load_commands_are_told_and_nothing_is_concluded(tmp_path: Path, case: str):
    binary = read(tmp_path, HOSTILE[case])
    assert binary.kind == "other"
    assert "damaged Mach-O header" in (binary.problem or "")
    assert binary.architectures == ("arm64",)
    assert not binary.is_macho
    assert not binary.libraries


def test_many_empty_commands_take_no_time(tmp_path: Path):
    filler = struct.pack("<2I", 0x99, 8) * (MAX_COMMAND_BYTES // 8)
    content = make.image("arm64", [filler], count=4096)
    start = time.perf_counter()
    assert read(tmp_path, content).kind == "mach-o"
    assert time.perf_counter() - start < 1


def test_paths_that_lead_to_no_file(tmp_path: Path):
    loop, dangling = tmp_path / "loop", tmp_path / "python"
    loop.symlink_to(loop)
    dangling.symlink_to("/opt/gone/bin/python3.12")
    (tmp_path / "file").write_bytes(b"")
    cases = {
        loop: ("loop", "back to itself"),
        dangling: ("missing", "/opt/gone/bin/python3.12"),
        tmp_path / "nothing": ("missing", "no such file"),
        tmp_path / "file" / "below": ("missing", "no such file"),
        tmp_path / ("x" * 300): ("missing", "no such file"),
        tmp_path / "nul\0byte": ("missing", "no such file"),
        tmp_path: ("other", "a folder"),
        Path("/dev/zero"): ("other", "a device"),
    }
    for path, (kind, word) in cases.items():
        binary = read_binary(path, "interpreter")
        assert (binary.kind, binary.architectures) == (kind, ()), path
        assert word in (binary.problem or ""), path


@pytest.mark.timeout(10)
def test_pipes_and_sockets_are_not_waited_for(tmp_path: Path):
    os.mkfifo(tmp_path / "pipe")
    assert read_binary(tmp_path / "pipe", "torch").problem == "a named pipe, not a file"
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(os.path.relpath(tmp_path / "socket"))
        assert read_binary(tmp_path / "socket", "torch").problem == "a socket, not a file"


@pytest.mark.timeout(10)
def test_a_pipe_that_takes_the_place_of_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    path = tmp_path / "lib.dylib"
    path.write_bytes(b"x")
    looked_at = path.stat()
    path.unlink()
    os.mkfifo(path)
    monkeypatch.setattr(Path, "stat", lambda self, **_: looked_at)
    assert read_binary(path, "torch").problem == "a named pipe, not a file"


def test_a_file_that_may_not_be_read(tmp_path: Path):
    path = tmp_path / "lib.dylib"
    path.write_bytes(make.library())
    path.chmod(0)
    for folder in (tmp_path, *tmp_path.parents[:3]):
        folder.chmod(folder.stat().st_mode | 0o055)
    user = os.geteuid()
    if user == 0:  # root may read everything
        os.seteuid(65534)
    try:
        binary = read_binary(path, "torch")
    finally:
        os.seteuid(user)
    assert binary.kind == "unreadable"
    assert "ermission" in (binary.problem or "")


def check_harmless(folder: Path, content: bytes) -> None:
    start = time.perf_counter()
    binary = read(folder, content)
    assert time.perf_counter() - start < 1
    assert binary.kind in KINDS
    assert len(str(encode(binary))) < 4 * 1024 * 1024
    assert binary.is_macho or binary.problem or binary.kind in ("elf", "pe", "script")


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_no_change_of_a_real_header_does_harm(tmp_path: Path, mac_wheels: MacWheels, data: st.DataObject):
    key = data.draw(st.sampled_from(TORCHES))
    with (mac_wheels[key] / "torch" / "lib" / "libtorch_cpu.dylib").open("rb") as file:
        content = bytearray(file.read(HEAD))
    if data.draw(st.booleans()):
        content = bytearray(make.universal([("x86_64", bytes(content)), ("arm64", bytes(content))]))
    for _ in range(data.draw(st.integers(1, 6))):
        # Mostly the header and the load commands: 4 kB of a torch library.
        place = data.draw(st.integers(0, 63) | st.integers(0, 4500))
        value = data.draw(st.sampled_from([b"\0\0\0\0", b"\xff\xff\xff\xff", b"\x08\0\0\0"]) | st.binary(max_size=8))
        content[place : place + len(value)] = value
    check_harmless(tmp_path, bytes(content[: data.draw(st.just(len(content)) | st.integers(0, len(content)))]))


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    magic=st.sampled_from(
        [bytes.fromhex(m) for m in ("cffaedfe", "cafebabe", "cafebabf", "feedface", "7f454c46", "4d5a")]
    ),
    rest=st.binary(max_size=400),
)
def test_no_bytes_behind_a_magic_number_do_harm(tmp_path: Path, magic: bytes, rest: bytes):
    check_harmless(tmp_path, magic + rest)
