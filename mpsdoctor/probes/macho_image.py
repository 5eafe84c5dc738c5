"""One Mach-O image: its header and load commands, which may be anything an enemy or a full disk left there.

The numbers are those of Apple's <mach-o/loader.h> and <mach/machine.h>.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from io import FileIO

from mpsdoctor.facts import Binary

MAX_COMMANDS = 4096  # load commands looked at; libtorch_cpu.dylib has 28
MAX_COMMAND_BYTES = 1024 * 1024  # dyld wants them inside the first segment; libtorch_cpu.dylib has 4 kB

# The first four bytes of a thin file: byte order and length of the header.
THIN_MAGIC = {
    b"\xce\xfa\xed\xfe": ("<", 28),
    b"\xcf\xfa\xed\xfe": ("<", 32),
    b"\xfe\xed\xfa\xce": (">", 28),
    b"\xfe\xed\xfa\xcf": (">", 32),
}

_CPU = {7: "i386", 0x01000007: "x86_64", 12: "arm", 0x0100000C: "arm64", 0x0200000C: "arm64_32", 18: "ppc"}
_CPU_VARIANT = {(0x01000007, 8): "x86_64h", (0x0100000C, 2): "arm64e"}

_SEGMENT_FIELDS = {0x1: ("2I", 32), 0x19: ("2Q", 40)}  # file offset and size: layout and place in the command
_LOAD_DYLIB, _LOAD_WEAK, _REEXPORT, _LAZY, _UPWARD = 0xC, 0x80000018, 0x8000001F, 0x20, 0x80000023
_RPATH, _BUILD_VERSION, _MIN_MACOS = 0x8000001C, 0x32, 0x24
_MIN_OTHER = {0x25: 2, 0x2F: 3, 0x30: 4}  # LC_VERSION_MIN_IPHONEOS, _TVOS, _WATCHOS: their platform numbers
_DYLIB_USE_MARKER, _DYLIB_USE_WEAK = 0x1A741800, 0x1
_PLATFORMS = {2: "iOS", 3: "tvOS", 4: "watchOS", 7: "the iOS simulator", 11: "visionOS"}
_MACOS, _CATALYST = 1, 6
_WITHOUT_DATA = (9, 10)  # MH_DYLIB_STUB, MH_DSYM: their segments describe another file


class Damaged(Exception):
    """The header cannot be followed any further. `kind` is what to call the file then."""

    def __init__(self, kind: str, problem: str) -> None:
        super().__init__(problem)
        self.kind = kind
        self.problem = problem


class Source:
    """Bytes of one open file by offset."""

    def __init__(self, file: FileIO) -> None:
        self._file = file
        self.size = os.fstat(file.fileno()).st_size

    def at(self, offset: int, count: int) -> bytes:
        """Return exactly `count` bytes, or raise `Damaged` where the file ends before."""
        data = b""
        if offset + count <= self.size:
            self._file.seek(offset)
            data = self._file.read(count) or b""
        if len(data) < count:
            raise Damaged("truncated", f"the file ends after {self.size} bytes, inside its header")
        return data


@dataclass
class Image:
    """One Mach-O image: the whole of a thin file or one slice of a universal one."""

    architecture: str
    platforms: set[int] = field(default_factory=set)
    minimum_macos: str | None = None
    sdk: str | None = None
    libraries: list[str] = field(default_factory=list)
    weak: list[str] = field(default_factory=list)
    rpaths: list[str] = field(default_factory=list)
    data_end: int = 0  # where the last segment ends, from the start of the image
    damage: Damaged | None = None

    def tell(self, blank: Binary, kind: str, architectures: tuple[str, ...], size: int) -> Binary:
        """Return the facts of a file of this kind, whose image may be `size` bytes long."""
        if self.damage is not None:  # half a list of libraries would be a wrong list
            return replace(blank, kind=self.damage.kind, architectures=architectures, problem=self.damage.problem)
        problem = None
        if self.data_end > size:
            kind, problem = "truncated", f"its header describes {self.data_end} bytes, but only {size} are there"
        elif self.platforms and not self.platforms & {_MACOS, _CATALYST}:
            number = min(self.platforms)
            problem = f"built for {_PLATFORMS.get(number, f'platform {number}')}, not for macOS"
        return replace(
            blank,
            kind=kind,
            architectures=architectures,
            minimum_macos=self.minimum_macos,
            sdk=self.sdk,
            libraries=tuple(self.libraries),
            weak_libraries=tuple(self.weak),
            rpaths=tuple(self.rpaths),
            problem=problem,
        )


def architecture_name(cpu: int, variant: int) -> str:
    """Return the name that lipo and file use: arm64, arm64e, x86_64; "cpu-0x..." for a number that has none here."""
    return _CPU_VARIANT.get((cpu, variant & 0xFFFFFF)) or _CPU.get(cpu, f"cpu-{cpu:#x}")


def read_image(source: Source, offset: int) -> Image:
    """Read the image that begins at `offset`. Raises `Damaged` only where not even its architecture is there."""
    order, length = THIN_MAGIC[source.at(offset, 4)]
    header = source.at(offset, length)
    cpu, variant, file_type, count, size = struct.unpack_from(f"{order}5I", header, 4)
    image = Image(architecture_name(cpu, variant))
    try:
        if count > MAX_COMMANDS or size > MAX_COMMAND_BYTES:
            raise Damaged("other", f"a damaged Mach-O header: {count} load commands in {size} bytes")
        for command, body in _commands(source.at(offset + length, size), count, order):
            _take(image, command, body, order)
    except Damaged as damage:
        image.damage = damage
    except struct.error:
        image.damage = Damaged("other", "a damaged Mach-O header: a load command is too short")
    if file_type in _WITHOUT_DATA:
        image.data_end = 0
    return image


def _commands(data: bytes, count: int, order: str) -> Iterator[tuple[int, bytes]]:
    position = 0
    for index in range(count):
        command, size = struct.unpack_from(f"{order}2I", data, position)
        if size < 8 or position + size > len(data):
            raise Damaged("other", f"a damaged Mach-O header: load command {index + 1} of {count} has {size} bytes")
        yield command, data[position : position + size]
        position += size


def _take(image: Image, command: int, body: bytes, order: str) -> None:
    if command in (_LOAD_DYLIB, _LOAD_WEAK, _REEXPORT, _LAZY, _UPWARD):
        weak = command == _LOAD_WEAK or _weak_use(body, order)
        (image.weak if weak else image.libraries).append(_text(body, order))
    elif command == _RPATH:
        image.rpaths.append(_text(body, order))
    elif command in _SEGMENT_FIELDS:
        start, length = struct.unpack_from(f"{order}{_SEGMENT_FIELDS[command][0]}", body, _SEGMENT_FIELDS[command][1])
        image.data_end = max(image.data_end, start + length if length else 0)
    elif command == _BUILD_VERSION:
        _build(image, *struct.unpack_from(f"{order}3I", body, 8))
    elif command == _MIN_MACOS:
        _build(image, _MACOS, *struct.unpack_from(f"{order}2I", body, 8))
    elif command in _MIN_OTHER:
        image.platforms.add(_MIN_OTHER[command])


def _build(image: Image, platform: int, minimum: int, sdk: int) -> None:
    # A library may be built for macOS and Mac Catalyst at once; macOS's numbers are the ones that count.
    if platform == _MACOS or (platform == _CATALYST and _MACOS not in image.platforms):
        image.minimum_macos, image.sdk = _version(minimum), _version(sdk)
    image.platforms.add(platform)


def _version(packed: int) -> str | None:
    if packed == 0:
        return None
    major, minor, patch = packed >> 16, packed >> 8 & 0xFF, packed & 0xFF
    return f"{major}.{minor}.{patch}" if patch else f"{major}.{minor}"


def _weak_use(body: bytes, order: str) -> bool:
    # dylib_use_command (Xcode 16): a marker where the time stamp was, and flags behind the classic fields.
    if len(body) < 28:
        return False
    offset, marker = struct.unpack_from(f"{order}2I", body, 8)
    if marker != _DYLIB_USE_MARKER or offset != 28:
        return False
    return bool(struct.unpack_from(f"{order}I", body, 24)[0] & _DYLIB_USE_WEAK)


def _text(body: bytes, order: str) -> str:
    (offset,) = struct.unpack_from(f"{order}I", body, 8)
    if not 12 <= offset < len(body):
        raise Damaged("other", "a damaged Mach-O header: a name lies outside its load command")
    return body[offset:].split(b"\0", 1)[0].decode("utf-8", "replace")
