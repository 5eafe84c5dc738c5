"""What one executable file says of itself, for real wheels and for every way in which a file can be wrong."""

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


def read(folder: Path, content: bytes, name: str = "lib.dylib") -> Binary:
    path = folder / name
    path.write_bytes(content)
    return read_binary(path, "torch")


# Release, architecture, deployment target, SDK: the release table for arm64, and for x86_64 the wheel's own header.
TORCHES = [
    ("torch-2.9.1", "arm64", "11.0", "14.5"),
    ("torch-2.14.1", "arm64", "14.0", "26.5"),
    ("torch-2.2.2-x86_64", "x86_64", "10.13", "12.3"),
]


@pytest.mark.parametrize(("key", "architecture", "minimum", "sdk"), TORCHES)
def test_core_library_of_a_real_torch_wheel(mac_wheels: MacWheels, key: str, architecture: str, minimum: str, sdk: str):
    path = mac_wheels[key] / "torch" / "lib" / "libtorch_cpu.dylib"
    binary = read_binary(path, "torch")
    assert (binary.kind, binary.problem) == ("mach-o", None)
    assert binary.architectures == (architecture,)
    assert (binary.minimum_macos, binary.sdk) == (minimum, sdk)
    assert binary.metal_frameworks == ("Metal", "MetalPerformanceShaders", "MetalPerformanceShadersGraph")
    assert any("MetalPerformanceShadersGraph" in name for name in binary.weak_libraries), "torch links Metal weakly"
    assert "/usr/lib/libSystem.B.dylib" in binary.libraries
    assert any(name.endswith(("libomp.dylib", "libiomp5.dylib")) for name in binary.libraries)
    assert "@loader_path" in binary.rpaths


def test_a_large_library_costs_no_more_than_a_small_file(mac_wheels: MacWheels):
    large = mac_wheels["torch-2.14.1"] / "torch" / "lib" / "libtorch_cpu.dylib"
    assert large.stat().st_size > 380_000_000
    small = mac_wheels["torch-2.14.1"] / "torch" / "version.py"
    assert seconds(large) < max(20 * seconds(small), 0.005)


def seconds(path: Path) -> float:
    """The best of a few: other work on the machine makes a run longer, nothing makes it shorter."""
    best = 1.0
    for _ in range(5):
        start = time.perf_counter()
        read_binary(path, "torch")
        best = min(best, time.perf_counter() - start)
    return best


def test_thin_library(tmp_path: Path):
    content = make.library(libraries=["@rpath/libc10.dylib"], weak=make.METAL, rpaths=["@loader_path", "/opt/lib"])
    binary = read(tmp_path, content)
    assert binary == Binary(
        path=str(tmp_path / "lib.dylib"),
        role="torch",
        kind="mach-o",
        architectures=("arm64",),
        minimum_macos="11.0",
        sdk="14.5",
        libraries=("@rpath/libc10.dylib",),
        weak_libraries=make.METAL,
        rpaths=("@loader_path", "/opt/lib"),
    )


@pytest.mark.parametrize("cpu", sorted(make.CPU))
def test_every_architecture_has_its_name(tmp_path: Path, cpu: str):
    assert read(tmp_path, make.image(cpu, [])).architectures == (cpu,)


def test_an_unknown_architecture_is_given_by_number(tmp_path: Path):
    content = bytearray(make.image("arm64", []))
    content[4:8] = struct.pack("<I", 99)
    assert read(tmp_path, bytes(content)).architectures == ("cpu-0x63",)


@pytest.mark.parametrize(("order", "bits"), [("<", 32), (">", 32), (">", 64)])
def test_older_headers(tmp_path: Path, order: str, bits: int):
    commands = [make.build_version("10.9", "10.15", order=order), make.dylib("/usr/lib/libz.dylib", order=order)]
    binary = read(tmp_path, make.image("ppc" if order == ">" else "i386", commands, order=order, bits=bits))
    assert (binary.kind, binary.minimum_macos, binary.sdk) == ("mach-o", "10.9", "10.15")
    assert binary.libraries == ("/usr/lib/libz.dylib",)


