"""Many tickets at once: one JSON line each, and a table of causes for a support queue. Pure."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from rich.text import Text

from mpsdoctor.diagnosis import HEALTHY, UNDECIDED
from mpsdoctor.facts.redaction import Redactor
from mpsdoctor.report.commands import parts as split
from mpsdoctor.report.model import Report
from mpsdoctor.report.words import printable

_MOST_CLEAN = 50_000  # texts that are remembered
_EXAMPLES = 3
_CONFIDENCE = ("certain", "likely", "possible")
_ASKS = 5


@dataclass(frozen=True)
class Line:
    """What the table keeps of one ticket."""

    name: str
    verdict: str
    cause: str | None
    family: str | None
    confidence: str | None
    ask: tuple[str, ...]


class Remembering(Redactor):
    """A redactor for many reports, which repeat most of their texts: what holds nothing personal is looked at once."""

    def __init__(self, *, home: str | None = None, user: str | None = None, host: str | None = None) -> None:
        super().__init__(home=home, user=user, host=host)
        self._clean: set[str] = set()

    def text(self, text: str) -> str:
        """Return the text with everything personal replaced."""
        if text in self._clean:
            return text
        new = super().text(text)
        if new == text and len(self._clean) < _MOST_CLEAN:
            self._clean.add(text)
        return new


def json_line(report: Report, redactor: Redactor) -> str:
    """Return one ticket's whole report as one line of JSON, redacted; `redactions` counts those of this ticket."""
    before = dict(redactor.counts)
    data = redactor.value(report.to_json())
    data["redactions"] = {kind: n for kind, count in redactor.counts.items() if (n := count - before.get(kind, 0))}
    return json.dumps(data, ensure_ascii=False, default=str, separators=(",", ":"))


def keep(report: Report) -> Line:
    """Return what the table needs, so that a thousand reports need not stay in memory."""
    diagnosis = report.diagnosis
    first = diagnosis.causes[0] if diagnosis.causes else None
    return Line(
        report.source.name,
        diagnosis.verdict,
        first.cause if first else None,
        first.family if first else None,
        first.confidence if first else None,
        diagnosis.ask,
    )


def format_triage(lines: Sequence[Line], width: int, shorten: Callable[[str], str] = str) -> list[Text]:
    """Return the table: causes by number of tickets, how sure, some examples; then the questions to send back."""
    found = [Text(f"{len(lines)} ticket{'' if len(lines) == 1 else 's'}", style="bold"), Text()]
    if not lines:
        return found
    column = max(len(_named(line)) for line in lines)
    family_column = max(len(line.family or "") for line in lines)
    for name in _by_count(_named(line) for line in lines):
        group = [line for line in lines if _named(line) == name]
        sure = ", ".join(f"{n} {word}" for word in _CONFIDENCE if (n := sum(g.confidence == word for g in group)))
        row = Text(f"{len(group):5}  ", style="bold")
        row.append(f"{name:<{column}}", style="red" if group[0].family not in ("fine", None) else "cyan")
        row.append(f"  {group[0].family or '':<{family_column}}  ", style="dim")
        row.append(sure, style="none")
        found.append(row)
        examples = ", ".join(shorten(line.name) for line in group[:_EXAMPLES])
        more = f" and {len(group) - _EXAMPLES} more" if len(group) > _EXAMPLES else ""
        parts = textwrap.wrap(printable(examples + more), max(20, width - 7)) or [""]
        found += [Text(f"       {part}", style="dim") for part in parts]
    return found + _questions(lines, width)


def _named(line: Line) -> str:
    if line.cause is not None:
        return line.cause
    return {HEALTHY: "nothing wrong", UNDECIDED: "nothing wrong found"}.get(line.verdict, line.verdict)


def _by_count(names: Iterable[str]) -> list[str]:
    counts: dict[str, int] = {}
    for name in names:
        counts[name] = counts.get(name, 0) + 1
    return sorted(counts, key=lambda name: (-counts[name], name))


def _questions(lines: Sequence[Line], width: int) -> list[Text]:
    asks = _by_count(line.ask[0] for line in lines if line.ask)
    if not asks:
        return []
    found = [Text(), Text("Most wanted answers", style="bold")]
    for ask in asks[:_ASKS]:
        count = sum(line.ask[:1] == (ask,) for line in lines)
        pieces: list[str] = []
        for part in split(printable(ask)):  # a command is never broken: it is to be copied
            pieces += [part.text] if part.command else textwrap.wrap(part.text, max(20, width - 7))
        found.append(Text(f"{count:5}  {pieces[0] if pieces else ''}"))
        found += [Text(f"       {piece}") for piece in pieces[1:]]
    return found
