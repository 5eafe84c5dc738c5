"""`mpsdoctor diff`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from mpsdoctor.cli.options import not_onto_input
from mpsdoctor.cli.output import print_lines, print_text, terminal_width

if TYPE_CHECKING:
    from mpsdoctor.report.document import Document

SCHEMA = "mpsdoctor.diff/1"


@click.command()
@click.argument("before", metavar="A")
@click.argument("after", metavar="B")
@click.option("--format", "format_", type=click.Choice(["text", "json"]), default="text", show_default=True)
@click.option("-o", "--output", type=click.Path(path_type=Path), metavar="FILE", help="Write the answer to a file.")
@click.option("-v", "--verbose", is_flag=True, help="Show every fact and package that differs.")
def diff(before: str, after: str, format_: str, output: Path | None, verbose: bool) -> int:
    """Say what differs between two reports, tickets or recordings, the worst first: before and after, mine and theirs.

    Exit status: 0 nothing differs, 1 something does.
    """
    from mpsdoctor.report.diff import compare, format_diff, to_json

    if before == after == "-":
        raise click.UsageError("stdin can be one of the two only")
    not_onto_input(output, (before, after))
    reports = (_read(before), _read(after))
    found = compare(*reports)
    if format_ == "json":
        data: dict[str, Any] = {"schema": SCHEMA, "differences": to_json(found)}
        print_text(json.dumps(data, indent=2, ensure_ascii=False), output)
    else:
        print_lines(format_diff((before, after), reports, terminal_width(), verbose), output)
    return 1 if found else 0


def _read(name: str) -> Document:
    from mpsdoctor.cli.target import gather, make_redactor
    from mpsdoctor.probes.runner import expanded
    from mpsdoctor.registry import load_registry
    from mpsdoctor.report.document import written
    from mpsdoctor.report.model import make_report

    recorded = expanded(name).is_dir()
    gathered = gather(python=None, env=None, from_=None if recorded else name, replay=name if recorded else None)
    report = make_report(gathered.facts, gathered.source, load_registry(), problems=gathered.problems)
    return written(report, make_redactor())
