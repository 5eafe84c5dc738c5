"""Takes a run back: packages and files exactly as they were, whatever became of the run."""

from __future__ import annotations

import os
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from mpsdoctor.repair import later, snapshot
from mpsdoctor.repair.clone import copy_file
from mpsdoctor.repair.paths import plainly, remove
from mpsdoctor.repair.put_back import begun, put_back
from mpsdoctor.repair.ready import NotReady, is_another, ready
from mpsdoctor.repair.store import FORMAT, INTERRUPTED, UNDONE, Run, Store

_GOES_ON = 900.0  # seconds that a command of a killed run may have gone on: what changed later is the user's

# What the record of a kept path must hold, by its kind (mpsdoctor.repair.snapshot).
_KEYS = {
    "absent": {"path"},
    "other": {"path"},
    "link": {"path", "to"},
    "file": {"path", "copy", "mode", "time", "size", "sha256"},
    "folder": {"path", "copy", "mode", "time", "entries"},
    "moved": {"path", "aside", "inode"},
}


class CannotUndo(Exception):
    """Why a run cannot be taken back, in one plain line."""


@dataclass(frozen=True)
class Undone:
    """How it went: files and folders that are as before, and what could not be restored."""

    run: str
    paths: int
    not_restored: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()  # what was made after the run, and copies of files that were changed after it


def describe(run: Run) -> dict[str, object]:
    """Return what a list of runs shows of one: id, when, target, fixes, outcome."""
    about = run.about
    return {
        "run": run.id,
        "created": about.get("created"),
        "target": about.get("target"),
        "fixes": about.get("fixes") or [],
        "outcome": run.outcome,
    }


def changes(run: Run) -> tuple[str, ...]:
    """Return the paths that undo would change back."""
    return tuple(snapshot.differences(_roots(run)))


def undo(run: Run, store: Store) -> Undone:
    """Take a run back. Raises CannotUndo, and Locked where it is still at work. Can be repeated."""
    roots = _roots(run)
    with store.lock(str(run.about.get("target") or run.id)):
        if run.outcome == UNDONE:
            raise CannotUndo(f"the run {run.id} was taken back already; nothing was changed")
        newer = _later_runs(run, store)
        if newer:
            raise CannotUndo(f"the run {newer[0].id} came later and changed the same; take that one back first")
        after = run.load("left.json")
        try:
            ready(roots, after)
            left_behind = after if isinstance(after, dict) else later.record_until(roots, run.last_seen + _GOES_ON)
            since = later.later(roots, left_behind)
            kept = [*_kept_copies(run, roots, since.conflicts), *_stays(run, roots, since.stays)]
        except NotReady as error:
            raise CannotUndo(str(error)) from error
        except OSError as error:
            raise CannotUndo(f"{plainly(error)}; nothing was changed") from error
        left = put_back(run, roots, since.stays)
    return Undone(run.id, sum(1 + len(root.get("entries", ())) for root in roots), left, tuple(kept))


def forget(run: Run, store: Store) -> None:
    """Let the state before a run go, with the environment that it put aside. Raises CannotUndo, Locked."""
    roots = _roots(run)
    gone = any(is_another(root, {}) for root in roots)  # the environment that it left half done is no more
    if run.outcome == INTERRUPTED and not gone:
        raise CannotUndo("an interrupted run must be taken back or finished first")
    with store.lock(str(run.about.get("target") or run.id)):
        for root in roots:
            aside = Path(root.get("aside") or "/nowhere")
            if root["kind"] == "moved" and snapshot.was_moved(root):
                remove(aside)
        run.forget()


def _kept_copies(run: Run, roots: list[snapshot.Entry], conflicts: Collection[str]) -> list[str]:
    """Copy what the user wrote into files that go back: the work must not be lost. Return the copies."""
    copies = []
    for path in sorted(conflicts):
        root = next(r["path"] for r in roots if path == r["path"] or path.startswith(f"{r['path']}/"))
        copy = Path(f"{root}.{run.id}{path[len(root) :]}")
        copy.parent.mkdir(parents=True, exist_ok=True)
        if Path(path).is_symlink():
            copy.unlink(missing_ok=True)
            copy.symlink_to(Path(path).readlink())
        elif Path(path).is_dir():
            Path(path).rename(copy)  # a folder of the user's where the run left a file
        elif Path(path).is_file():
            copy_file(Path(path), copy)
        copies.append(str(copy))
    return copies


def _stays(run: Run, roots: list[snapshot.Entry], stays: Collection[str]) -> list[str]:
    """Return what was made later and stays, the outermost names alone; a new environment goes aside as a whole."""
    named: dict[str, None] = {}
    for root in roots:
        inside = [path for path in sorted(stays) if path == root["path"] or path.startswith(f"{root['path']}/")]
        if root["kind"] == "moved" and inside and snapshot.was_moved(root):
            named[f"{root['path']}.{run.id}"] = None
            continue
        for path in inside:
            if os.path.lexists(path) and not {str(parent) for parent in Path(path).parents} & named.keys():
                named[path] = None
    return list(named)


def _roots(run: Run) -> list[snapshot.Entry]:
    kept_in = run.about.get("format", 1)
    if not isinstance(kept_in, int) or kept_in > FORMAT:
        made_by = f"mpsdoctor {run.about.get('mpsdoctor') or '(a newer version)'}"
        raise CannotUndo(
            f"{made_by} made the run {run.id} and keeps it in a newer form; take it back with that version"
        )
    roots = run.load("saved.json")
    if not isinstance(roots, list):
        if run.journal.entries():
            raise CannotUndo(f"the state before the run {run.id} is not there any more")
        return []  # it never got as far as a change
    if not all(isinstance(root, dict) and _KEYS.get(str(root.get("kind")), {""}) <= root.keys() for root in roots):
        raise CannotUndo(f"the record of the run {run.id} is damaged; its copies lie in {run.folder / 'saved'}")
    return begun(run, roots)


def _later_runs(run: Run, store: Store) -> list[Run]:
    return [
        other
        for other in store.runs()
        if other.id > run.id and other.outcome != UNDONE and _overlap(_written(run), _written(other))
    ]


def _written(run: Run) -> list[str]:
    """Return the paths that a run writes, links in the folders above them followed."""
    found = []
    for path in run.about.get("writes") or ():
        folder, _, name = str(path).rstrip("/").rpartition("/")
        found.append(f"{os.path.realpath(folder or '/')}/{name}")
    return found


def _overlap(one: list[str], other: list[str]) -> bool:
    """True where two sets of paths have one in common, or one that lies in another."""
    return any(a == b or a.startswith(f"{b}/") or b.startswith(f"{a}/") for a in one for b in other)