@pytest.mark.parametrize(
    ("commands", "minimum", "sdk", "problem"),
    [
        ([], None, None, None),
        ([make.minimum_macos("10.13.6", "12.3")], "10.13.6", "12.3", None),
        ([make.build_version("11.0", "0.0")], "11.0", None, None),
        ([make.build_version("13.1", "16.2", 6), make.build_version("11.0", "14.5")], "11.0", "14.5", None),
        ([make.build_version("11.0", "14.5"), make.build_version("13.1", "16.2", 6)], "11.0", "14.5", None),
        ([make.build_version("13.0", "16.0", 2)], None, None, "iOS"),
        ([make.build_version("13.0", "16.0", 7)], None, None, "iOS simulator"),
        ([make.minimum_macos("9.0", "9.0", 0x25)], None, None, "iOS"),
        ([make.build_version("1.0", "1.0", 77)], None, None, "platform 77"),
    ],
)
def test_deployment_target(tmp_path: Path, commands: list[bytes], minimum: str, sdk: str, problem: str | None):
    binary = read(tmp_path, make.image("arm64", commands))
    assert (binary.minimum_macos, binary.sdk) == (minimum, sdk)
    assert (problem in (binary.problem or "")) if problem else binary.problem is None


def test_every_way_to_link_a_library(tmp_path: Path):
    numbers = {"load": 0xC, "reexport": 0x8000001F, "upward": 0x80000023, "lazy": 0x20}
    commands = [make.dylib(name, number) for name, number in numbers.items()]
    commands += [make.dylib("weak", 0x80000018), make.dylib_use("new-weak", 1), make.dylib_use("new-reexport", 2)]
    commands += [make.dylib("own name", 0xD)]  # LC_ID_DYLIB: what the file is, not what it needs
    binary = read(tmp_path, make.image("arm64", commands))
    assert binary.libraries == ("load", "reexport", "upward", "lazy", "new-reexport")
    assert binary.weak_libraries == ("weak", "new-weak")


@pytest.mark.parametrize("wide", [False, True])
@pytest.mark.parametrize("order", [("x86_64", "arm64"), ("arm64", "x86_64"), ("x86_64", "arm64", "arm64e")])
def test_universal_files_tell_of_the_arm64_part(tmp_path: Path, wide: bool, order: tuple[str, ...]):
    slices = {cpu: make.library(cpu, minimum="11.0" if cpu == "arm64" else "10.13") for cpu in order}
    binary = read(tmp_path, make.universal(slices, wide=wide))
    assert (binary.kind, binary.architectures, binary.minimum_macos) == ("universal", order, "11.0")


@pytest.mark.parametrize(
    ("order", "minimum"), [(("x86_64", "arm64e"), "12.0"), (("x86_64", "i386"), "10.13"), (("i386",), "10.6")]
)
def test_universal_files_without_arm64(tmp_path: Path, order: tuple[str, ...], minimum: str):
    targets = {"arm64e": "12.0", "x86_64": "10.13", "i386": "10.6"}
    binary = read(tmp_path, make.universal({cpu: make.library(cpu, minimum=targets[cpu]) for cpu in order}))
    assert (binary.architectures, binary.minimum_macos) == (order, minimum)


@pytest.mark.parametrize(
    ("content", "architecture"),
    [
        (make.elf(62), "x86_64"),
        (make.elf(183), "aarch64"),
        (make.elf(22, ">"), "s390x"),
        (make.elf(9999), "cpu-0x270f"),
    ],
)
def test_linux_libraries(tmp_path: Path, content: bytes, architecture: str):
    binary = read(tmp_path, content)
    assert (binary.kind, binary.architectures, binary.is_macho) == ("elf", (architecture,), False)


@pytest.mark.parametrize(("machine", "architecture"), [(0x8664, "x86_64"), (0xAA64, "arm64"), (0x14C, "i386")])
def test_windows_programs(tmp_path: Path, machine: int, architecture: str):
    binary = read(tmp_path, make.pe(machine))
    assert (binary.kind, binary.architectures) == ("pe", (architecture,))


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


def test_names_that_are_no_utf8_are_shown(tmp_path: Path):
    content = make.library().replace(b"libSystem", b"lib\xff\xfestem")
    assert "�" in read(tmp_path, content).libraries[0]
    told = read_binary(Path(os.fsdecode(os.fsencode(tmp_path) + b"/lib\xff.dylib")), "torch").path
    assert told.endswith("lib�.dylib")
    told.encode()


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
    key = data.draw(st.sampled_from([key for key, *_ in TORCHES]))
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
