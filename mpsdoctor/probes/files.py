"""Reading files of a tree that nobody vouches for: nothing here blocks, raises, or reads more than it was asked to."""

from __future__ import annotations

import json
import os
import re
import stat
from collections.abc import Iterable
from io import FileIO
from pathlib import Path

MAX_ENTRIES = 20_000  # of one folder; a site-packages folder has some hundreds, a conda lib folder a few thousand

_URL_USER = re.compile(r"(?<=://)[^/\s]*@")
_URL_TOKEN = re.compile(r"(?<=/t/)[^/\s]+(?=/)")  # a conda channel: https://host/t/<token>/channel


class NotAFile(OSError):
    """The path is a folder, a pipe, a device or a socket. Its message is that word."""


def shown(path: str | os.PathLike[str]) -> str:
    """Return a path as text that every JSON writer accepts: bytes that are no UTF-8 become U+FFFD."""
    return os.fspath(path).encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def open_regular(path: Path) -> FileIO:
    """Open a regular file for reading. Raises `OSError`; for a pipe or folder `NotAFile`, without waiting for it."""
    try:
        _require_regular(path.stat().st_mode)
        # Something else may stand there by now: O_NONBLOCK lets the second look come before any waiting.
        flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
        file = FileIO(os.open(path, flags), "rb")
    except ValueError as error:  # a NUL in the path
        raise FileNotFoundError(str(error)) from error
    try:
        _require_regular(os.fstat(file.fileno()).st_mode)
    except OSError:
        file.close()
        raise
    return file


def _require_regular(mode: int) -> None:
    if stat.S_ISREG(mode):
        return
    names = {
        stat.S_IFDIR: "a folder",
        stat.S_IFIFO: "a named pipe",
        stat.S_IFSOCK: "a socket",
        stat.S_IFCHR: "a device",
        stat.S_IFBLK: "a device",
    }
    raise NotAFile(names.get(stat.S_IFMT(mode), "no regular file"))


def read_head(path: Path, limit: int) -> bytes | None:
    """Return at most the first `limit` bytes, or None where there is no readable regular file."""
    try:
        with open_regular(path) as file:
            parts: list[bytes] = []
            piece = os.fstat(file.fileno()).st_size + 1  # a buffer of the whole limit would be made for each small file
            while limit > 0 and (part := file.read(min(limit, piece))):
                parts.append(part)
                limit -= len(part)
            return b"".join(parts)
    except OSError:
        return None


def read_text(path: Path, limit: int = 64 * 1024) -> str | None:
    """Return the first `limit` bytes as text (UTF-8, wrong bytes replaced), or None where it cannot be read."""
    data = read_head(path, limit)
    return None if data is None else data.decode("utf-8-sig", "replace")


def list_folder(folder: Path) -> list[os.DirEntry[str]]:
    """Return the entries of a folder by name, or none where it cannot be listed."""
    entries: list[os.DirEntry[str]] = []
    try:
        with os.scandir(folder) as found:
            for entry in found:
                entries.append(entry)
                if len(entries) >= MAX_ENTRIES:
                    break
    except (OSError, ValueError):
        pass
    return sorted(entries, key=lambda entry: entry.name)


def is_folder(entry: os.DirEntry[str]) -> bool:
    """True for a folder and for a link to one."""
    try:
        return entry.is_dir()
    except OSError:
        return False


def exists(path: Path) -> bool:
    """True where a path leads to something; False also where a folder on the way may not be entered."""
    try:
        return path.exists()
    except (OSError, ValueError):
        return False


def is_dir(path: Path) -> bool:
    """True for a folder or a link to one; False also where it may not be seen."""
    try:
        return path.is_dir()
    except (OSError, ValueError):
        return False


def can_list(folder: Path) -> bool:
    """True where the entries of a folder may be seen, which `list_folder` does not tell from an empty folder."""
    try:
        with os.scandir(folder):
            return True
    except (OSError, ValueError):
        return False


def unique_folders(folders: Iterable[Path]) -> list[Path]:
    """Return the folders that exist, each once: lib64 is often a link to lib, and each package would count twice."""
    found: dict[str, Path] = {}
    for folder in folders:
        if is_dir(folder):
            found.setdefault(os.path.realpath(folder), folder)
    return list(found.values())


def without_credentials(url: str) -> str:
    """Return a URL without user, password, channel token, query and fragment (signed links carry keys in these).

    >>> without_credentials("https://me:secret@example.org/t/tk-123/channel/x.whl?sig=9#sha256=0")
    'https://example.org/t/***/channel/x.whl'
    """
    bare = re.split(r"[?#]", url.strip(), maxsplit=1)[0]
    return _URL_TOKEN.sub("***", _URL_USER.sub("", bare))


def load_json(text: str | bytes) -> object | None:
    """Return JSON data, also where a tool printed warnings before it; None where there is no whole JSON value."""
    if isinstance(text, bytes):
        text = text.decode("utf-8-sig", "replace")
    text = text.lstrip("\ufeff")
    starts = [0, *(match.start() for match in re.finditer(r"^[\[{]", text, re.MULTILINE))][:50]
    for start in starts:
        try:
            data: object = json.JSONDecoder().raw_decode(text, start)[0] if start else json.loads(text)
        except (ValueError, RecursionError):
            continue
        return data
    return None
