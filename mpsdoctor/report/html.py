"""The report as one page that needs nothing else: no server, no network, no script from elsewhere. Pure."""

from __future__ import annotations

import base64
import hashlib
import json
from html import escape as escape_html
from typing import Any

from mpsdoctor.facts import Smoke, decode
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
)
from mpsdoctor.report.html_assets import SCRIPT, STYLE
from mpsdoctor.report.layout import SIGNS
from mpsdoctor.report.markdown import format_markdown
from mpsdoctor.report.smoke_svg import speed_svg
from mpsdoctor.report.words import printable

_CLASSES = {"healthy": "pass", "degraded": "warn", "broken": "fail", "not-applicable": "skip", "undecided": "unknown"}
_TEXT_LIMIT = 4_000  # characters of one value; the whole stands in the JSON report
_CAUSE_LIMIT = 20


def format_html(document: Document) -> str:
    """Return the page. Its policy allows its own style and script, and nothing that would leave the page."""
    verdict = document["diagnosis"]["verdict"]
    sentence = escape(headline(document))
    parts = [
        f'<h1 class="{_CLASSES[verdict]}">{VERDICT_SIGNS[verdict]} {sentence}</h1>',
        "<dl>"
        + "".join(f"<dt>{label}</dt><dd>{escape(value)}</dd>" for label, value in machine_rows(document))
        + "</dl>",
        *(_cause(document, 0, *found) for found in roots(document)[:1]),
        _ask(document),
        *(_noticed(document, number, *found) for number, found in enumerate(roots(document)[1:_CAUSE_LIMIT], 1)),
        '<h2>The chain</h2><ol class="chain">',
        *(f'<li><b class="{outcome}">{family} {SIGNS[outcome]}</b></li>' for family, outcome in chain(document)),
        f'</ol><p class="soft">{counts(document)}</p>',
        _smoke(document),
        _details(document),
        _ticket(document),
        f'<p class="soft">mpsdoctor {escape(document.get("tool", {}).get("version", "?"))}, '
        f"{escape(document.get('created', ''))}. Removed before writing: {escape(removed(document))}.</p>",
    ]
    return _PAGE.format(
        policy=f"default-src 'none'; style-src '{_hash(STYLE)}'; script-src '{_hash(SCRIPT)}'; base-uri 'none'; "
        "form-action 'none'",
        title=sentence,
        style=STYLE,
        body="\n".join(part for part in parts if part),
        script=SCRIPT,
    )


_PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="referrer" content="no-referrer">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>{style}</style>
</head>
<body>
{body}
<script>{script}</script>
</body>
</html>
"""


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def escape(value: object) -> str:
    """Return text for any place of the page: escaped, without control characters, of bearable length."""
    text = printable(str(value))
    return escape_html(text if len(text) <= _TEXT_LIMIT else text[: _TEXT_LIMIT - 2] + " …")


def _cause(document: Document, number: int, cause: Row, finding: Row) -> str:
    sure = "" if cause["confidence"] == "certain" else f", {cause['confidence']}, not certain"
    parts = [f'<section class="card {finding["outcome"]}">']
    parts.append(
        f'<p class="soft">Cause <code>{escape(cause["cause"])}</code>, found by '
        f"<code>{escape(finding['id'])}</code>{sure}</p>"
    )
    if told := known(finding)[:12]:
        items = (f"<li>{escape(words)}{_from(source)}</li>" for words, source in told)
        parts.append(f"<h3>How we know</h3><ul>{''.join(items)}</ul>")
    folded = consequences(document, cause)
    if folded:
        items = (f"<li>{escape(row['detail'])} <code>{escape(row['id'])}</code></li>" for row in folded[:20])
        parts.append(f"<h3>It explains</h3><ul>{''.join(items)}</ul>")
    for index, remedy in enumerate(finding["remedies"][:4]):
        parts.append(f"<h3>{'What to do' if index == 0 else 'Or'}</h3><p>{escape(remedy['text'])}</p>")
        if remedy["commands"]:
            commands = "\n".join(command_line(argv) for argv in remedy["commands"][:12])
            parts.append(_block(commands, f"command-{number}-{index}"))
    return "\n".join([*parts, "</section>"])


def _noticed(document: Document, number: int, cause: Row, finding: Row) -> str:
    """A cause beside the first: folded, so that one remedy is read first."""
    title = f"Also noticed: {escape(cause['summary'])}"
    return f"<details><summary>{title}</summary>{_cause(document, number, cause, finding)}</details>"


def _from(source: str) -> str:
    return f' <span class="soft">({escape(source)})</span>' if source else ""


def _block(text: str, name: str) -> str:
    shown = "\n".join(escape(line) for line in text.split("\n"))
    return f'<div class="command"><pre id="{name}">{shown}</pre><button data-copy="{name}">Copy</button></div>'


def _ask(document: Document) -> str:
    questions = document["diagnosis"].get("ask", ())
    items = "".join(f"<li>{escape(question)}</li>" for question in questions)
    return f'<section class="card unknown"><h2>Ask for</h2><ul>{items}</ul></section>' if items else ""


def _smoke(document: Document) -> str:
    if not document.get("smoke"):
        return ""
    smoke = decode(Smoke, document["smoke"])
    signs = {"pass": "pass", "skip": "skip"}
    items = "".join(
        f'<li><span class="{signs.get(stage.outcome, "fail")}">{escape(stage.stage)}: {escape(stage.outcome)}</span> '
        f"{escape(stage.detail or '')}</li>"
        for stage in smoke.stages or ()
    )
    return f"<h2>Training run</h2><ul>{items}</ul>{speed_svg(smoke) or ''}"


def _details(document: Document) -> str:
    rows = "".join(_row(row) for row in document["checks"])
    parts = [f"<details><summary>All checks ({len(document['checks'])})</summary><table>{rows}</table></details>"]
    if document.get("problems"):
        items = "".join(f"<li>{escape(problem)}</li>" for problem in document["problems"])
        parts.append(f"<details><summary>Could not be read</summary><ul>{items}</ul></details>")
    return "".join([*parts, _facts(document["facts"])])


def _row(row: Row) -> str:
    cause = follows_from(row)
    because = f" (follows from {escape(cause)})" if cause else ""
    found = f'<br><span class="soft">{escape(detail(row))}{because}</span>' if row["detail"] or because else ""
    return (
        f'<tr><td class="{row["outcome"]}">{SIGNS[row["outcome"]]}</td><td><code>{escape(row["id"])}</code></td>'
        f"<td>{escape(row['title'])}{found}</td></tr>"
    )


def _facts(facts: dict[str, Any]) -> str:
    lines = json.dumps(facts, indent=1, ensure_ascii=False).split("\n")
    shown = "\n".join(escape(line) for line in lines[:20_000])
    return f"<details><summary>Facts</summary><pre>{shown}</pre></details>"


def _ticket(document: Document) -> str:
    text = "\n".join(escape_html(printable(line)) for line in format_markdown(document).split("\n"))
    button = '<p><button data-copy="ticket">Copy for a ticket</button></p>'
    return f"<details><summary>For a ticket (Markdown)</summary>{button}<pre id='ticket'>{text}</pre></details>"
