"""Small things about files: how they are written, removed, and spoken of where that fails."""

from __future__ import annotations

import os
import shutil
import stat
from pathlib import Path

_WRITING = ".mpsdoctor"


def plainly(error: Exception) -> str:
    """Say what went wrong in one line, with the path that it is about."""
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    return str(error)


def beside(path: Path) -> Path:
    """Return where a file is written before it takes its place in one step."""
    return path.with_name(f".{path.name[:200]}{_WRITING}")


def is_being_written(path: str) -> bool:
    """True for a file that `beside` named: it is left behind only where we were killed."""
    name = path.rpartition("/")[2]
    return name.startswith(".") and name.endswith(_WRITING)


def remove(path: Path) -> None:
    """Remove a file, link or whole folder, where it is."""
    if path.is_dir() and not path.is_symlink():
        _open(path)
        for folder, inner, _ in os.walk(path):
            for name in inner:
                _open(Path(folder, name))
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def _open(folder: Path) -> None:
    """A folder that is not to be written cannot be emptied."""
    if not folder.is_symlink() and folder.stat().st_mode & stat.S_IRWXU != stat.S_IRWXU:
        folder.chmod(stat.S_IRWXU)
