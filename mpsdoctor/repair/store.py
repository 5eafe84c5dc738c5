"""Where runs are kept: a folder each, with the plan, the journal, the state before and the two reports."""

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from mpsdoctor.repair.journal import END, RESTORING, Journal, sync_folder
from mpsdoctor.repair.paths import plainly

FORMAT = 1  # of what a run keeps; a newer one is another mpsdoctor's
FIXED, REMAINS, UNDONE, INTERRUPTED = "fixed", "remains", "undone", "interrupted"


class Locked(Exception):
    """Another run is at work on this target, or a command of a run that died still is."""


class NoState(Exception):
    """The folder for the state of repairs cannot be written; nothing was changed."""


@dataclass(frozen=True)
class Run:
    """One run of `fix`. `folder` holds everything of it; only this user can read it."""

    id: str
    folder: Path

    @property
    def journal(self) -> Journal:
        """Its journal."""
        return Journal(self.folder / "journal.jsonl")

    @property
    def outcome(self) -> str:
        """fixed, remains or undone; interrupted where the journal has no end."""
        ends = [entry.get("outcome") for entry in self.journal.entries() if entry["event"] == END]
        return str(ends[-1]) if ends else INTERRUPTED

    @property
    def last_seen(self) -> float:
        """When the run itself last wrote into its journal; taking it back does not count."""
        times = [e["time"] for e in self.journal.entries() if e["event"] != RESTORING and "time" in e]
        return float(times[-1]) if times else 0.0

    def save(self, name: str, data: Any) -> None:
        """Write a JSON file of this run, whole and on the disk."""
        path = self.folder / name
        part = path.with_suffix(".part")
        with part.open("w", encoding="utf-8", errors="surrogateescape") as file:
            json.dump(data, file, ensure_ascii=False, default=str)
            file.flush()
            os.fsync(file.fileno())
        part.replace(path)
        sync_folder(self.folder)

    def load(self, name: str) -> Any:
        """Read a JSON file of this run; None where it is missing or damaged."""
        try:
            return json.loads((self.folder / name).read_text(encoding="utf-8", errors="surrogateescape"))
        except (OSError, ValueError):
            return None

    @property
    def about(self) -> dict[str, Any]:
        """What the run is about: created, target, fixes, writes."""
        data = self.load("about.json")
        return data if isinstance(data, dict) else {}

    def forget(self) -> None:
        """Delete the run. For one that never got as far as a change."""
        shutil.rmtree(self.folder, ignore_errors=True)


class Store:
    """All runs of this user, in the state folder that the system has for programs."""

    def __init__(self, folder: Path | None = None) -> None:
        if folder is None:
            from platformdirs import user_state_path

            folder = user_state_path("mpsdoctor", appauthor=False)
        self.folder = folder

    def new_run(self) -> Run:
        """Make an empty run. Raises OSError where the state folder cannot be written.

        Names are in the order of the runs, also within a second: what came later must be taken back first.
        """
        while True:
            name = datetime.now(timezone.utc).strftime("%Y%m%d-%H%M%S-%f")[:-2]
            run = Run(name, self.folder / "runs" / name)
            with contextlib.suppress(FileExistsError):
                run.folder.mkdir(parents=True, mode=0o700)
                return run
            if not run.folder.is_dir():
                raise FileExistsError(errno.EEXIST, "something else is in the way", str(run.folder))

    def runs(self) -> list[Run]:
        """Return the runs, newest first."""
        folder = self.folder / "runs"
        names = [entry.name for entry in folder.iterdir() if entry.is_dir()] if folder.is_dir() else []
        return [Run(name, folder / name) for name in sorted(names, reverse=True)]

    def get(self, run_id: str) -> Run | None:
        """Return the run of that id."""
        return next((run for run in self.runs() if run.id == run_id), None)

    def interrupted(self, target: str) -> Run | None:
        """Return the newest run on this target that has no end."""
        found = (
            run for run in self.runs() if run.outcome == INTERRUPTED and same_target(run.about.get("target"), target)
        )
        return next(found, None)

    @contextlib.contextmanager
    def lock(self, target: str) -> Iterator[int]:
        """Hold the lock of a target; gives the descriptor, which commands inherit. Raises Locked.

        The lock lives in the open file and not in our process: where we are killed while pip works, the lock is held
        until pip has ended, so that nobody undoes what is still being done.
        """
        import fcntl

        folder = self.folder / "locks"
        name = hashlib.sha256(os.fsencode(environment_key(target))).hexdigest()[:24]
        try:
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            descriptor = os.open(folder / f"{name}.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise NoState(
                f"the folder that repairs are kept in cannot be written ({plainly(error)}); nothing was changed"
            ) from error
        try:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError as error:
                raise Locked(
                    "another mpsdoctor is at work on this environment, or a command of an interrupted one still is; "
                    "try again when it has ended"
                ) from error
            yield descriptor
        finally:
            os.close(descriptor)


def environment_key(target: str) -> str:
    """Return what tells one environment from another: its folder, links in the folder's own path followed."""
    folder, _, name = target.rpartition("/")
    return f"{os.path.realpath(folder)}/{name if not name.startswith('python') else 'python'}"


def same_target(one: object, other: str) -> bool:
    """True where two interpreters belong to one environment."""
    return isinstance(one, str) and environment_key(one) == environment_key(other)
