"""Puts the state before back, exactly.

Restoring writes what differs and removes what is new; it can be repeated, and it frees space before it takes any.
"""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Collection, Sequence
from pathlib import Path

from mpsdoctor.repair.clone import copy_file
from mpsdoctor.repair.paths import beside, remove
from mpsdoctor.repair.snapshot import Entry, differences, entry, entry_of, file_digest, same, walk, was_moved


class DamagedCopy(Exception):
    """The kept copy of a file is not what it was; the file was left alone."""


def restore(roots: Sequence[Entry], folder: Path, stays: Collection[str] = (), name: str = "later") -> list[str]:
    """Put everything back and return what could not be. Can be repeated. Raises DamagedCopy, OSError.

    stays: what was made or changed since, and stays as it is; a new environment that holds such goes aside as `name`.
    """
    above = {str(folder) for path in stays for folder in (Path(path), *Path(path).parents)}
    for root in reversed(roots):
        _clear(root, above, name)
    for root in roots:
        _refill(root, folder, stays)
    return [path for path in differences(roots) if not _may_differ(roots, path, stays, above)]


def _may_differ(roots: Sequence[Entry], path: str, stays: Collection[str], above: Collection[str]) -> bool:
    """True for what stays and the folders that hold it; what was there before must be back in its own kind."""
    if any(root["kind"] == "moved" and path == root["path"] for root in roots):
        return False
    return path in stays or (path in above and not any(entry_of(root, path) for root in roots))


def _clear(root: Entry, above: Collection[str], name: str) -> None:
    """Take away what was not there: it may be what fills the disk."""
    path = Path(root["path"])
    if root["kind"] == "moved":
        _switch_back(root, above, name)
    elif root["kind"] == "absent":
        _remove_but(path, above)
        _forget_part(path)
        for folder in root.get("without", ()):  # made on the way to it; another's work in them keeps them
            with contextlib.suppress(OSError):
                Path(folder).rmdir()
    elif root["kind"] == "folder" and path.is_dir() and not path.is_symlink():
        before = root["entries"]
        for inner in walk(str(path)):
            if inner not in before and os.path.lexists(path / inner):
                _remove_but(path / inner, above)
    elif root["kind"] == "file":
        _forget_part(path)


def _switch_back(root: Entry, above: Collection[str], name: str) -> None:
    path = Path(root["path"])
    if was_moved(root):
        if str(path) in above:
            path.rename(f"{path}.{name}")
        elif os.path.lexists(path):
            remove(path)
        Path(root["aside"]).rename(path)


def _forget_part(path: Path) -> None:
    """Remove what is left of a file that was being written when its run was killed."""
    if path.parent.is_dir():
        beside(path).unlink(missing_ok=True)


def _remove_but(path: Path, stays: Collection[str]) -> None:
    """Remove a path, but for what stays in it."""
    if str(path) not in stays:
        _unlock(path.parent)
        remove(path)
    elif path.is_dir() and not path.is_symlink():
        for inner in list(path.iterdir()):
            _remove_but(inner, stays)


def _unlock(folder: Path) -> None:
    """Let a folder of ours be written that was not to be; its own mode comes back at the end (see _refill)."""
    if not folder.is_dir():
        return
    mode = folder.stat().st_mode
    if not mode & stat.S_IWUSR and folder.stat().st_uid == os.geteuid():
        folder.chmod(stat.S_IMODE(mode) | stat.S_IRWXU)


def _refill(root: Entry, folder: Path, stays: Collection[str]) -> None:
    path = Path(root["path"])
    if root["kind"] in ("moved", "absent", "other"):
        return
    copy = folder / root["copy"]
    if str(path) not in stays:
        _put(path, root, copy)
    if root["kind"] != "folder":
        return
    entries = root["entries"]
    for inner, before in entries.items():
        if f"{path}/{inner}" not in stays:
            _put(path / inner, before, copy / inner)
    for inner in [*reversed(entries), ""]:
        before = entries.get(inner, root)
        if before["kind"] == "folder" and (path / inner).is_dir():
            (path / inner).chmod(before["mode"])
            os.utime(path / inner, ns=(before["time"], before["time"]))


def _put(path: Path, before: Entry, copy: Path) -> None:
    now = entry(path) if os.path.lexists(path) else {"kind": "absent"}
    if same(now, before):
        return
    _unlock(path.parent)
    if now["kind"] not in ("absent", before["kind"]):
        remove(path)
    if before["kind"] == "folder":
        path.mkdir(parents=True, exist_ok=True)
        path.chmod(before["mode"] | stat.S_IRWXU)  # its own mode comes when all is in it
    elif before["kind"] == "link":
        path.unlink(missing_ok=True)
        path.symlink_to(before["to"])
    elif before["kind"] == "file":
        _put_file(path, before, copy)


def _put_file(path: Path, before: Entry, copy: Path) -> None:
    if not copy.is_file() or file_digest(copy) != before["sha256"]:
        raise DamagedCopy(f"the kept copy of {path} is damaged; it was left alone")
    new = beside(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        new.unlink(missing_ok=True)  # of an undo that was killed
        copy_file(copy, new)
        new.chmod(before["mode"])
        os.utime(new, ns=(before["time"], before["time"]))
        new.replace(path)
    finally:
        new.unlink(missing_ok=True)
