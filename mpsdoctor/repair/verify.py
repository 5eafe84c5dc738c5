"""What must hold before the first change: paths that can be written, disk enough, files as they were planned for."""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

from mpsdoctor.repair.actions import Rename, StepFailed, Switch, WriteText
from mpsdoctor.repair.plan import Plan


class NotStarted(Exception):
    """Nothing was changed; the message says why in one plain line."""


def verify_target(plan: Plan) -> None:
    """Raise NotStarted where a path of the plan cannot be written, or the disk is too small."""
    replaced = [step.action.path for step in plan.steps if isinstance(step.action, Switch)]
    if any(_holds(path, sys.prefix) for path in replaced):
        raise NotStarted(
            "mpsdoctor runs from the environment that is to be replaced; run it from another one "
            "(uvx mpsdoctor fix, or pipx run mpsdoctor fix), with --python; nothing was changed"
        )
    for path in plan.writes:
        folder = _existing(Path(path))
        if not _can_write(folder):
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


def _existing(path: Path) -> Path:
    folder = path if path.is_dir() and not path.is_symlink() else path.parent
    while not folder.is_dir() and folder != folder.parent:
        folder = folder.parent
    return folder


def _can_write(folder: Path) -> bool:
    """Try it: access(2) does not know of read-only volumes for the superuser, nor of access lists."""
    try:
        descriptor, name = tempfile.mkstemp(prefix=".mpsdoctor-", dir=folder)
    except OSError:
        return False
    os.close(descriptor)
    Path(name).unlink()
    return True
