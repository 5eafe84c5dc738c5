"""The state before, restored once a run has failed, was interrupted, or is taken back."""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Collection, Iterator

from mpsdoctor.repair import journal as j
from mpsdoctor.repair.paths import plainly
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
