"""Small executable files made by hand, for every shape that a real one may have or be broken into."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Mapping

CPU = {
    "i386": (7, 3),
    "x86_64": (0x01000007, 3),
    "x86_64h": (0x01000007, 8),
    "arm64": (0x0100000C, 0),
    "arm64e": (0x0100000C, 0x80000002),
    "ppc": (18, 0),
}
METAL = tuple(
    f"/System/Library/Frameworks/{name}.framework/Versions/A/{name}"
    for name in ("Metal", "MetalPerformanceShaders", "MetalPerformanceShadersGraph")
)


def packed(version: str) -> int:
    major, minor, patch = (*map(int, version.split(".")), 0, 0)[:3]
    return major << 16 | minor << 8 | patch


def command(number: int, body: bytes, order: str = "<") -> bytes:
    body += b"\0" * (-len(body) % 8)
    return struct.pack(f"{order}2I", number, 8 + len(body)) + body


def dylib(name: str, number: int = 0xC, order: str = "<") -> bytes:
    return command(number, struct.pack(f"{order}4I", 24, 2, 0x10000, 0x10000) + name.encode() + b"\0", order)


def dylib_use(name: str, flags: int) -> bytes:
    return command(0xC, struct.pack("<5I", 28, 0x1A741800, 0, 0, flags) + name.encode() + b"\0")


def rpath(name: str, order: str = "<") -> bytes:
    return command(0x8000001C, struct.pack(f"{order}I", 12) + name.encode() + b"\0", order)


def build_version(minimum: str, sdk: str, platform: int = 1, order: str = "<") -> bytes:
    return command(0x32, struct.pack(f"{order}4I", platform, packed(minimum), packed(sdk), 0), order)


def minimum_macos(minimum: str, sdk: str, number: int = 0x24) -> bytes:
    return command(number, struct.pack("<2I", packed(minimum), packed(sdk)))


def segment(start: int, size: int) -> bytes:
    return command(0x19, struct.pack("<16s4Q4I", b"__TEXT", 0, size, start, size, 5, 5, 0, 0))


def image(
    cpu: str,
    commands: Iterable[bytes],
    *,
    order: str = "<",
    bits: int = 64,
    file_type: int = 6,
    count: int | None = None,
    size: int | None = None,
) -> bytes:
    """A whole Mach-O image; `count` and `size` replace what its header says of its load commands."""
    listed = list(commands)
    body = b"".join(listed)
    magic = 0xFEEDFACF if bits == 64 else 0xFEEDFACE
    number, variant = CPU[cpu]
    head = struct.pack(
        f"{order}7I",
        magic,
        number,
        variant,
        file_type,
        len(listed) if count is None else count,
        len(body) if size is None else size,
        0x85,
    )
    return head + (b"\0" * 4 if bits == 64 else b"") + body


def library(
    cpu: str = "arm64",
    *,
    minimum: str = "11.0",
    sdk: str = "14.5",
    libraries: Iterable[str] = ("/usr/lib/libSystem.B.dylib",),
    weak: Iterable[str] = (),
    rpaths: Iterable[str] = ("@loader_path",),
) -> bytes:
    commands = [build_version(minimum, sdk)]
    commands += [dylib(name) for name in libraries]
    commands += [dylib(name, 0x80000018) for name in weak]
    commands += [rpath(name) for name in rpaths]
    return image(cpu, commands)


def universal(slices: Mapping[str, bytes] | Iterable[tuple[str, bytes]], *, wide: bool = False) -> bytes:
    """A universal file, with the 64-bit table of contents where `wide`."""
    listed = list(slices.items() if isinstance(slices, Mapping) else slices)
    layout = ">IIQQII" if wide else ">IIIII"
    position = 8 + len(listed) * struct.calcsize(layout)
    table, data = b"", b""
    for cpu, content in listed:
        number, variant = CPU[cpu]
        table += struct.pack(layout, number, variant, position + len(data), len(content), *((14, 0) if wide else (14,)))
        data += content
    return struct.pack(">2I", 0xCAFEBABF if wide else 0xCAFEBABE, len(listed)) + table + data


def elf(machine: int = 62, order: str = "<") -> bytes:
    ident = b"\x7fELF" + bytes([2, 1 if order == "<" else 2, 1]) + b"\0" * 9
    return ident + struct.pack(f"{order}2HI", 3, machine, 1) + b"\0" * 40


def pe(machine: int = 0x8664) -> bytes:
    return b"MZ" + b"\0" * 58 + struct.pack("<I", 64) + b"PE\0\0" + struct.pack("<H", machine) + b"\0" * 18
