"""The formats that are files or machines' input: json, markdown, github, junit, html."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from mpsdoctor.cli.output import print_text

if TYPE_CHECKING:
    from mpsdoctor.report.document import Document
    from mpsdoctor.report.model import Report

_EXPECTED = {
    "mps": ("the GPU was expected to be usable", "is not", "nothing shows that it is"),
    "cpu": ("torch was expected to import", "does not", "nothing shows that it does"),
}
FORMATS = ("text", "json", "markdown", "github", "junit", "html")


def print_report(report: Report, options: Mapping[str, Any], status: int) -> None:
    """Write the report in any format but text. `status` is the exit status that it leads to."""
    from mpsdoctor.cli.target import make_redactor

    name = options["format_"]
    if name == "json":
        from mpsdoctor.report.json_format import format_json

        print_text(format_json(report, make_redactor()), options["output"])
        return
    from mpsdoctor.report.document import written

    document = written(report, make_redactor())
    unmet = expectation(report, options["expect"], status)
    if name == "github":
        _github(document, options, unmet)
        return
    text = render(document, name, fail_on=options["fail_on"], unmet=unmet)
    print_text(text.rstrip("\n"), options["output"])


def render(document: Document, name: str, *, fail_on: str = "error", unmet: str | None = None) -> str:
    """Return the document as json, markdown, junit or html."""
    import json

    if name == "markdown":
        from mpsdoctor.report.markdown import format_markdown

        return format_markdown(document)
    if name == "junit":
        from mpsdoctor.report.junit import format_junit

        return format_junit(document, fail_on=fail_on, unmet=unmet)
    if name == "html":
        from mpsdoctor.report.html import format_html

        return format_html(document)
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def expectation(report: Report, expect: str, status: int) -> str | None:
    """Return what --expect asked for and did not get, in words; None where it is met or nothing was asked for."""
    known = {"mps": report.diagnosis.mps_usable, "cpu": report.facts.torch.imported}.get(expect)
    if expect == "any" or status == 0 or known:  # usable, and failing all the same: the cause says why
        return None
    wanted, not_met, open_ = _EXPECTED[expect]
    return f"{wanted}, and {open_ if known is None else not_met}"


def _github(document: Document, options: Mapping[str, Any], unmet: str | None) -> None:
    from mpsdoctor.report.github import format_annotations, format_outputs, format_summary, outputs

    print_text(format_annotations(document, options["vm_policy"], unmet).rstrip("\n"), options["output"])
    summary, output = os.environ.get("GITHUB_STEP_SUMMARY"), os.environ.get("GITHUB_OUTPUT")
    if summary:
        _append(Path(summary), format_summary(document, _size(Path(summary))))
    if output:
        _append(Path(output), format_outputs(outputs(document)))


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


def _append(path: Path, text: str) -> None:
    try:
        with path.open("a", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        click.echo(f"{path} could not be written: {error.strerror or error}", err=True)
