"""Looks around on the machine that is to be repaired: tools, other Pythons, files that could be changed."""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from mpsdoctor.facts import Facts
from mpsdoctor.probes.demonstration import VARIABLE
from mpsdoctor.probes.files import list_folder, read_head, shown
from mpsdoctor.probes.process import run_child
from mpsdoctor.repair.managers import environment_folders, prefix_of
from mpsdoctor.repair.survey import FoundPython, Survey, TextFile

_TEXT_LIMIT = 1024 * 1024  # bytes of a requirements file or shell profile
_ASK_SECONDS = 5.0
_PYTHON_LIMIT = 24
_NEW_ENVIRONMENT = frozenset(
    {
        "broken-venv",
        "python-version-no-wheel",
        "python-implementation-unsupported",
        "x86-python-under-rosetta",
        "arch-mismatch-binaries",
        "macos-too-old-for-torch",
        "torch-not-installed",
        "macos-version-misreported",
    }
)
_TELL = (
    "import json,platform,sys;"
    "print(json.dumps(['%d.%d' % sys.version_info[:2], platform.machine(), sys.implementation.name]))"
)
_MADE = ("miniforge3", "miniforge3-arm64", "miniforge3-arm64-mpsdoctor")
_PROFILES = (
    ".zshenv",
    ".zprofile",
    ".zshrc",
    ".zlogin",
    ".profile",
    ".bash_profile",
    ".bashrc",
    ".config/fish/config.fish",
)


def look_around(facts: Facts, causes: Collection[str], environ: Mapping[str, str], folder: Path) -> Survey:
    """Return the survey of this machine. What is slow is asked only where a cause may need it."""
    home = environ.get("HOME") or str(Path.home())
    prefix = facts.interpreter.prefix or facts.conda.prefix or prefix_of(facts.interpreter.executable)
    survey = Survey(
        live=True,
        uv=_tool("uv", environ, home, (".local/bin", ".cargo/bin")),
        conda=_conda(facts, environ, home),
        pixi=_tool("pixi", environ, home, (".pixi/bin",)),
        pip=None if facts.packages.distributions is None else facts.packages.get("pip") is not None,
        requirements=tuple(_requirement_files(folder)),
        projects=tuple(_texts(folder / name for name in ("pyproject.toml", "pixi.toml"))),
        startup=tuple(_startup_files(home, prefix)),
        project_folder=shown(folder),
        home=home,
        conda_specs=_conda_specs(facts.conda.prefix),
        existing=(
            *(f"{home}/{name}" for name in _MADE if os.path.lexists(f"{home}/{name}")),
            *_asides(prefix),
            *_venvs(folder),
        ),
        size_mb=_size_mb(environment_folders(facts)),
        free_mb=_free_mb(prefix or home),
    )
    if facts.interpreter.end is not None or facts.interpreter.base_exists is False:
        files = _files_of(prefix)
        survey = replace(survey, files=files, pip=files.packages.get("pip") is not None if files else None)
    if _NEW_ENVIRONMENT & set(causes):
        survey = replace(survey, pythons=tuple(_pythons(facts, environ, home)))
    return survey


def _tool(name: str, environ: Mapping[str, str], home: str, places: Collection[str]) -> str | None:
    folders = [f"{home}/{place}" for place in places] + ["/opt/homebrew/bin", "/usr/local/bin"]
    return shutil.which(name, path=environ.get("PATH", "")) or shutil.which(name, path=os.pathsep.join(folders))


def _conda(facts: Facts, environ: Mapping[str, str], home: str) -> str | None:
    root = facts.conda.root_prefix
    candidates = [environ.get("MAMBA_EXE") if facts.conda.family == "micromamba" else environ.get("CONDA_EXE")]
    candidates += [f"{root}/bin/{name}" for name in ("conda", "mamba")] if root else []
    found = next((one for one in candidates if one and os.access(one, os.X_OK)), None)
    names = ("micromamba", "mamba", "conda") if facts.conda.family == "micromamba" else ("conda", "mamba", "micromamba")
    return found or next(
        (t for n in names if (t := _tool(n, environ, home, ("miniforge3/bin", "miniconda3/bin")))), None
    )


def _texts(paths: Iterator[Path] | Collection[Path]) -> Iterator[TextFile]:
    for path in paths:
        data = read_head(path, _TEXT_LIMIT + 1)
        if data is None or len(data) > _TEXT_LIMIT:
            continue
        try:
            yield TextFile(os.fspath(path), data.decode("utf-8"))
        except UnicodeDecodeError:  # not a text that could be written back as it was
            continue


