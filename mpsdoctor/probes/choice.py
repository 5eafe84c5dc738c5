"""Which interpreter is examined: the one asked for, else the active environment's, else python3 on PATH."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path


class NoSuchInterpreter(ValueError):
    """The path asked for cannot be an interpreter; the message is one plain line."""


@dataclass(frozen=True)
class Target:
    """An interpreter by path and the reason why this one. `dangling`: its file is a link that leads nowhere."""

    executable: str
    chosen_by: str
    dangling: str | None = None


def choose_target(python: str | None, environ: Mapping[str, str]) -> Target:
    """Choose the interpreter. Raises NoSuchInterpreter for a path that cannot be one."""
    if python is not None:
        return _asked_for(python, environ)
    for variable in ("VIRTUAL_ENV", "CONDA_PREFIX"):
        prefix = environ.get(variable)
        if prefix:
            found = _in_prefix(Path(prefix), variable)
            if found is not None:
                return found
    path = _path_without_own_environment(environ)
    found_on_path = shutil.which("python3", path=path) or shutil.which("python", path=path)
    if found_on_path:
        return Target(found_on_path, "python3 on PATH")
    return Target(sys.executable, "the Python that runs mpsdoctor; there is no other on PATH")


def _asked_for(python: str, environ: Mapping[str, str]) -> Target:
    if not python or "\0" in python:
        raise NoSuchInterpreter("--python needs the path of an interpreter")
    path = Path(python).expanduser()
    if os.sep not in python and not os.path.lexists(path):
        found = shutil.which(python, path=environ.get("PATH"))
        if found is None:
            raise NoSuchInterpreter(f"there is no {python!r} here and none on PATH")
        return Target(found, "--python, found on PATH")
    if path.is_symlink() and not path.exists():
        return Target(str(path), "--python", dangling=_link_target(path))
    if not path.exists():
        raise NoSuchInterpreter(f"there is no file {str(path)!r}")
    if path.is_dir():
        found_inside = _in_prefix(path, "--python")
        hint = f"; did you mean {found_inside.executable!r}, or --env for a folder?" if found_inside else ""
        raise NoSuchInterpreter(f"{str(path)!r} is a folder, not an interpreter{hint}")
    if not path.is_file():
        raise NoSuchInterpreter(f"{str(path)!r} is no ordinary file")
    if not os.access(path, os.X_OK):
        raise NoSuchInterpreter(f"{str(path)!r} cannot be run: it has no execute permission")
    return Target(str(path.absolute()), "--python")


def _in_prefix(prefix: Path, chosen_by: str) -> Target | None:
    for name in ("bin/python", "bin/python3", "python.exe", "Scripts/python.exe"):
        candidate = prefix / name
        if candidate.is_symlink() and not candidate.exists():
            return Target(str(candidate), chosen_by, dangling=_link_target(candidate))
        if candidate.is_file():
            return Target(str(candidate), chosen_by)
    return None


def _link_target(path: Path) -> str:
    try:
        return str(path.readlink())
    except OSError:  # a loop of links, or it went away
        return str(path)


def _path_without_own_environment(environ: Mapping[str, str]) -> str:
    """PATH without our own environment: pipx and uvx put the tool's private environment first."""
    own = os.path.realpath(Path(sys.prefix) / "bin")
    entries = environ.get("PATH", os.defpath).split(os.pathsep)
    if sys.prefix == sys.base_prefix:
        return os.pathsep.join(entries)
    return os.pathsep.join(entry for entry in entries if entry and os.path.realpath(entry) != own)
