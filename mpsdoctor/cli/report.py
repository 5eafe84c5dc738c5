"""`mpsdoctor report`: one redacted file for a ticket, shown before anybody sends it."""

from __future__ import annotations

import itertools
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from mpsdoctor.cli.options import Seconds, not_onto_input, once
from mpsdoctor.cli.output import print_text, write_file

if TYPE_CHECKING:
    from mpsdoctor.report.document import Document

ENDINGS = {"json": "json", "markdown": "md", "html": "html"}


@click.command()
@click.option("--python", metavar="PATH", help="The interpreter to examine. Default: the active environment's.")
@click.option("--env", metavar="PATH", help="Read a venv, conda prefix or site-packages from its files; run nothing.")
@click.option(
    "--from",
    "from_",
    multiple=True,
    callback=once,
    metavar="FILE",
    help="A ticket, a log or an earlier report ('-' is stdin).",
)
@click.option("--replay", metavar="DIR", help="A recorded machine.")
@click.option("--smoke", is_flag=True, help="Also train for real on the GPU, and put the proof into the report.")
@click.option("--no-import", is_flag=True, help="Run the interpreter, but do not import torch.")
@click.option("--timeout", type=Seconds(1, 3600), default=60.0, show_default=True, metavar="S")
@click.option("--format", "format_", type=click.Choice(list(ENDINGS)), default="json", show_default=True)
@click.option("-o", "--output", metavar="FILE", help="Where to write it ('-' is stdout). Default: mpsdoctor-report.*")
@click.option("--issue-url", metavar="OWNER/REPO", help="Also print a link to a new issue with the answer filled in.")
def report(**options: Any) -> int:
    """Write one redacted file for a ticket, and say what was removed. Nothing is sent.

    The file holds the facts, every check and the diagnosis; mpsdoctor check --from reads it back anywhere.
    """
    from mpsdoctor.report.issue import is_repository

    if options["issue_url"] is not None and not is_repository(options["issue_url"]):
        raise click.UsageError(f"--issue-url wants OWNER/REPO, such as pytorch/pytorch, not {options['issue_url']!r}")
    not_onto_input(options["output"], [options["from_"]])
    from mpsdoctor.cli.check import judged
    from mpsdoctor.cli.formats import render
    from mpsdoctor.cli.target import make_redactor
    from mpsdoctor.report.document import written

    document = written(judged({**options, "select": (), "ignore": ()}), make_redactor())
    text = render(document, options["format_"])
    path = None if options["output"] == "-" else Path(options["output"] or _free_name(ENDINGS[options["format_"]]))
    if path is None:
        print_text(text.rstrip("\n"), None)
    else:
        write_file(path, text)
    for line in _about(document, path, len(text.encode("utf-8", "replace")), options):
        click.echo(line, err=path is None)
    _offer_a_look(text, path)
    return 0


def _free_name(ending: str) -> str:
    """The first name that is free: an earlier report may be in a ticket by that name."""
    names = itertools.chain(["mpsdoctor-report"], (f"mpsdoctor-report-{n}" for n in itertools.count(2)))
    return next(f"{name}.{ending}" for name in names if not Path(f"{name}.{ending}").exists())


def _about(document: Document, path: Path | None, size: int, options: dict[str, Any]) -> list[str]:
    from mpsdoctor.report.document import VERDICT_SIGNS, headline, removed
    from mpsdoctor.report.issue import issue_url
    from mpsdoctor.report.program import command
    from mpsdoctor.report.words import printable

    sign = VERDICT_SIGNS[document["diagnosis"]["verdict"]]
    lines = [f"says     {sign} {headline(document)}", f"removed  {removed(document)}"]
    if path is not None:
        name = shlex.quote(str(path))
        lines.insert(0, f"wrote    {path} ({max(1, size // 1024)} kB); nothing was sent")
        lines.append(f"look     less {name}")
        if options["format_"] == "json":
            lines.append(f"paste    {command(f'report --from {name} --format markdown -o -')}")
    lines = [printable(line) for line in lines]
    if options["issue_url"] is not None:
        lines.append(f"issue    {issue_url(document, options['issue_url'], path.name if path else 'the report')}")
    return lines


def _offer_a_look(text: str, path: Path | None) -> None:
    """Ask where somebody sits before the screen; elsewhere nothing may wait for an answer."""
    if path is None or not sys.stdin or not sys.stdin.isatty() or not sys.stdout or not sys.stdout.isatty():
        return
    if click.confirm("Look at it before you send it?", default=False):
        click.echo_via_pager(text)
