"""`mpsdoctor undo`."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

import click

from mpsdoctor.report.program import command

if TYPE_CHECKING:
    from mpsdoctor.repair.store import Run, Store

STILL_THERE = 4


@click.command()
@click.argument("run_id", metavar="[RUN]", required=False)
@click.option("--list", "list_", is_flag=True, help="List the runs of `fix`, newest first.")
@click.option("--forget", "forget_", is_flag=True, help="Keep the repair: delete the state before RUN for good.")
@click.option("--yes", is_flag=True, help="Do it without asking.")
@click.option("--format", "format_", type=click.Choice(["text", "json"]), default="text", show_default=True)
def undo(run_id: str | None, list_: bool, forget_: bool, yes: bool, format_: str) -> int:
    """Take a run of `fix` back, exactly: the last one that was not taken back, or RUN."""
    from mpsdoctor.repair.store import Store

    store = Store()
    if list_:
        return _list(store, format_)
    run = _choose(store, run_id)
    if run is None:
        click.echo("there is nothing to take back", err=True)
        return 0
    if forget_:
        return _forget(run, store, yes, run_id)
    return _undo(run, store, yes, format_)


def _forget(run: Run, store: Store, yes: bool, run_id: str | None) -> int:
    from mpsdoctor.repair.store import Locked, NoState
    from mpsdoctor.repair.undo import CannotUndo, forget

    if run_id is None:
        raise click.UsageError(f"--forget needs the run; {command('undo --list')} shows them")
    if not yes and not _agreed("Delete the state before it, so that it cannot be taken back any more?"):
        return 1
    try:
        forget(run, store)
    except (CannotUndo, Locked, NoState) as error:
        raise click.ClickException(str(error)) from error
    click.echo(f"the repair {run.id} stays; the state before it is deleted")
    return 0


def _agreed(question: str) -> bool:
    if not (sys.stdin and sys.stdin.isatty()):
        click.echo("nothing was changed: there is no terminal to ask on; add --yes", err=True)
        return False
    return click.confirm(question, default=False, err=True)


def _list(store: Store, format_: str) -> int:
    from mpsdoctor.repair.store import UNDONE
    from mpsdoctor.repair.undo import describe

    rows = [describe(run) for run in store.runs()]
    if format_ == "json":
        click.echo(json.dumps(rows, ensure_ascii=False, indent=2))
        return 0
    for row in rows:
        fixes = row["fixes"] if isinstance(row["fixes"], list) else []
        click.echo(f"{row['run']}  {row['outcome']:<11}  {', '.join(map(str, fixes))}  {row['target']}")
    if not rows:
        click.echo("no run of fix is kept", err=True)
    elif any(row["outcome"] != UNDONE for row in rows):
        back, keep = command("undo RUN"), command("undo RUN --forget")
        click.echo(f"{back} takes one back; {keep} keeps a repair and deletes the state before it", err=True)
    return 0


def _choose(store: Store, run_id: str | None) -> Run | None:
    from mpsdoctor.repair.store import UNDONE

    if run_id is None:
        return next((run for run in store.runs() if run.outcome != UNDONE), None)
    run = store.get(run_id)
    if run is None:
        raise click.UsageError(f"no run is called {run_id!r}; {command('undo --list')} shows them")
    return run


def _undo(run: Run, store: Store, yes: bool, format_: str) -> int:
    from mpsdoctor.repair.paths import plainly
    from mpsdoctor.repair.store import Locked, NoState
    from mpsdoctor.repair.undo import CannotUndo, changes, describe
    from mpsdoctor.repair.undo import undo as take_back

    about = describe(run)
    try:
        paths = changes(run)
        click.echo(
            f"run {run.id} ({about['outcome']}) on {about['target']}: {len(paths)} files and folders go back", err=True
        )
        if not yes and not _agreed("Take it back?"):
            return 1
        undone = take_back(run, store)
    except (CannotUndo, Locked, NoState) as error:
        raise click.ClickException(str(error)) from error
    except OSError as error:
        raise click.ClickException(f"{plainly(error)}; nothing was changed") from error
    if format_ == "json":
        click.echo(
            json.dumps(
                {
                    "run": run.id,
                    "paths": undone.paths,
                    "not_restored": list(undone.not_restored),
                    "kept": list(undone.kept),
                }
            )
        )
    elif not undone.not_restored:
        click.echo(f"taken back: {undone.paths} files and folders are as they were")
    for path in undone.kept:
        click.echo(f"made or changed since the repair, and kept: {path}", err=True)
    for path in undone.not_restored:
        click.echo(f"not restored: {path}", err=True)
    if undone.not_restored:
        again = command(f"undo {run.id}")
        click.echo(f"the copies are kept in {run.folder / 'saved'}; when the reason is gone: {again}", err=True)
    return STILL_THERE if undone.not_restored else 0
