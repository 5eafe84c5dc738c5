"""What was made or changed after a run: undo must not take it away with what the run made."""

from __future__ import annotations

import csv
import os
import stat
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mpsdoctor.facts import normalize
from mpsdoctor.repair.paths import is_being_written
from mpsdoctor.repair.snapshot import Entry, entry, entry_of, is_back, same, walk

_COMPILED = (".pyc", "__pycache__")  # Python makes them by itself; nobody's work
_INFO = ".dist-info"


def record(roots: Sequence[Entry]) -> dict[str, list[Any]]:
    """Return what stands in the roots now, by path: what a run left. Sizes and times, no hashes: it must be quick."""
    return {path: _brief(path) for root in roots for path in _everything(root)}


def record_until(roots: Sequence[Entry], moment: float) -> dict[str, list[Any]]:
    """Return what an interrupted run left, as far as can be told: all that has not changed since that moment.

    The time of a file's last change of any kind (ctime) is the system's own; no program can set it. A folder changes
    with every file in it, which speaks for itself.
    """
    found = {path: _brief(path) for root in roots for path in _everything(root)}
    return {path: brief for path, brief in found.items() if brief == ["folder"] or os.lstat(path).st_ctime <= moment}


@dataclass(frozen=True)
class Later:
    """Paths that are neither as a run left them nor as they were before it.

    stays: the run has nothing to do with it (made, changed or removed since); it stays as it is now.
    conflicts: files that the run changed, too; they go back, and a copy is kept.
    """

    stays: frozenset[str] = frozenset()
    conflicts: frozenset[str] = frozenset()


def later(roots: Sequence[Entry], left: Mapping[str, Sequence[Any]]) -> Later:
    """Compare the roots now with what a run left and with what was there before."""
    stays: set[str] = set()
    conflicts: set[str] = set()
    for root in roots:
        if root["kind"] == "moved" and is_back(root):
            continue
        found = {path for path in _paths(root) if not _is_nobodys(path) and _is_later(root, path, left)}
        if root["kind"] == "folder":
            found -= _of_packages_that_go_back(root, found, left)
        apart = {path for path in found if _brief_of(entry_of(root, path)) == left.get(path)}
        stays |= apart
        conflicts |= {path for path in found - apart if os.path.lexists(path) and entry_of(root, path) is not None}
        stays |= {path for path in found - apart if os.path.lexists(path) and entry_of(root, path) is None}
    return Later(frozenset(stays), frozenset(conflicts))


def _is_nobodys(path: str) -> bool:
    return path.endswith(_COMPILED) or is_being_written(path)


def _paths(root: Entry) -> list[str]:
    inside = (f"{root['path']}/{name}" for name in root.get("entries", ()))
    return list(dict.fromkeys((*_everything(root), *inside)))


def _is_later(root: Entry, path: str, left: Mapping[str, Sequence[Any]]) -> bool:
    before = entry_of(root, path)
    if not os.path.lexists(path):
        return before is not None and path in left
    if left.get(path) == _brief(path):
        return False
    return before is None or not same(entry(Path(path)), before)


def _brief_of(before: Entry | None) -> list[Any] | None:
    """Return an entry in the form of the record."""
    if before is None:
        return None
    if before["kind"] == "link":
        return ["link", before["to"]]
    return ["folder"] if before["kind"] == "folder" else ["file", before.get("size"), before.get("time")]


def _everything(root: Entry) -> list[str]:
    path = root["path"]
    if not os.path.lexists(path):
        return []
    folder = Path(path).is_dir() and not Path(path).is_symlink()
    names = walk(path, whole=root["kind"] != "folder") if folder else ()
    return [path, *(f"{path}/{name}" for name in names)]


def _brief(path: str) -> list[Any]:
    state = os.lstat(path)
    if stat.S_ISLNK(state.st_mode):
        return ["link", os.readlink(path)]  # noqa: PTH115 - as in snapshot.entry
    if stat.S_ISDIR(state.st_mode):
        return ["folder"]
    return ["file", state.st_size, state.st_mtime_ns]


def _of_packages_that_go_back(root: Entry, found: set[str], left: Mapping[str, Sequence[Any]]) -> set[str]:
    """Return the files that an installer put since in place of packages which the run changed, by its own lists."""
    prefix = len(root["path"]) + 1
    changed = {_project(n) for n in root["entries"] if n.endswith(_INFO) and f"{root['path']}/{n}" not in left}
    infos = {str(Path(path).parent) for path in found if path.endswith(f"{_INFO}/RECORD")}
    gone: set[str] = set()
    for info in infos:
        if os.path.lexists(info) and _project(info[prefix:]) in changed:
            gone |= {info, *_recorded(info)}
            gone |= {path for path in found if str(Path(path).parent) == info}
    return gone


def _project(info: str) -> tuple[str, str]:
    folder, _, name = info.rpartition("/")
    return folder, normalize(name.removesuffix(_INFO).partition("-")[0])


def _recorded(info: str) -> Iterator[str]:
    site = str(Path(info).parent)
    text = Path(info, "RECORD").read_text(encoding="utf-8", errors="surrogateescape")
    for row in csv.reader(text.splitlines()):
        if row:
            yield os.path.normpath(f"{site}/{row[0]}")
