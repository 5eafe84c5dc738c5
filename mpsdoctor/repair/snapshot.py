"""The state before: every path that a plan writes, copied with its hashes (restore.py puts it back exactly).

A path is kept as a copy (file or folder), as a link, as "absent", or as "moved" where the old one is only renamed.
"""

from __future__ import annotations

import errno
import hashlib
import os
import stat
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from mpsdoctor.repair.clone import copy_file

_CHUNK = 1 << 20
_OF_ITS_OWN = ("envs", "pkgs")
Entry = dict[str, Any]


def save(paths: Sequence[str], moves: Mapping[str, str], folder: Path) -> list[Entry]:
    """Copy the paths into a new folder and return what was there. `moves` maps paths to where they will be moved.

    Raises OSError where it cannot be kept: then nothing may be changed.
    """
    folder.mkdir(parents=True)
    roots: list[Entry] = []
    for number, path in enumerate(_outermost(paths)):
        if path in moves.values():
            continue  # where the old environment goes to: it is the copy itself
        if path in moves:
            there = os.path.lexists(path)
            inode = os.lstat(path).st_ino if there else None
            roots.append({"path": path, "kind": "moved" if there else "absent", "aside": moves[path], "inode": inode})
            continue
        roots.append(_save_root(path, folder / str(number)) | {"copy": str(number)})
    os.sync()
    return roots


def behind_links(paths: Iterable[str], moves: Mapping[str, str]) -> tuple[str, ...]:
    """Return the paths and, behind each that is a link, what it leads to: a change goes through the link.

    The place of an environment that moves is left as it is: the link itself is renamed.
    """
    found: dict[str, None] = {}
    for path in paths:
        found[path] = None
        if path not in moves and Path(path).is_symlink() and Path(path).exists():
            found[os.path.realpath(path)] = None
    return tuple(found)


def _outermost(paths: Iterable[str]) -> list[str]:
    unique = list(dict.fromkeys(path.rstrip("/") for path in paths if path.startswith("/")))
    return [path for path in unique if not any(_is_kept_with(path, other) for other in unique)]


def _is_kept_with(path: str, other: str) -> bool:
    if not path.startswith(f"{other}/"):
        return False
    return path[len(other) + 1 :].partition("/")[0] not in _apart(other)


def _apart(path: str) -> tuple[str, ...]:
    """The folders of conda's base that are not part of the base environment: other environments, and the cache."""
    return _OF_ITS_OWN if Path(path, "conda-meta").is_dir() else ()


def _save_root(path: str, copy: Path) -> Entry:
    if not os.path.lexists(path):
        missing = [str(folder) for folder in Path(path).parents if not os.path.lexists(folder)]
        return {"path": path, "kind": "absent", "without": missing}
    now = entry(Path(path))
    if now["kind"] != "folder":
        if now["kind"] == "file":
            _keep(Path(path), now, copy)
        return {"path": path, **now}
    copy.mkdir()
    entries = {}
    for name in walk(path):
        inner = Path(path, name)
        found = entry(inner)
        entries[name] = found
        if found["kind"] == "folder":
            (copy / name).mkdir(mode=0o700)
        elif found["kind"] == "file":
            _keep(inner, found, copy / name)
    return {"path": path, **now, "inode": os.lstat(path).st_ino, "entries": entries}


def _keep(path: Path, found: Entry, copy: Path) -> None:
    """Copy a file. Raises OSError where it was changed meanwhile: its hash would not be that of the copy."""
    copy_file(path, copy)
    state = path.lstat()
    if (state.st_size, state.st_mtime_ns) != (found["size"], found["time"]):
        raise OSError(errno.EBUSY, "it is being changed by another program", str(path))


def walk(path: str, *, whole: bool = False) -> list[str]:
    """Return everything below a folder, by its relative path, a folder before what it holds.

    whole: also what conda's base holds beside the base environment.
    """
    found: list[str] = []
    apart = () if whole else _apart(path)

    def fail(error: OSError) -> None:
        raise error

    for root, folders, files in os.walk(path, onerror=fail):
        inner = os.path.relpath(root, path)
        if inner == ".":
            folders[:] = [name for name in folders if name not in apart]
        names = sorted((*folders, *files))
        found += [name if inner == "." else f"{inner}/{name}" for name in names]
    return sorted(found)


def entry(path: Path) -> Entry:
    """Return what stands at a path: its kind, mode, time, and a file's size and SHA-256."""
    state = path.lstat()
    mode = stat.S_IMODE(state.st_mode)
    if stat.S_ISLNK(state.st_mode):
        return {"kind": "link", "to": os.readlink(path)}  # noqa: PTH115 - bytes that are no UTF-8 stay as they are
    if stat.S_ISDIR(state.st_mode):
        return {"kind": "folder", "mode": mode, "time": state.st_mtime_ns}
    if stat.S_ISREG(state.st_mode):
        return {
            "kind": "file",
            "mode": mode,
            "time": state.st_mtime_ns,
            "size": state.st_size,
            "sha256": file_digest(path),
        }
    return {"kind": "other"}


def file_digest(path: Path) -> str:
    """Return the SHA-256 of a file."""
    hashed = hashlib.sha256()
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK):
            hashed.update(chunk)
    return hashed.hexdigest()


def entry_of(root: Entry, path: str) -> Entry | None:
    """Return what stood at a path inside a root before, or None where nothing did."""
    if root["kind"] in ("absent", "moved"):
        return None
    if path == root["path"]:
        return root
    inner: Entry | None = root.get("entries", {}).get(path[len(root["path"]) + 1 :])
    return inner


def is_back(root: Entry) -> bool:
    """True where a moved environment stands in its place. A rename keeps the folder's number (inode)."""
    return bool(_number(root["path"]) == root["inode"])


def was_moved(root: Entry) -> bool:
    """True where the environment that this run found in the place now lies aside: one of an earlier run does not."""
    return bool(_number(root["aside"]) == root["inode"])


def _number(path: str) -> int | None:
    return os.lstat(path).st_ino if os.path.lexists(path) else None


def differences(roots: Sequence[Entry]) -> list[str]:
    """Return every path that is not as it was, and every new one."""
    found: list[str] = []
    for root in roots:
        path = root["path"]
        if root["kind"] == "moved":
            found += [] if is_back(root) else [path]
            continue
        now = entry(Path(path)) if os.path.lexists(path) else {"kind": "absent"}
        if not same(now, root):
            found.append(path)
        if root["kind"] != "folder" or now["kind"] != "folder":
            continue
        before = root["entries"]
        names = set(walk(path))
        found += [f"{path}/{name}" for name in sorted(names - before.keys())]
        found += [
            f"{path}/{name}" for name in before if name not in names or not same(entry(Path(path, name)), before[name])
        ]
    return found


def same(now: Entry, before: Entry) -> bool:
    """True where nothing that is restored differs."""
    keys = ("kind", "to", "mode", "size", "sha256", *(("time",) if before["kind"] == "file" else ()))
    return all(now.get(key) == before.get(key) for key in keys)
