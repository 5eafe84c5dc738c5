"""What must hold before the first change: paths that can be written, disk enough, files as they were planned for."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from mpsdoctor.repair.actions import Rename, StepFailed, Switch, WriteText
from mpsdoctor.repair.paths import beside
from mpsdoctor.repair.plan import Plan
from mpsdoctor.repair.snapshot import behind_links


class NotStarted(Exception):
    """Nothing was changed; the message says why in one plain line."""


def verify_target(plan: Plan) -> None:
    """Raise NotStarted where a path of the plan cannot be written, or the disk is too small."""
    replaced = [step.action.path for step in plan.steps if isinstance(step.action, Switch)]
    if any(_holds(path, sys.prefix) for path in replaced):
        raise NotStarted(
            "mpsdoctor runs from the environment that is to be replaced; run it from another one "
            "(one made for mpsdoctor alone, or the one file mpsdoctor.pyz), with --python; nothing was changed"
        )
    for path in behind_links(plan.writes, dict.fromkeys(replaced, "")):
        folder = existing_folder(Path(path))
        if belongs_to_another(folder):
            raise NotStarted(
                f"{folder} belongs to {folder.owner()}, and mpsdoctor runs as the administrator: it would leave files "
                "that their owner cannot change; run it without sudo; nothing was changed"
            )
        if not can_write(folder):
            raise NotStarted(f"{folder} cannot be written; nothing was changed")
    needed, free = plan.disk_needed_mb, plan.disk_free_mb
    if needed is not None and free is not None and needed > free:
        raise NotStarted(f"{needed:.0f} MB of disk are needed and {free:.0f} MB are free; nothing was changed")
    for step in plan.steps:
        # Later steps may depend on earlier ones; what is on the disk now can be verified now.
        if isinstance(step.action, (WriteText, Rename, Switch)):
            try:
                step.action.verify()
            except StepFailed as error:
                raise NotStarted(f"{error}; nothing was changed") from error


def _holds(folder: str, path: str) -> bool:
    outer, inner = os.path.realpath(folder), os.path.realpath(path)
    return inner == outer or inner.startswith(f"{outer}/")


def existing_folder(path: Path) -> Path:
    """Return the folder that must be writable for a path to be changed or made."""
    folder = path if path.is_dir() and not path.is_symlink() else path.parent
    while not folder.is_dir() and folder != folder.parent:
        folder = folder.parent
    return folder


def belongs_to_another(folder: Path) -> bool:
    """True for a folder of somebody who asked for the administrator's rights (sudo) to run us."""
    return os.geteuid() == 0 and "SUDO_UID" in os.environ and folder.stat().st_uid != 0


def can_write(folder: Path) -> bool:
    """Try it: access(2) does not know of read-only volumes for the superuser, nor of access lists."""
    probe = beside(folder / "can-it-be-written")  # always the same name: one that a kill left goes with the next
    try:
        probe.touch()
    except OSError:
        return False
    probe.unlink(missing_ok=True)
    return True
