"""Which files of an environment decide whether torch can use the GPU, and what their headers say."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from mpsdoctor.facts import Binaries, Binary
from mpsdoctor.probes.extensions import CompiledFiles, find_compiled
from mpsdoctor.probes.files import exists, is_dir, list_folder, shown, unique_folders
from mpsdoctor.probes.macho import read_binary

OPENMP_NAME = re.compile(r"lib[gi]?omp\d*(?:[-._][^/]*)?\.(?:dylib|so)[\d.]*")
MAX_OPENMP = 40

_TORCH_LIBRARIES = ("libtorch_cpu", "libtorch_python")
INTERPRETERS = ("bin/python3", "bin/python", "python.exe", "Scripts/python.exe")


def find_binaries(*, executable: Path | None, site_packages: Sequence[Path], prefix: Path | None) -> Binaries:
    """Return the headers of the files that decide, most telling first. Reads headers and lists folders only.

    `executable` is the interpreter (else the one of `prefix`), `site_packages` its folders in sys.path order, `prefix`
    the environment whose lib folder may hold torch's libraries (conda) and OpenMP runtimes. What is not there is no
    error; a torch without its core library gets a file of kind "missing".
    """
    found = _Found()
    _interpreter(found, executable, prefix)
    folders = unique_folders(site_packages)
    for site in folders:
        _torch(found, site / "torch", prefix)
    for site in folders:
        for core in ("_core", "core"):
            found.add_all(_matching(site / "numpy" / core, r"_multiarray_umath\..*"), "numpy")
        found.add_all(_matching(site / "torchvision", r"(?:_C|image)(?:_stable)?\..*"), "torchvision")
        found.add_all(_matching(site / "torchaudio" / "lib", r"(?:_|lib)torchaudio\..*"), "torchaudio")
    compiled = [find_compiled(site) for site in folders]
    found.add_all(_openmp(compiled, prefix), "openmp")
    for compiled_here in compiled:
        for candidates in compiled_here.extensions:
            found.add_first(candidates, "extension")
    return Binaries(files=tuple(found.files), sources={"files": "the headers of these files"})


class _Found:
    """The files read so far. One file under two names (conda links libiomp5 to libomp) is one file."""

    def __init__(self) -> None:
        self.files: list[Binary] = []
        self._seen: set[tuple[int, int] | str] = set()

    def add(self, path: Path, role: str) -> Binary | None:
        """Read a file, unless it was read before."""
        try:
            info = path.stat()
            key: tuple[int, int] | str = (info.st_dev, info.st_ino)
        except (OSError, ValueError):
            key = os.fspath(path)
        if key in self._seen:
            return None
        self._seen.add(key)
        binary = read_binary(path, role)
        self.files.append(binary)
        return binary

    def add_all(self, paths: Iterable[Path], role: str) -> None:
        """Read each of these files."""
        for path in paths:
            self.add(path, role)

    def add_first(self, paths: Iterable[Path], role: str) -> None:
        """Read the first of these files that exists."""
        for path in paths:
            if os.path.lexists(path):
                self.add(path, role)
                return


def _interpreter(found: _Found, executable: Path | None, prefix: Path | None) -> None:
    if executable is None and prefix is not None:
        executable = next((prefix / name for name in INTERPRETERS if os.path.lexists(prefix / name)), None)
    if executable is None:
        return
    # The file behind the links is the one that runs; where the links end nowhere, the first one tells it.
    found.add(Path(os.path.realpath(executable)) if exists(executable) else executable, "interpreter")


def _torch(found: _Found, torch: Path, prefix: Path | None) -> None:
    if not is_dir(torch):
        return
    extensions = _matching(torch, r"_C\..*\.so|_C\.so|_C\..*\.pyd")
    libraries = _torch_libraries(torch, prefix)
    found.add_all(libraries, "torch")
    found.add_all(extensions, "torch-extension")
    if not extensions:
        if exists(torch / "__init__.py"):
            found.files.append(_absent(torch / "_C.so", "torch-extension", "torch's compiled module is not there"))
    elif extensions[0].suffix == ".so" and not any("libtorch_cpu" in library.name for library in libraries):
        name = "libtorch_cpu.so" if "linux" in extensions[0].name else "libtorch_cpu.dylib"
        found.files.append(_absent(torch / "lib" / name, "torch", "torch's core library is not there"))


def _torch_libraries(torch: Path, prefix: Path | None) -> list[Path]:
    # A conda package keeps torch's libraries in the lib folder of the prefix, a wheel beside the module.
    folders = [torch / "lib", *([prefix / "lib"] if prefix else [])]
    names = [f"{stem}{suffix}" for stem in _TORCH_LIBRARIES for suffix in (".dylib", ".so")]
    return [folder / name for folder in folders for name in names if os.path.lexists(folder / name)]


def _absent(path: Path, role: str, problem: str) -> Binary:
    return Binary(path=shown(path), role=role, kind="missing", problem=problem)


def _matching(folder: Path, pattern: str) -> list[Path]:
    compiled = re.compile(pattern)
    return [
        Path(entry.path)
        for entry in list_folder(folder)
        if compiled.fullmatch(entry.name) and entry.name.endswith((".so", ".pyd"))
    ]


def _openmp(compiled: Iterable[CompiledFiles], prefix: Path | None) -> list[Path]:
    paths = [path for site in compiled for path in site.libraries if OPENMP_NAME.fullmatch(path.name)]
    if prefix is not None:
        entries = list_folder(prefix / "lib")
        paths += [Path(entry.path) for entry in entries if OPENMP_NAME.fullmatch(entry.name)]
    return list(dict.fromkeys(paths))[:MAX_OPENMP]
