"""Executable files by their headers: Mach-O, thin or universal, and enough of ELF and PE to name them.

Only the header and the load commands are read, some kilobytes of a library of 400 MB. (macholib reads the data of every
section: 0.7 s and 320 MB of memory for the libtorch_cpu.dylib of torch 2.14.1.) The numbers are those of Apple's
<mach-o/fat.h>, of the ELF specification and of Microsoft's PE format.
"""

from __future__ import annotations

import errno
import re
import struct
from dataclasses import replace
from pathlib import Path

from mpsdoctor.facts import Binary
from mpsdoctor.probes.files import NotAFile, open_regular, shown
from mpsdoctor.probes.macho_image import THIN_MAGIC, Damaged, Source, architecture_name, read_image

MAX_SLICES = 42  # a Java class begins with the same magic and then, read as a count, with 43 or more

_FAT = {b"\xca\xfe\xba\xbe": ">IIIII", b"\xca\xfe\xba\xbf": ">IIQQII"}
_PREFERRED = ("arm64", "arm64e")  # the slice that decides on Apple silicon

_ELF_MACHINES = {3: "i386", 21: "ppc64", 22: "s390x", 40: "arm", 62: "x86_64", 183: "aarch64", 243: "riscv64"}
_PE_MACHINES = {0x14C: "i386", 0x8664: "x86_64", 0xAA64: "arm64", 0x1C4: "arm"}
_CONTROL = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f]")


def read_binary(path: Path, role: str) -> Binary:
    """Return what the header of one file says. Whatever lies there becomes `kind` and `problem`; nothing is raised."""
    blank = Binary(path=shown(path), role=role)
    try:
        with open_regular(path) as file:
            return _read(Source(file), blank)
    except NotAFile as error:
        return replace(blank, kind="other", problem=f"{error}, not a file")
    except OSError as error:
        return _unopened(path, error, blank)


def _unopened(path: Path, error: OSError, blank: Binary) -> Binary:
    if error.errno == errno.ELOOP:
        return replace(blank, kind="loop", problem="a link that leads back to itself")
    if error.errno in (None, errno.ENOENT, errno.ENOTDIR, errno.ENAMETOOLONG):
        return replace(blank, kind="missing", problem=_dangling(path))
    return replace(blank, kind="unreadable", problem=error.strerror or str(error))


def _dangling(path: Path) -> str:
    try:
        return f"a link to {shown(path.readlink())}, which does not exist"
    except (OSError, ValueError):
        return "there is no such file"


def _read(source: Source, blank: Binary) -> Binary:
    if source.size < 4:
        problem = "the file is empty" if source.size == 0 else f"the file has only {source.size} bytes"
        return replace(blank, kind="truncated", problem=problem)
    try:
        return _by_magic(source, source.at(0, 4), blank)
    except Damaged as damage:
        return replace(blank, kind=damage.kind, problem=damage.problem)


def _by_magic(source: Source, magic: bytes, blank: Binary) -> Binary:
    if magic in THIN_MAGIC:
        return _thin(source, blank)
    if magic in _FAT:
        return _universal(source, _FAT[magic], blank)
    if magic == b"\x7fELF":
        return _elf(source, blank)
    if magic[:2] == b"MZ":
        return _pe(source, blank)
    if magic[:2] == b"#!":
        return replace(blank, kind="script")
    return replace(blank, kind="other", problem=_unknown(source))


def _unknown(source: Source) -> str:
    head = source.at(0, min(source.size, 512))
    if head.startswith(b"version https://git-lfs"):
        return "a Git LFS pointer, not the file itself"
    if head.startswith(b"!<arch>\n"):
        return "a static library"
    if not _CONTROL.search(head):
        return "a text file, not a program or library"
    return f"no program or library: it begins with the bytes {head[:4].hex(' ')}"


def _thin(source: Source, blank: Binary) -> Binary:
    image = read_image(source, 0)
    return image.tell(blank, "mach-o", (image.architecture,), source.size)


def _universal(source: Source, layout: str, blank: Binary) -> Binary:
    count = int.from_bytes(source.at(4, 4), "big")
    if count > MAX_SLICES:
        raise Damaged("other", "a Java class or a damaged universal file: the two begin alike")
    if count == 0:
        raise Damaged("other", "a universal file without any architecture in it")
    width = struct.calcsize(layout)
    table = source.at(8, count * width)
    slices = [struct.unpack_from(layout, table, index * width)[:4] for index in range(count)]
    names = tuple(architecture_name(cpu, variant) for cpu, variant, _, _ in slices)
    chosen = next((names.index(name) for name in _PREFERRED if name in names), 0)
    offset, size = slices[chosen][2:4]
    try:
        if any(start + length > source.size for _, _, start, length in slices):
            raise Damaged("truncated", f"the file ends after {source.size} bytes, inside one of its architectures")
        magic = source.at(offset, 4)
        if magic == b"!<ar":
            raise Damaged("other", "a static library")
        if magic not in THIN_MAGIC:
            raise Damaged("other", f"its {names[chosen]} part is no Mach-O image")
        return read_image(source, offset).tell(blank, "universal", names, size)
    except Damaged as damage:
        return replace(blank, kind=damage.kind, architectures=names, problem=damage.problem)


def _elf(source: Source, blank: Binary) -> Binary:
    head = source.at(0, 20)
    (machine,) = struct.unpack_from(">H" if head[5] == 2 else "<H", head, 18)
    return replace(blank, kind="elf", architectures=(_ELF_MACHINES.get(machine, f"cpu-{machine:#x}"),))


def _pe(source: Source, blank: Binary) -> Binary:
    (start,) = struct.unpack("<I", source.at(60, 4))
    signature, machine = struct.unpack("<4sH", source.at(start, 6))
    if signature != b"PE\0\0":
        raise Damaged("other", "a DOS program")
    return replace(blank, kind="pe", architectures=(_PE_MACHINES.get(machine, f"cpu-{machine:#x}"),))
