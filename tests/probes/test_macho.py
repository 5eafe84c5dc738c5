"""What one executable file says of itself, for real wheels and for every way in which a file can be wrong."""

from __future__ import annotations

import os
import struct
import time
from pathlib import Path

import pytest

from mpsdoctor.facts import Binary
from mpsdoctor.probes.macho import read_binary
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


@pytest.mark.parametrize(("file_type", "kind"), [(6, "truncated"), (2, "truncated"), (9, "mach-o"), (10, "mach-o")])
def test_debug_files_and_stubs_describe_the_data_of_another_file(tmp_path: Path, file_type: int, kind: str):
    assert read(tmp_path, make.image("arm64", [make.segment(0, 10**6)], file_type=file_type)).kind == kind


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


def test_names_that_are_no_utf8_are_shown(tmp_path: Path):
    content = make.library().replace(b"libSystem", b"lib\xff\xfestem")
    assert "�" in read(tmp_path, content).libraries[0]
    told = read_binary(Path(os.fsdecode(os.fsencode(tmp_path) + b"/lib\xff.dylib")), "torch").path
    assert told.endswith("lib�.dylib")
    told.encode()
