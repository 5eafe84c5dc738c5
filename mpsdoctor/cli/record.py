"""`mpsdoctor record`."""

from __future__ import annotations

import shlex
from datetime import datetime, timezone
from pathlib import Path

import click

from mpsdoctor.cli.options import Seconds
from mpsdoctor.cli.output import CannotWrite, Progress


@click.command()
@click.argument("directory", type=click.Path(path_type=Path), metavar="DIR")
@click.option(
    "--python", "python", metavar="PATH", help="The interpreter to examine. Default: the active environment's."
)
@click.option("--no-import", is_flag=True, help="Run the interpreter, but do not import torch.")
@click.option("--timeout", type=Seconds(1, 3600), default=60.0, show_default=True, metavar="S")
def record(directory: Path, python: str | None, no_import: bool, timeout: float) -> int:
    """Record what this machine answers into DIR (redacted), so that `check --replay DIR` plays it anywhere."""
    from mpsdoctor.cli.target import make_redactor
    from mpsdoctor.observe import observe
    from mpsdoctor.probes.choice import NoSuchInterpreter, choose_target
    from mpsdoctor.probes.interpreter import allowed_variables
    from mpsdoctor.probes.recording import RecordingRunner
    from mpsdoctor.probes.runner import LiveRunner
    from mpsdoctor.report.program import command
    from mpsdoctor.report.words import in_words

    try:
        if directory.exists() and (not directory.is_dir() or any(directory.iterdir())):
            raise click.UsageError(f"{directory} is there already and not an empty folder; nothing was written")
    except OSError as error:
        raise click.UsageError(f"{directory} cannot be used: {error.strerror or error}") from error
    runner = RecordingRunner(LiveRunner())
    try:
        target = choose_target(python, runner.environ)
    except NoSuchInterpreter as error:
        raise click.UsageError(str(error)) from error
    with Progress("asking the machine and importing torch ..."):
        observe(runner, target, import_torch=not no_import, timeout=timeout)
    redactor = make_redactor()
    try:
        runner.save(
            directory,
            variables=allowed_variables(runner.environ),
            redactor=redactor,
            created=datetime.now(timezone.utc).isoformat(timespec="seconds"),
        )
    except OSError as error:
        raise CannotWrite(f"{directory} could not be written: {error.strerror or error}") from error
    removed = in_words(redactor.counts)
    play = command(f"check --replay {shlex.quote(str(directory))}")
    click.echo(f"recorded in {directory}; removed: {removed}. Play it with: {play}")
    return 0
