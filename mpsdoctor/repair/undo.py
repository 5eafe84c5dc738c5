"""Takes a run back: packages and files exactly as they were, whatever became of the run."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from mpsdoctor.repair import snapshot
from mpsdoctor.repair.actions import remove
from mpsdoctor.repair.apply import put_back
from mpsdoctor.repair.clone import copy_file
from mpsdoctor.repair.store import INTERRUPTED, UNDONE, Run, Store


class CannotUndo(Exception):
    """Why a run cannot be taken back, in one plain line."""


@dataclass(frozen=True)
class Undone:
    """How it went: files and folders that are as before, and what could not be restored."""

    run: str
    paths: int
    not_restored: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()  # copies of files that somebody changed after the run


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
        later = _later_runs(run, store)
        if later:
            raise CannotUndo(f"the run {later[0].id} came later and changed the same; take that one back first")
        kept = _keep_later_changes(run)
        left = put_back(run, roots)
    return Undone(run.id, sum(1 + len(root.get("entries", ())) for root in roots), left, kept)


def forget(run: Run, store: Store) -> None:
    """Let the state before a run go, with the environment that it put aside. Raises CannotUndo, Locked."""
    if run.outcome == INTERRUPTED:
        raise CannotUndo("an interrupted run must be taken back or finished first")
    with store.lock(str(run.about.get("target") or run.id)):
        for root in run.load("saved.json") or ():
            aside = Path(root.get("aside") or "/nowhere")
            if root["kind"] == "moved" and os.path.lexists(aside) and os.lstat(aside).st_ino == root["inode"]:
                remove(aside)
        run.forget()


def _keep_later_changes(run: Run) -> tuple[str, ...]:
    """Copy what the user wrote into a file after the run: the file goes back, and the work must not be lost."""
    left, kept = run.load("left.json"), []
    for path, digest in (left if isinstance(left, dict) else {}).items():
        file = Path(path)
        if file.is_file() and snapshot.file_digest(file) != digest:
            copy = file.with_name(f"{file.name}.{run.id}")
            copy_file(file, copy)
            kept.append(str(copy))
    return tuple(kept)


def _roots(run: Run) -> list[snapshot.Entry]:
    roots = run.load("saved.json")
    if not isinstance(roots, list):
        if run.journal.entries():
            raise CannotUndo(f"the state before the run {run.id} is not there any more")
        return []  # it never got as far as a change
    return roots


def _later_runs(run: Run, store: Store) -> list[Run]:
    writes = set(run.about.get("writes") or ())
    return [
        other
        for other in store.runs()
        if other.id > run.id and other.outcome != UNDONE and writes & set(other.about.get("writes") or ())
    ]
