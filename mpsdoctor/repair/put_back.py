"""The state before, restored once a run has failed, was interrupted, or is taken back."""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path

from mpsdoctor.repair import journal as j
from mpsdoctor.repair.actions import WriteText, digest
from mpsdoctor.repair.clone import copy_file
from mpsdoctor.repair.paths import plainly
from mpsdoctor.repair.plan import Step
from mpsdoctor.repair.restore import DamagedCopy, restore
from mpsdoctor.repair.snapshot import Entry
from mpsdoctor.repair.store import UNDONE, Run


def put_back(run: Run, roots: list[Entry], stays: Collection[str] = ()) -> tuple[str, ...]:
    """Restore the state before and close the journal; return what could not be restored. Can be repeated.

    stays: what was made or changed after the run, and stays (mpsdoctor.repair.later).

    A journal that cannot be written must not keep the user's files from being restored.
    """
    with uninterrupted():
        with contextlib.suppress(OSError):
            run.journal.write(j.RESTORING)
        try:
            left = restore(roots, run.folder / "saved", stays, run.id)
        except (OSError, DamagedCopy) as error:
            left = [plainly(error)]
        if not left:
            with contextlib.suppress(OSError):
                run.journal.write(j.END, outcome=UNDONE)
    return tuple(left)


def begun(run: Run, roots: Sequence[Entry]) -> list[Entry]:
    """Return the roots that a step was begun for: what lies outside was never touched, and is not put back."""
    entries = run.journal.entries()
    steps = [entry for entry in entries if entry["event"] == j.STEP]
    if not entries or any("writes" not in step for step in steps):  # of a run that did not tell
        return list(roots)
    writes = [str(path).rstrip("/") for step in steps for path in step["writes"]]
    return [root for root in roots if any(_overlap(root["path"], path) for path in writes)]


def _overlap(one: str, other: str) -> bool:
    return one == other or one.startswith(f"{other}/") or other.startswith(f"{one}/")


def keep_edits(run: Run, steps: Sequence[Step]) -> list[str]:
    """Copy files that somebody wrote into after a step of this run had: the run failed, and they go back."""
    copies = []
    for action in (step.action for step in steps):
        path = Path(os.path.realpath(action.path)) if isinstance(action, WriteText) else None
        if path is None or not isinstance(action, WriteText) or not path.is_file():
            continue
        if digest(path.read_bytes()) not in (action.before, digest(action.text.encode())) and _was_begun(run, path):
            copy = path.with_name(f"{path.name}.{run.id}")
            copy_file(path, copy)
            copies.append(str(copy))
    return copies


def _was_begun(run: Run, path: Path) -> bool:
    steps = (entry for entry in run.journal.entries() if entry["event"] == j.STEP)
    return any(str(path) in step.get("writes", ()) for step in steps)


@contextlib.contextmanager
def uninterrupted() -> Iterator[None]:
    """Let Ctrl-C, SIGTERM and a closed terminal wait: half a restoration is worse than none."""
    before = {}
    try:
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            before[number] = signal.signal(number, signal.SIG_IGN)
    except ValueError:  # not in the main thread, which gets no signals anyway
        pass
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
