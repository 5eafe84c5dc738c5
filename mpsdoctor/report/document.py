"""The written report as the formats read it: one redacted JSON document (`mpsdoctor.report/1`), asked in plain terms.

Markdown, annotations, JUnit and HTML are made from the document and not from the run, so that each of them is redacted
exactly as the JSON is, and a report from a ticket can be shown in every format.
"""

from __future__ import annotations

import json
import shlex
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from mpsdoctor.diagnosis import BROKEN, DEGRADED, HEALTHY, NOT_APPLICABLE, UNDECIDED
from mpsdoctor.facts import Facts
from mpsdoctor.facts.redaction import Redactor
from mpsdoctor.registry import FAMILIES
from mpsdoctor.report import evidence
from mpsdoctor.report.json_format import format_json
from mpsdoctor.report.layout import link
from mpsdoctor.report.model import Report
from mpsdoctor.report.words import in_words, machine_line, printable, python_line, torch_line
from mpsdoctor.verdict import CRASH, FAIL, PASS, SKIP, UNKNOWN, WARN

Document = Mapping[str, Any]
_LONG = 4_000  # characters of one value; each format has a limit of its own
Row = Mapping[str, Any]
_SENTENCES = {
    HEALTHY: "PyTorch can use this Mac's GPU: it allocated and agreed with the CPU.",
    DEGRADED: "It works, with limits.",
    BROKEN: "Something is wrong.",
    NOT_APPLICABLE: "This is no Mac.",
    UNDECIDED: "Nothing wrong was found, and nothing shows that the GPU works.",
}
VERDICT_SIGNS = {HEALTHY: "✓", DEGRADED: "!", BROKEN: "✗", NOT_APPLICABLE: "·", UNDECIDED: "?"}


def written(report: Report, redactor: Redactor) -> Document:
    """Return the report as its JSON file says it: redacted, with the counts of what was removed."""
    document: dict[str, Any] = json.loads(format_json(report, redactor))
    return document


def headline(document: Document) -> str:
    """The answer in one sentence: the first cause, or what the verdict means."""
    causes = document["diagnosis"]["causes"]
    return str(causes[0]["summary"]) if causes else _SENTENCES[document["diagnosis"]["verdict"]]


def machine_rows(document: Document) -> list[tuple[str, str]]:
    """Which machine, which Python, which torch: the first lines of every format."""
    facts = Facts.from_json(document["facts"])
    path, words = python_line(facts.interpreter, None)
    rows = [
        ("Mac" if facts.host.is_mac else "Machine", machine_line(facts.host)),
        ("Python", ", ".join(part for part in (path, words) if part) or "not known"),
        ("torch", torch_line(facts)),
    ]
    source = document["source"]
    return rows if source["kind"] == "live" else [("Source", f"{source['kind']} {source['name']}"), *rows]


def checks_by_id(document: Document) -> dict[str, Row]:
    """The findings by the id of their check."""
    return {row["id"]: row for row in document["checks"]}


def roots(document: Document) -> list[tuple[Row, Row]]:
    """Each cause with its first finding, most fundamental first."""
    by_id = checks_by_id(document)
    causes = document["diagnosis"]["causes"]
    return [(cause, by_id[cause["checks"][0]]) for cause in causes if cause["checks"] and cause["checks"][0] in by_id]


def consequences(document: Document, cause: Row) -> list[Row]:
    """The findings that only follow from this cause."""
    by_id = checks_by_id(document)
    return [by_id[i] for i in cause.get("consequences", ()) if i in by_id]


def follows_from(row: Row) -> str | None:
    """The finding that a fault follows from; a check that was not reached says so in its own words."""
    return str(row["because"]) if row["because"] and row["outcome"] != SKIP else None


def worst_first(document: Document) -> list[Row]:
    """Every finding that failed, warned or crashed: causes in their order, then crashes, then what follows."""
    order = {id_: place for place, id_ in enumerate(_told_in_order(document))}
    bad = [row for row in document["checks"] if row["outcome"] in (FAIL, WARN, CRASH)]
    severity = {FAIL: 0, CRASH: 1, WARN: 2}
    return sorted(bad, key=lambda row: (bool(row["because"]), severity[row["outcome"]], order.get(row["id"], 999)))


def _told_in_order(document: Document) -> list[str]:
    return [id_ for cause in document["diagnosis"]["causes"] for id_ in (*cause["checks"], *cause["consequences"])]


def is_fine(document: Document, row: Row) -> bool:
    """True for a finding that says "nothing is wrong with this" (no Mac, an error of another program)."""
    family = {cause["cause"]: cause["family"] for cause in document["diagnosis"]["causes"]}
    return document["diagnosis"]["verdict"] == NOT_APPLICABLE or family.get(row["cause"]) == "fine"


def chain(document: Document) -> list[tuple[str, str]]:
    """Each family of checks that took part, with its worst outcome, in the order of the chain."""
    found = []
    for family in FAMILIES:
        rows = [row for row in document["checks"] if row["family"] == family]
        outcomes = [row["outcome"] for row in rows]
        if outcomes and (set(outcomes) != {SKIP} or any(row["because"] for row in rows)):
            found.append((family, link(outcomes, document["diagnosis"].get("mps_usable"))))
    return found


def counts(document: Document) -> str:
    """How many checks came out how, in words."""
    rows: Sequence[Row] = document["checks"]
    outcomes = Counter(row["outcome"] for row in rows)
    reached = sum(1 for row in rows if row["outcome"] == SKIP and row["because"])
    words = [
        (outcomes[PASS], "passed"),
        (outcomes[FAIL], "failed"),
        (outcomes[WARN], "warned"),
        (outcomes[CRASH], "broke"),
        (outcomes[UNKNOWN], "not known"),
        (reached, "not reached"),
        (outcomes[SKIP] - reached, "do not apply"),
    ]
    return ", ".join(f"{count} {word}" for count, word in words if count)


def known(row: Row) -> list[tuple[str, str]]:
    """What a finding rests on, in words, each with its source: ("Apple silicon: yes", "sysctl")."""
    told = ((evidence.words(str(i["fact"]), i.get("value"), limit=_LONG), i.get("from") or "") for i in row["evidence"])
    return list(dict.fromkeys((words, str(source)) for words, source in told if words))


def detail(row: Row) -> str:
    """What a check found, in words."""
    return evidence.detail(str(row["detail"] or ""))


def removed(document: Document) -> str:
    """What redaction took out, in words: "3 home folders, 1 token"."""
    return in_words(document.get("redactions", {}))


def command_line(argv: Sequence[str]) -> str:
    """A command to copy into a shell, on one line; ~ stays outside of the quotes."""
    return printable(" ".join(f"~/{shlex.quote(a[2:])}" if a.startswith("~/") else shlex.quote(a) for a in argv))
