"""Reads what --from names: a report of ours, a ticket, a log, stdin, or a folder full of them."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from mpsdoctor.cli.output import print_lines, print_text, terminal_width
from mpsdoctor.cli.target import Gathered, read_bytes
from mpsdoctor.diagnosis import exit_code
from mpsdoctor.probes.intake import read_ticket
from mpsdoctor.probes.report_file import NotAReport, read_report
from mpsdoctor.probes.runner import expanded
from mpsdoctor.report.model import Report, make_report
from mpsdoctor.report.source import Source

if TYPE_CHECKING:
    from mpsdoctor.registry import Registry
    from mpsdoctor.selection import Selection

_SCHEMA = b'"mpsdoctor.'
_HEAD = 4096  # bytes; a binary file shows its NULs within them
_ONLY_MARKS = 64  # bytes that may be blanks and marks in what people call an empty file
_BLANK = b" \t\r\n\0\xef\xbb\xbf\xff\xfe"  # blanks, and the marks that begin a file
_UTF16 = (b"\xff\xfe", b"\xfe\xff")
_TEXTS = frozenset({".txt", ".md", ".markdown", ".log", ".out", ".err", ".text", ""})


def gather_ticket(name: str) -> Gathered:
    """Read one file or stdin ("-"). Raises ClickException with one plain line where it is no text at all."""
    shown = "stdin" if name == "-" else Path(name).name
    try:
        return _gathered(read_bytes(name), shown)
    except NotAReport as error:
        raise click.UsageError(f"{'stdin' if name == '-' else name}: {error}") from error


def _gathered(data: bytes, shown: str) -> Gathered:
    if not data.strip(_BLANK):
        if len(data) > _ONLY_MARKS:  # a file of NULs
            raise NotAReport("there is no text in it")
        raise NotAReport("the file is empty" if shown != "stdin" else "nothing was given")
    try:
        facts, problems = read_report(data)
        return Gathered(facts, Source("report", shown), tuple(problems))
    except NotAReport as error:
        # Half a report of ours would be judged by half of its facts; whatever else is text is read as a ticket.
        if (data.lstrip()[:1] == b"{" and _SCHEMA in data[:_HEAD]) or _is_binary(data):
            raise NotAReport("this is binary data, no text" if _is_binary(data) else str(error)) from error
    facts, problems = read_ticket(data)
    return Gathered(facts, Source("ticket", shown), tuple(problems))


def _is_binary(data: bytes) -> bool:
    return b"\0" in data[:_HEAD] and not data.startswith(_UTF16)


def many(names: tuple[str, ...]) -> bool:
    """True where several files or a folder are asked for."""
    if len(names) != 1:
        return len(names) > 1
    return names[0] != "-" and os.path.isdir(expanded(names[0]))  # noqa: PTH112 - is_dir raises in a closed folder


def check_many(names: tuple[str, ...], options: dict[str, Any]) -> int:
    """Judge many tickets: one JSON line each, or a table of causes. Returns the most serious exit status."""
    from mpsdoctor.cli.settings import selection
    from mpsdoctor.cli.target import make_redactor
    from mpsdoctor.registry import load_registry
    from mpsdoctor.report.triage import Remembering, format_triage, json_line, keep

    if options["format_"] not in ("text", "json"):
        raise click.UsageError(
            f"--format {options['format_']} is for one ticket; several give a table, or with --format json a line each"
        )
    if options["smoke"]:
        raise click.UsageError("--smoke trains on this machine; it does not go with --env, --from or --replay")
    chosen = selection(options["select"], options["ignore"])
    redactor = make_redactor(Remembering)
    kept, written, statuses = [], [], {0}
    for report in reports(names, load_registry(), chosen):
        kept.append(keep(report))
        statuses.add(exit_code(report.diagnosis, report.facts, fail_on=options["fail_on"], expect=options["expect"]))
        if options["format_"] == "json":
            line = json_line(report, redactor)
            if options["output"] is None:
                print_text(line, None)
            else:
                written.append(line)
    if not kept:
        raise click.UsageError("none of these files is a ticket or a report that can be read")
    if options["format_"] == "json":
        if options["output"] is not None:
            print_text("\n".join(written), options["output"])
    else:
        print_lines(format_triage(kept, terminal_width(), lambda name: Path(name).name), options["output"])
    return next(status for status in (1, 3, 0) if status in statuses)


def reports(names: tuple[str, ...], registry: Registry, selection: Selection) -> Iterator[Report]:
    """Judge every ticket of the files and folders, in the order of their names.

    What cannot be read is told on stderr and harms no other; a file that was named outright raises instead.
    """
    for name in names:
        path = expanded(name)
        for file in _files(path) if name != "-" and path.is_dir() else (None,):
            gathered = gather_ticket(name) if file is None else _from_folder(file)
            if gathered is not None:
                found = gathered if file is None else replace(gathered, source=replace(gathered.source, name=str(file)))
                yield make_report(found.facts, found.source, registry, selection=selection, problems=found.problems)


def _files(folder: Path) -> list[Path]:
    try:
        found = sorted(path for path in folder.iterdir() if path.is_file() and not path.name.startswith("."))
    except OSError as error:
        raise click.UsageError(f"{str(folder)!r} cannot be read: {error.strerror or error}") from error
    if (folder / "profile.json").is_file():
        raise click.UsageError(f"{str(folder)!r} is the recording of a Mac, no ticket: use --replay, not --from")
    tickets = [path for path in found if path.suffix.lower() in _TEXTS or path.suffix.lower() == ".json"]
    if not tickets:
        raise click.UsageError(f"{str(folder)!r} holds no .txt, .md, .log or .json file")
    return tickets


def _from_folder(file: Path) -> Gathered | None:
    try:
        data = read_bytes(str(file))
        if file.suffix.lower() == ".json":  # of JSON files only reports are tickets; the rest is somebody's data
            facts, problems = read_report(data)
            return Gathered(facts, Source("report", file.name), tuple(problems))
        return _gathered(data, file.name)
    except (NotAReport, click.ClickException) as error:
        said = error.format_message() if isinstance(error, click.ClickException) else str(error)
        click.echo(f"left out {file.name}: {said}", err=True)
        return None


def stdin_text(limit: int) -> str:
    """Return what stands on stdin, cut off at `limit` bytes."""
    from mpsdoctor.probes.intake.text import decode

    return decode(sys.stdin.buffer.read(limit)) if sys.stdin is not None else ""
