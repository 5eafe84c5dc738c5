"""Copies of files that share their blocks where the file system can (APFS, btrfs, XFS): quick, and free of space."""

from __future__ import annotations

import contextlib
import functools
import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

_FICLONE = 0x40049409  # Linux, <linux/fs.h>: share the blocks of a whole file


def copy_file(source: Path, target: Path) -> None:
    """Copy the content of a regular file to a path where nothing is, with its times. Raises OSError."""
    if not (sys.platform == "darwin" and _clone_darwin(source, target)) and not _clone_linux(source, target):
        shutil.copyfile(source, target)
    state = source.stat()
    os.utime(target, ns=(state.st_atime_ns, state.st_mtime_ns))


def _clone_darwin(source: Path, target: Path) -> bool:
    function = _clonefile()
    return function is not None and function(os.fsencode(source), os.fsencode(target), 0) == 0


@functools.cache
def _clonefile() -> Callable[[bytes, bytes, int], int] | None:
    import ctypes

    with contextlib.suppress(AttributeError, OSError):
        function: Callable[[bytes, bytes, int], int] = ctypes.CDLL(None).clonefile
        return function
    return None


def _clone_linux(source: Path, target: Path) -> bool:
    if sys.platform != "linux":
        return False
    import fcntl

    try:
        with source.open("rb") as read, target.open("xb") as write:
            fcntl.ioctl(write.fileno(), _FICLONE, read.fileno())
    except OSError:
        target.unlink(missing_ok=True)
        return False
    return True
