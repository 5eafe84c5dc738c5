"""What must hold before a run is taken back: what it changed is still there, not in use, and can be written."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from mpsdoctor.repair.snapshot import Entry, differences
from mpsdoctor.repair.use import users_of
from mpsdoctor.repair.verify import belongs_to_another, can_write, existing_folder


class NotReady(Exception):
    """Nothing was changed; the message says why in one plain line."""


def ready(roots: Sequence[Entry], left: object) -> None:
    """Raise NotReady where taking back would restore into the wrong place, or could only be done in part.

    left: what the run left (mpsdoctor.repair.later), or None where it was interrupted.
    """
    for root in roots:
        _is_the_same(root, left if isinstance(left, dict) else {})
    changed = [root for root in roots if differences([root])]
    for root in changed:
        _can_be_written(Path(root["path"]))
    folders = [str(root["path"]) for root in changed if root["kind"] in ("folder", "moved")]
    users = users_of([path for path in folders if Path(path).is_dir() and not path.endswith("/bin")], _torch(folders))
    if users:
        raise NotReady(f"the environment is in use by {', '.join(users[:3])}; end that first; nothing was changed")


def _is_the_same(root: Entry, left: Mapping[str, object]) -> None:
    """An environment that was moved or deleted must not rise again in part, nor be mixed into another one."""
    path = root["path"]
    if root["kind"] == "moved" and not os.path.lexists(path) and not os.path.lexists(root["aside"]):
        raise NotReady(f"neither {path} nor {root['aside']} is there any more: both were moved or deleted")
    if root["kind"] == "folder" and path in left and not os.path.lexists(path):
        raise NotReady(
            f"{path} is not there any more: it was moved or deleted after the repair. Put it back to its place to take "
            "the repair back"
        )
    if is_another(root, left):
        raise NotReady(f"another environment stands at {path} now, which was made after the repair; it is left alone")


def is_another(root: Entry, left: Mapping[str, object]) -> bool:
    """True where another environment was made at the place of one that a run changed.

    Its folder has another number (inode), and its settings are neither those that the run left nor those of before;
    an environment that came back from a backup has only another number.
    """
    path = root["path"]
    if root["kind"] != "folder" or "inode" not in root or not os.path.lexists(path):
        return False
    settings = f"{path}/pyvenv.cfg"
    before = root["entries"].get("pyvenv.cfg", {})
    known = (left.get(settings), ["file", before.get("size"), before.get("time")] if before else None)
    return bool(os.lstat(path).st_ino != root["inode"] and _brief(settings) not in known)


def _brief(path: str) -> list[object] | None:
    if not os.path.lexists(path):
        return None
    state = os.lstat(path)
    return ["file", state.st_size, state.st_mtime_ns]


def _can_be_written(path: Path) -> None:
    folder = existing_folder(path)
    if belongs_to_another(folder):
        raise NotReady(f"{folder} belongs to {folder.owner()}; run it as that user, without sudo; nothing was changed")
    if not can_write(folder):
        raise NotReady(f"{folder} cannot be written; nothing was changed")


def _torch(folders: Sequence[str]) -> str | None:
    """Return torch's core library, by which macOS tells who uses an environment."""
    pattern = "lib/python3*/site-packages/torch/lib/libtorch_cpu.*"
    found = [str(path) for folder in folders for path in Path(folder).glob(pattern)]
    found += [str(path) for folder in folders for path in Path(folder).glob("torch/lib/libtorch_cpu.*")]
    return found[0] if found else None
