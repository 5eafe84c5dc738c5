"""The compiled files of one site-packages folder: libraries that packages carry, and extension modules of each package.

The list of installed files (RECORD) finds them at any depth with one read a distribution; folders that no RECORD knows
are looked into a few levels deep. Both are bounded, so a hostile or huge tree costs no more than a large ordinary one.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from mpsdoctor.probes.files import is_folder, list_folder, read_head

MAX_PACKAGES = 300
MAX_CANDIDATES = 3  # extension modules remembered for a package: the first that exists is read
MAX_RECORD_BYTES = 4 * 1024 * 1024  # torch's has 1.4 MB
MAX_RECORDS_BYTES = 48 * 1024 * 1024  # of one site-packages folder; 40 packages have 2 MB together
MAX_NAME = 1000
MAX_FOLDERS = 200  # looked into where no RECORD helps, for the whole of site-packages
MAX_FOLDERS_EACH = 8
MAX_DEPTH = 3

# Read by name elsewhere, and torch's list is the longest of all.
_KNOWN = frozenset({"torch", "numpy", "torchvision", "torchaudio"})
_LIBRARY_FOLDERS = (".dylibs", ".libs", "lib")
_IGNORED = frozenset({"__pycache__", "tests", "test", "docs", "include", "share", "bin", "licenses"})


@dataclass
class CompiledFiles:
    """`libraries` are shared libraries that packages carry; `extensions` has one list of candidates a package."""

    libraries: list[Path] = field(default_factory=list)
    candidates: dict[str, list[Path]] = field(default_factory=dict)

    @property
    def extensions(self) -> list[list[Path]]:
        """The candidates of each package, by name of the package."""
        return [self.candidates[name] for name in sorted(self.candidates)[:MAX_PACKAGES]]

    def add(self, top: str, path: Path) -> None:
        """Remember an extension module of the package, if it has not enough already."""
        known = self.candidates.setdefault(top, [])
        if len(known) < MAX_CANDIDATES:
            known.append(path)


def find_compiled(site: Path) -> CompiledFiles:
    """Return the compiled files of a site-packages folder. Nothing is opened but the RECORD files."""
    found = CompiledFiles()
    entries = list_folder(site)
    recorded: set[str] = set()
    unread = MAX_RECORDS_BYTES
    for entry in entries:
        if entry.name.endswith(".dist-info") and entry.name.partition("-")[0].lower() not in _KNOWN and unread > 0:
            data = read_head(Path(entry.path) / "RECORD", min(unread, MAX_RECORD_BYTES)) or b""
            unread -= len(data)
            recorded |= _from_record(found, site, data)
    budget = MAX_FOLDERS
    for entry in entries:
        name = entry.name
        if name.endswith((".dist-info", ".egg-info")) or name in _IGNORED:
            continue
        if not is_folder(entry):
            if name.endswith((".so", ".pyd")):
                found.add(name, Path(entry.path))
            continue
        _carried(found, Path(entry.path))
        if name not in recorded and name not in _KNOWN and not name.endswith(".libs") and budget > 0:
            budget -= _from_folder(found, name, Path(entry.path), min(budget, MAX_FOLDERS_EACH))
    _libraries_stand_in(found, site)
    return found


def _libraries_stand_in(found: CompiledFiles, site: Path) -> None:
    """A package without an extension module (llvmlite, xgboost) is known by the first library that it carries."""
    skipped = len(site.parts)
    libraries: dict[str, list[Path]] = {}
    for path in found.libraries:
        libraries.setdefault(path.parts[skipped], []).append(path)
    for top, paths in libraries.items():
        if top not in _KNOWN and not top.endswith(".libs"):
            found.candidates.setdefault(top, paths[:MAX_CANDIDATES])


def _from_record(found: CompiledFiles, site: Path, data: bytes) -> set[str]:
    """Take the compiled files of one RECORD, and return the top-level names that it lists."""
    for suffix in (b".so,", b".dylib,"):
        for name in _recorded(data, suffix):
            path = site / name
            if _is_library(path.name):
                found.libraries.append(path)
            else:
                found.add(name.partition("/")[0], path)
    return {os.fsdecode(name) for name in {line.partition(b"/")[0] for line in data.splitlines()}}


def _recorded(data: bytes, suffix: bytes, limit: int = 2000) -> Iterator[str]:
    # Searching for the suffix is an order of magnitude faster than reading 13 000 lines as CSV.
    position = data.find(suffix)
    while position >= 0 and limit > 0:
        earliest = max(0, position - MAX_NAME)
        start = data.rfind(b"\n", earliest, position) + 1
        name = data[start or earliest : position + len(suffix) - 1]
        position = data.find(suffix, position + 1)
        limit -= 1
        outside = name[:1] in (b"/", b'"') or b".." in name
        if len(name) < MAX_NAME and not outside and b"\0" not in name:
            yield os.fsdecode(name)


def _is_library(name: str) -> bool:
    """True for a shared library, False for an extension module: lib.cpython-312-darwin.so is one of pyarrow's."""
    return name.endswith(".dylib") or (name.startswith("lib") and ".cpython-" not in name and ".abi3." not in name)


def _carried(found: CompiledFiles, package: Path) -> None:
    """Take the libraries in the folders where wheels put them, also of a package without a RECORD."""
    folders = [package] if package.name.endswith(".libs") else [package / name for name in _LIBRARY_FOLDERS]
    for folder in folders:
        for entry in list_folder(folder):
            if ".dylib" in entry.name or ".so" in entry.name:
                found.libraries.append(Path(entry.path))


def _from_folder(found: CompiledFiles, top: str, package: Path, budget: int) -> int:
    """Look for an extension module, nearest folders first. Returns how many folders were looked into."""
    waiting = [(package, 1)]
    looked = 0
    while waiting and looked < budget:
        folder, depth = waiting.pop(0)
        looked += 1
        for entry in list_folder(folder):
            if entry.name.endswith((".so", ".pyd", ".dylib")):
                if not _is_library(entry.name):
                    found.add(top, Path(entry.path))
                    return looked
                found.libraries.append(Path(entry.path))
            elif depth < MAX_DEPTH and entry.name not in _IGNORED and is_folder(entry):
                waiting.append((Path(entry.path), depth + 1))
    return looked
