"""Which interpreter is examined: the one asked for, else the active environment's, else python3 on PATH."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from mpsdoctor.probes.runner import expanded

# What uv and pipx leave in an environment that they make for one tool; uvx makes it in uv's cache, in archive-v0.
_TOOL_MARKS = ("uv-receipt.toml", "pipx_metadata.json")


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
        try:
            return _asked_for(python, environ)
        except OSError as error:
            raise NoSuchInterpreter(f"{python!r} cannot be reached: {error.strerror or error}") from error
    gone = ""
    for variable in ("VIRTUAL_ENV", "CONDA_PREFIX"):
        prefix = environ.get(variable)
        if prefix:
            found = _in_prefix(Path(prefix), variable)
            if found is not None:
                return found
            gone += f"; the environment that {variable} names holds no Python"
    path = environ.get("PATH", os.defpath)
    if _own_environment_is_private():
        path = _without_own_environment(path)
    found_on_path = _which("python3", path) or _which("python", path)
    if found_on_path:
        where = "on PATH" if environ.get("PATH") else "where a shell without PATH looks"
        passed_over = " behind mpsdoctor's own" if path != environ.get("PATH", os.defpath) else ""
        return Target(found_on_path, f"python3 {where}{passed_over}{gone}")
    return Target(sys.executable, f"the Python that runs mpsdoctor; there is no other on PATH{gone}")


def _asked_for(python: str, environ: Mapping[str, str]) -> Target:
    if not python or "\0" in python:
        raise NoSuchInterpreter("--python needs the path of an interpreter")
    path = expanded(python)
    # A repository often holds a folder called python: a bare name then means the one on PATH, as in a shell.
    if os.sep not in python and (not os.path.lexists(path) or path.is_dir()):
        found = _which(python, environ.get("PATH", os.defpath))
        if found is not None:
            return Target(found, "--python, found on PATH")
        if not path.is_dir():
            raise NoSuchInterpreter(f"there is no {python!r} here and none on PATH")
    if path.is_symlink() and not path.exists():
        return Target(str(path.absolute()), "--python", dangling=_link_target(path))
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
        try:
            if candidate.is_symlink() and not candidate.exists():
                return Target(str(candidate), chosen_by, dangling=_link_target(candidate))
            if candidate.is_file():
                return Target(str(candidate), chosen_by)
        except OSError:  # a folder that this user may not read
            return None
    return None


def _which(name: str, path: str) -> str | None:
    import shutil  # with its compressors it takes longer to load than all of this module's work

    found = shutil.which(name, path=path)
    try:
        # Absolute: PATH may hold relative folders, and a bare name would be searched for once more when it is run.
        return found if found is None else str(Path(found).absolute())
    except OSError:  # the working folder was deleted
        return None


def _link_target(path: Path) -> str:
    try:
        return str(path.readlink())
    except OSError:  # it went away just now
        return str(path)


def _own_environment_is_private() -> bool:
    """Whether this program has an environment to itself: one of pipx or uv, or one with this program and no torch.

    Where torch is, somebody works. A zip file is not installed in the environment whose Python runs it.
    """
    own = Path(sys.prefix)
    if sys.prefix == sys.base_prefix or not Path(__file__).is_relative_to(own):
        return False
    if own.parent.name.startswith("archive-v") or any((own / name).exists() for name in _TOOL_MARKS):
        return True
    return not any(own.glob("lib/python3*/site-packages/torch"))


def _without_own_environment(path: str) -> str:
    """PATH without our own environment: uvx puts the tool's private environment first."""
    own = os.path.realpath(Path(sys.prefix) / "bin")
    return os.pathsep.join(entry for entry in path.split(os.pathsep) if entry and os.path.realpath(entry) != own)