def _requirement_files(folder: Path) -> Iterator[TextFile]:
    names = [entry.name for entry in list_folder(folder) if "requirements" in entry.name]
    inner = [f"requirements/{entry.name}" for entry in list_folder(folder / "requirements")]
    return _texts(folder / name for name in (*names, *inner) if name.endswith((".txt", ".in")))


def _startup_files(home: str, prefix: str | None) -> Iterator[TextFile]:
    paths = [Path(home) / name for name in _PROFILES]
    if prefix is not None:
        paths += [Path(prefix) / "bin" / "activate", Path(prefix) / "conda-meta" / "state"]
        paths += [Path(entry.path) for entry in list_folder(Path(prefix) / "etc" / "conda" / "activate.d")]
    return _texts(paths)


def _conda_specs(prefix: str | None) -> tuple[str, ...]:
    from mpsdoctor.repair.conda_history import requested

    data = read_head(Path(prefix) / "conda-meta" / "history", _TEXT_LIMIT) if prefix else None
    return requested(data.decode("utf-8", "replace")) if data else ()


def _asides(prefix: str | None) -> Iterator[str]:
    """Earlier environments that a repair put aside."""
    if prefix is not None:
        yield from (entry.path for entry in list_folder(Path(prefix).parent) if ".mpsdoctor-" in entry.name)


def _venvs(folder: Path) -> Iterator[str]:
    """What stands where a fix might make a virtual environment."""
    yield from (shown(folder / entry.name) for entry in list_folder(folder) if entry.name.startswith(".venv"))


def _files_of(prefix: str | None) -> Facts | None:
    from mpsdoctor.probes.env_folder import NotAnEnvironment, read_env

    if prefix is None:
        return None
    try:
        return read_env(Path(prefix))
    except NotAnEnvironment:
        return None


def _pythons(facts: Facts, environ: Mapping[str, str], home: str) -> Iterator[FoundPython]:
    """Every CPython in the usual places, the newest patch of each place first; asked what it is."""
    seen: set[str] = set()
    for path in _python_paths(facts, environ, home):
        real = os.path.realpath(path)
        if real in seen or len(seen) >= _PYTHON_LIMIT or not os.access(path, os.X_OK):
            continue
        seen.add(real)
        done = run_child([path, "-I", "-B", "-c", _TELL], timeout=_ASK_SECONDS)
        try:
            minor, machine, implementation = json.loads(done.text)
        except ValueError:
            continue
        if implementation == "cpython":
            # In a demonstration this machine stands for the recorded Mac.
            yield FoundPython(path, minor, facts.interpreter.machine or machine if environ.get(VARIABLE) else machine)


def _python_paths(facts: Facts, environ: Mapping[str, str], home: str) -> Iterator[str]:
    own = facts.interpreter
    for known in (own.base_executable, getattr(sys, "_base_executable", None)):
        if known and not (own.prefix and known.startswith(f"{own.prefix}/")):
            yield known
    uv = Path(environ.get("UV_PYTHON_INSTALL_DIR") or f"{home}/.local/share/uv/python")
    for folder in (uv, Path(f"{home}/.pyenv/versions"), Path("/Library/Frameworks/Python.framework/Versions")):
        for entry in reversed(list_folder(folder)):
            yield f"{entry.path}/bin/python3"
    for place in (*environ.get("PATH", "").split(os.pathsep), "/opt/homebrew/bin", "/usr/local/bin"):
        if place and not (own.prefix and place.startswith(own.prefix)):
            for minor in range(15, 8, -1):
                yield f"{place}/python3.{minor}"


def _size_mb(folders: Collection[str]) -> float | None:
    total = 0
    for folder in folders:
        for root, _, names in os.walk(folder):
            for name in names:
                try:
                    total += os.lstat(f"{root}/{name}").st_size
                except OSError:
                    continue
    return round(total / 1e6, 1) if folders else None


def _free_mb(path: str) -> float | None:
    for folder in (Path(path), *Path(path).parents):
        try:
            return round(shutil.disk_usage(folder).free / 1e6, 1)
        except OSError:
            continue
    return None


def project_pins(folder: Path) -> tuple[str, ...]:
    """Return the requirements in the project's files that no Mac can meet: "requirements.txt: torch==2.1.0+cu118"."""
    from mpsdoctor.repair.pins import rewriter

    files = (*_requirement_files(folder), *_texts(folder / name for name in ("pyproject.toml", "pixi.toml")))
    found = []
    for file in files:
        name = Path(file.path).name
        rewrite = rewriter(name)
        if rewrite is not None:
            found += [f"{name}: {change.old.strip()}" for change in rewrite(file.text)[1]]
    return tuple(found)
