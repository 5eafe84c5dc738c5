"""The report as Markdown to paste into a ticket or a job summary, within the host's limit. Pure.

Whatever a fact holds, it cannot leave its place: text is escaped, values stand in code spans, blocks in fences that are
longer than any inside, nobody is mentioned and no issue linked.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from mpsdoctor.facts import Facts
from mpsdoctor.report.document import (
    VERDICT_SIGNS,
    Document,
    Row,
    chain,
    command_line,
    consequences,
    counts,
    detail,
    follows_from,
    headline,
    known,
    machine_rows,
    removed,
    roots,
    worst_first,
)
from mpsdoctor.report.layout import SIGNS
from mpsdoctor.report.words import printable

LIMIT = 65_536  # characters; GitHub refuses longer issues and comments. We count bytes, which are never fewer.
_TEXT_LIMIT = 1_500  # characters of one sentence or value
_TABLE_LIMIT = 16_000  # bytes of one table
_CAUSE_LIMIT = 5
_SPECIAL = re.compile(r"([\\`*_\[\]<>|~&])")
_MENTION = re.compile(r"([@#])(?=[\w-])")
_STARTS_BLOCK = re.compile(r"^([-+#>=]|\d+(?=[.)](?:\s|$)))")


def format_markdown(document: Document, limit: int = LIMIT) -> str:
    """Return the report: answer, evidence and remedy first; folded details as far as `limit` (bytes) allows."""
    parts = [_answer(document, limit // 2)]
    left_out = []
    room = limit - len(parts[0].encode()) - 600  # for the last line
    for title, body in _details(document):
        block = f"<details><summary>{title}</summary>\n\n{body}\n\n</details>\n"
        size = len(block.encode()) + 1
        if size <= room:
            parts.append(block)
            room -= size
        else:
            left_out.append(title)
    parts.append(_last_line(document, left_out))
    return "\n".join(parts)


def format_answer(document: Document) -> str:
    """Return the answer alone: cause, evidence, remedy and chain, without details."""
    return _answer(document, LIMIT // 2)


def _answer(document: Document, limit: int) -> str:
    verdict = document["diagnosis"]["verdict"]
    lines = [f"### {VERDICT_SIGNS[verdict]} {escape(headline(document))}", ""]
    lines += ["| | |", "|---|---|", *(f"| {label} | {escape(value)} |" for label, value in machine_rows(document)), ""]
    found = roots(document)
    if found:
        block = _cause(document, *found[0], first=True)
        fits = len("\n".join([*lines, *block]).encode()) <= limit
        lines += block if fits else ["Too long for here, see the JSON report.", ""]
    lines += _noticed(found[1:])
    for question in document["diagnosis"].get("ask", ()):
        lines += [f"**Ask for** {escape(question)}", ""]
    lines += [" ".join(f"{family} {SIGNS[outcome]}" for family, outcome in chain(document)), "", counts(document), ""]
    return "\n".join(lines)


def _noticed(others: list[tuple[Row, Row]]) -> list[str]:
    """Every cause but the first in one sentence; they stand in full among the details."""
    if not others:
        return []
    shown = [f"- {escape(_clip(cause['summary'], 300))} {code(row['id'])}" for cause, row in others[:_CAUSE_LIMIT]]
    more = len(others) - len(shown)
    return ["**Also noticed**", "", *shown, *([f"- and {more} more causes"] if more else []), ""]


def _cause(document: Document, cause: Row, finding: Row, *, first: bool) -> list[str]:
    lines = [] if first else [f"#### {SIGNS[finding['outcome']]} {escape(cause['summary'])}", ""]
    sure = "" if cause["confidence"] == "certain" else f", {cause['confidence']}, not certain"
    lines += [f"Cause {code(cause['cause'])}, found by {code(finding['id'])}{sure}", ""]
    if told := known(finding)[:6]:
        lines += ["**How we know**", "", *(f"- {code(words)}{_from(source)}" for words, source in told), ""]
    folded = consequences(document, cause)
    if folded:
        lines += ["**It explains**", "", *(f"- {escape(row['detail'])} {code(row['id'])}" for row in folded[:8]), ""]
    for index, remedy in enumerate(finding["remedies"][:3]):
        lines += [f"**{'What to do' if index == 0 else 'or'}** {escape(remedy['text'])}", ""]
        if remedy["commands"]:
            commands = "\n".join(command_line(argv) for argv in remedy["commands"][:6])
            lines += [*fence(_clip(commands), "sh"), ""]
    return lines


def _from(source: str) -> str:
    return f" ({escape(source)})" if source else ""


def _details(document: Document) -> Iterator[tuple[str, str]]:
    others = roots(document)[1 : _CAUSE_LIMIT + 1]
    if others:
        blocks = (line for cause, row in others for line in _cause(document, cause, row, first=False))
        yield "Also noticed, in full", "\n".join(blocks)
    bad = worst_first(document)
    if bad:
        yield f"Findings ({len(bad)})", _table(bad)
    yield f"All checks ({len(document['checks'])})", _table(document["checks"])
    if document.get("smoke"):
        yield "Training run", "\n".join(fence(_json(document["smoke"]), "json"))
    if document.get("problems"):
        yield "Could not be read", "\n".join(f"- {escape(str(problem))}" for problem in document["problems"])
    facts = dict(document["facts"])
    distributions = Facts.from_json(document["facts"]).packages.distributions
    if distributions:
        lines = (f"{d.name}=={d.version or '?'}" for d in distributions)
        yield f"Packages ({len(distributions)})", "\n".join(fence(_clip("\n".join(lines), 30_000), "text"))
        facts.pop("packages", None)
    yield "Facts", "\n".join(fence(_json(facts), "json"))


def _table(rows: list[Row]) -> str:
    lines = ["| | check | what it tests, what it found |", "|---|---|---|"]
    size = 0
    for number, row in enumerate(rows):
        cause = follows_from(row)
        because = f" (follows from {code(cause)})" if cause else ""
        found = f"<br>{escape(detail(row))}" if row["detail"] else ""
        lines.append(f"| {SIGNS[row['outcome']]} | {code(row['id'])} | {escape(row['title'])}{found}{because} |")
        size += len(lines[-1].encode())
        if size > _TABLE_LIMIT and number + 1 < len(rows):
            lines.append(f"| | | and {len(rows) - number - 1} more, in the JSON report |")
            break
    return "\n".join(lines)


def _last_line(document: Document, left_out: list[str]) -> str:
    tool = document.get("tool", {})
    missing = f" Too long for here, see the JSON report: {', '.join(left_out)}." if left_out else ""
    version = escape(_clip(str(tool.get("version", "?")), 60))
    return f"mpsdoctor {version}, {document['schema']}. Removed before writing: {removed(document)}.{missing}\n"


def escape(text: str) -> str:
    """Return text that Markdown shows as it is, on one line, without mentions or links to issues."""
    line = " ".join(_clip(printable(text)).split())
    line = _SPECIAL.sub(r"\\\1", line)
    line = _STARTS_BLOCK.sub(lambda m: m[0] + "\\" if m[0].isdigit() else "\\" + m[0], line)
    return _MENTION.sub(r"\1<!-- -->", line).replace("://", ":<!-- -->//")


def code(text: str) -> str:
    """Return the text as a code span, whatever backticks it holds; a vertical bar would end a table's cell."""
    line = " ".join(_clip(printable(text)).split()).replace("|", "¦")
    longest = max((len(run) for run in re.findall(r"`+", line)), default=0)
    ticks = "`" * (longest + 1)
    pad = " " if longest else ""
    return f"{ticks}{pad}{line}{pad}{ticks}" if line else ""


def fence(text: str, language: str) -> list[str]:
    """Return the lines of a code block whose fence is longer than any run of backticks inside."""
    text = "\n".join(printable(line) for line in text.split("\n"))
    longest = max((len(run) for run in re.findall(r"`{3,}", text)), default=2)
    marks = "`" * (longest + 1)
    return [f"{marks}{language}", text, marks]


def _json(value: object) -> str:
    return json.dumps(value, indent=1, ensure_ascii=False)


def _clip(text: str, limit: int = _TEXT_LIMIT) -> str:
    return text if len(text) <= limit else text[: limit - 2] + " …"
