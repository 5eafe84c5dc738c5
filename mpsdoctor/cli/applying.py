"""What `fix` does after the yes: an interrupted run is taken back first, then the plan is carried out."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from mpsdoctor.repair.apply import Applied
    from mpsdoctor.repair.plan import Plan
    from mpsdoctor.report.model import Report


def take_back(target: str) -> None:
    """Take the runs on this environment back that were interrupted: a plan starts from a state that somebody chose."""
    from mpsdoctor.repair.store import Locked, NoState, Store
    from mpsdoctor.repair.undo import CannotUndo, undo

    store = Store()
    while (old := store.interrupted(target)) is not None:
        click.echo(f"an earlier run ({old.id}) was interrupted: taking it back, then doing the repair anew", err=True)
        try:
            undone = undo(old, store)
        except (CannotUndo, Locked, NoState) as error:
            raise click.ClickException(str(error)) from error
        for path in undone.kept:
            click.echo(f"made or changed since then, and kept: {path}", err=True)
        if undone.not_restored:
            raise click.ClickException(f"{undone.not_restored[0]} could not be put back; nothing more was changed")


def apply(report: Report, plan: Plan, timeout: float) -> Applied:
    """Do the plan."""
    from mpsdoctor.cli.steps import Steps
    from mpsdoctor.repair.apply import Applier
    from mpsdoctor.repair.proof import Examination
    from mpsdoctor.repair.store import Locked, NoState, Store
    from mpsdoctor.repair.verify import NotStarted

    try:
        _not_in_use(report, plan)
        examination = Examination(os.environ, timeout, Path.cwd())
        with Steps() as say:
            return Applier(plan, report, examination, Store(), say).apply()
    except (NotStarted, Locked, NoState) as error:
        raise click.ClickException(str(error)) from error


def _not_in_use(report: Report, plan: Plan) -> None:
    from mpsdoctor.repair.use import users_of
    from mpsdoctor.repair.verify import NotStarted

    packages = [path for step in plan.steps if step.argv for path in step.writes]
    library = next((b.path for b in report.facts.binaries.by_role("torch") if "libtorch_cpu" in b.path), None)
    # The folder of a Python's scripts holds the Python itself, which other environments use, too.
    folders = [path for path in dict.fromkeys(packages) if Path(path).is_dir() and not path.endswith("/bin")]
    users = users_of(folders, library)
    if users:
        raise NotStarted(f"the environment is in use by {', '.join(users[:3])}; end that first; nothing was changed")
