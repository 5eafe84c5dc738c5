"""Annotations, outputs and the summary of a GitHub Actions step. Pure.

Rules: a workflow command is one line `::kind properties::message`; a step keeps the first ten annotations of each kind
(docs/problem-matchers.md of actions/toolkit); a step's summary holds 1 MiB; an output is `name=value` on one line.
"""

from __future__ import annotations

from mpsdoctor.facts import Facts
from mpsdoctor.report.document import (
    Document,
    Row,
    consequences,
    headline,
    is_fine,
    known,
    roots,
    worst_first,
)
from mpsdoctor.report.markdown import format_markdown
from mpsdoctor.report.vm_policy import CAUSE, annotation_kind
from mpsdoctor.report.words import printable
from mpsdoctor.verdict import CRASH, FAIL

PER_KIND = 10
SUMMARY_LIMIT = 1024 * 1024  # bytes, for all that a step writes
_MESSAGE_LIMIT = 3_000  # characters; longer messages are cut in the interface
_MARGIN = 1024  # bytes that stay free at the end of the summary
KINDS = ("error", "warning", "notice")


def format_annotations(document: Document, vm_policy: str | None = None, unmet: str | None = None) -> str:
    """Return the commands, one a line, worst first; what does not fit is counted in a last notice.

    vm_policy: what a virtual machine's GPU is (see `vm_policy`); unmet: what --expect asked for and did not get.
    """
    made: dict[str, list[str]] = {kind: [] for kind in KINDS}
    if unmet is not None:
        made["error"].append(annotation("error", "mpsdoctor", f"{unmet}.\n{headline(document)}"))
    left = 0
    by_id = {row["id"]: cause for cause, row in roots(document)}
    for row in worst_first(document):
        if row["because"]:  # told under its cause
            continue
        kind = _kind(document, row, vm_policy)
        if kind is None:
            continue
        # The last notice has its own place, should it be needed.
        if len(made[kind]) >= (PER_KIND - 1 if kind == "notice" else PER_KIND):
            left += 1
            continue
        made[kind].append(annotation(kind, _title(row), _message(document, row, by_id.get(row["id"]))))
    if left:
        made["notice"].append(annotation("notice", "mpsdoctor", f"{left} more findings are in the job's summary."))
    if not any(made.values()) and not document["diagnosis"]["causes"]:
        made["notice"].append(annotation("notice", "mpsdoctor", headline(document)))
    return "".join(line + "\n" for kind in KINDS for line in made[kind])


def annotation(kind: str, title: str, message: str) -> str:
    """Return one workflow command with everything escaped. kind: error, warning or notice."""
    text = message if len(message) <= _MESSAGE_LIMIT else message[: _MESSAGE_LIMIT - 2] + " …"
    return f"::{kind} title={_property(printable(title)[:200])}::{_data(text)}"


def _data(text: str) -> str:
    kept = "".join(c if c == "\n" or c.isprintable() else " " for c in text)
    return kept.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


def _kind(document: Document, row: Row, vm_policy: str | None) -> str | None:
    if is_fine(document, row):
        return "notice"
    kind = "error" if row["outcome"] in (FAIL, CRASH) else "warning"
    return annotation_kind(vm_policy, kind) if row["cause"] == CAUSE else kind


def _title(row: Row) -> str:
    return f"mpsdoctor {row['id']}" + (f" {row['cause']}" if row["cause"] else "")


def _message(document: Document, row: Row, cause: Row | None) -> str:
    lines = [_line(row["detail"] or row["title"])]
    if told := known(row)[:4]:
        lines.append(_line("How we know: " + "; ".join(words for words, _ in told)))
    folded = consequences(document, cause) if cause is not None else []
    if folded:
        lines.append(_line("It explains: " + "; ".join(other["detail"] for other in folded[:4])))
    lines += [_line(f"What to do: {remedy['text']}") for remedy in row["remedies"][:1]]
    return "\n".join(lines)


def _line(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 800 else line[:798] + " …"


def format_summary(document: Document, used: int = 0) -> str:
    """Return Markdown for the step's summary, beside `used` bytes that are there already; "" where no room is left."""
    room = SUMMARY_LIMIT - used - _MARGIN
    text = format_markdown(document, room) if room > 8 * _MARGIN else ""
    return text if len(text.encode()) <= room else ""


def outputs(document: Document) -> dict[str, str]:
    """Return the outputs of the step; every value is one printable line. `device` is what tests can ask torch for."""
    diagnosis = document["diagnosis"]
    facts = Facts.from_json(document["facts"])
    usable = diagnosis["mps_usable"]
    values = {
        "status": diagnosis["verdict"],
        "mps-usable": _flag(usable),
        "reason": diagnosis["causes"][0]["cause"] if diagnosis["causes"] else "",
        "device": "mps" if usable is True else "cpu",
        "torch-version": facts.torch.version or facts.packages.version("torch") or "",
        "macos-version": facts.host.macos_version or "",
        "is-vm": _flag(facts.host.is_virtual),
    }
    return {name: " ".join(printable(str(value)).split())[:500] for name, value in values.items()}


def _flag(value: bool | None) -> str:
    return "unknown" if value is None else "true" if value else "false"


def format_outputs(values: dict[str, str]) -> str:
    """Return the lines for $GITHUB_OUTPUT."""
    return "".join(f"{name}={' '.join(printable(value).split())}\n" for name, value in values.items())
