"""The state before: every path that a plan writes, copied with its hashes, and put back exactly.

A path is kept as a copy (file or folder), as a link, as "absent", or as "moved" where the old one is only renamed.
Restoring writes what differs and removes what is new; it can be repeated, and it frees space before it takes any.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from mpsdoctor.repair.actions import remove
from mpsdoctor.repair.clone import copy_file

_CHUNK = 1 << 20
Entry = dict[str, Any]


class DamagedCopy(Exception):
    """The kept copy of a file is not what it was; the file was left alone."""


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


def _outermost(paths: Iterable[str]) -> list[str]:
    unique = list(dict.fromkeys(path.rstrip("/") for path in paths if path.startswith("/")))
    return [path for path in unique if not any(path.startswith(f"{other}/") for other in unique)]


def _save_root(path: str, copy: Path) -> Entry:
    if not os.path.lexists(path):
        return {"path": path, "kind": "absent"}
    entry = _entry(Path(path))
    if entry["kind"] != "folder":
        if entry["kind"] == "file":
            copy_file(Path(path), copy)
        return {"path": path, **entry}
    copy.mkdir()
    entries = {}
    for name in _walk(path):
        inner = Path(path, name)
        found = _entry(inner)
        entries[name] = found
        if found["kind"] == "folder":
            (copy / name).mkdir(mode=0o700)
        elif found["kind"] == "file":
            copy_file(inner, copy / name)
    return {"path": path, **entry, "entries": entries}


def _walk(path: str) -> list[str]:
    """Return everything below a folder, by its relative path, a folder before what it holds."""
    found: list[str] = []

    def fail(error: OSError) -> None:
        raise error

    for root, folders, files in os.walk(path, onerror=fail):
        inner = os.path.relpath(root, path)
        names = sorted((*folders, *files))
        found += [name if inner == "." else f"{inner}/{name}" for name in names]
    return sorted(found)


def _entry(path: Path) -> Entry:
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


def file_digests(paths: Iterable[str]) -> dict[str, str]:
    """Return the SHA-256 of those paths that are plain files."""
    files = (Path(path) for path in paths)
    return {str(path): file_digest(path) for path in files if path.is_file() and not path.is_symlink()}


def differences(roots: Sequence[Entry]) -> list[str]:
    """Return every path that is not as it was, and every new one."""
    found: list[str] = []
    for root in roots:
        path = root["path"]
        if root["kind"] == "moved":
            # A rename keeps the folder's number; another folder of that name is another environment.
            back = os.path.lexists(path) and os.lstat(path).st_ino == root["inode"]
            found += [] if back else [path]
            continue
        now = _entry(Path(path)) if os.path.lexists(path) else {"kind": "absent"}
        if not _same(now, root):
            found.append(path)
        if root["kind"] != "folder" or now["kind"] != "folder":
            continue
        before = root["entries"]
        names = set(_walk(path))
        found += [f"{path}/{name}" for name in sorted(names - before.keys())]
        found += [
            f"{path}/{name}"
            for name in before
            if name not in names or not _same(_entry(Path(path, name)), before[name])
        ]
    return found


def _same(now: Entry, before: Entry) -> bool:
    keys = ("kind", "to", "mode", "size", "sha256", *(("time",) if before["kind"] == "file" else ()))
    return all(now.get(key) == before.get(key) for key in keys)


def restore(roots: Sequence[Entry], folder: Path) -> list[str]:
    """Put everything back and return what could not be. Can be repeated. Raises DamagedCopy, OSError."""
    for root in reversed(roots):
        _clear(root)
    for root in roots:
        _refill(root, folder)
    return differences(roots)


def _clear(root: Entry) -> None:
    """Take away what was not there: it may be what fills the disk."""
    path = Path(root["path"])
    if root["kind"] == "moved":
        if os.path.lexists(root["aside"]):
            if os.path.lexists(path):
                remove(path)
            Path(root["aside"]).rename(path)
        return
    if root["kind"] == "absent":
        remove(path)
        return
    if root["kind"] == "folder" and path.is_dir() and not path.is_symlink():
        before = root["entries"]
        for name in reversed(_walk(str(path))):
            if name not in before:
                remove(path / name)


def _refill(root: Entry, folder: Path) -> None:
    path = Path(root["path"])
    if root["kind"] in ("moved", "absent", "other"):
        return
    copy = folder / root["copy"]
    _put(path, root, copy)
    if root["kind"] != "folder":
        return
    entries = root["entries"]
    for name, entry in entries.items():
        _put(path / name, entry, copy / name)
    for name in [*reversed(entries), ""]:
        entry = entries.get(name, root)
        if entry["kind"] == "folder":
            os.utime(path / name, ns=(entry["time"], entry["time"]))


def _put(path: Path, entry: Entry, copy: Path) -> None:
    now = _entry(path) if os.path.lexists(path) else {"kind": "absent"}
    if _same(now, entry):
        return
    if now["kind"] not in ("absent", entry["kind"]):
        remove(path)
    if entry["kind"] == "folder":
        path.mkdir(parents=True, exist_ok=True)
        path.chmod(entry["mode"])
    elif entry["kind"] == "link":
        path.unlink(missing_ok=True)
        path.symlink_to(entry["to"])
    elif entry["kind"] == "file":
        _put_file(path, entry, copy)


def _put_file(path: Path, entry: Entry, copy: Path) -> None:
    if not copy.is_file() or file_digest(copy) != entry["sha256"]:
        raise DamagedCopy(f"the kept copy of {path} is damaged; it was left alone")
    beside = path.with_name(f".{path.name[:200]}.mpsdoctor")
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        copy_file(copy, beside)
        beside.chmod(entry["mode"])
        os.utime(beside, ns=(entry["time"], entry["time"]))
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)
