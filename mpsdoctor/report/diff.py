"""What differs between two reports, the worst first: before and after, or mine and theirs. Pure."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from rich.text import Text

from mpsdoctor.facts import Facts
from mpsdoctor.facts.packages import normalize
from mpsdoctor.report.document import VERDICT_SIGNS, Document, checks_by_id, headline
from mpsdoctor.report.evidence import label, telling
from mpsdoctor.report.words import printable

WORSE, BETTER, OTHER = "worse", "better", "other"
_BADNESS = {"fail": 3, "crash": 2, "warn": 1, "unknown": 0, "skip": 0, "pass": 0}
_VERDICTS = {"healthy": 0, "not-applicable": 1, "degraded": 2, "undecided": 3, "broken": 4}
_ORDER = (WORSE, BETTER, OTHER)
_KINDS = ("verdict", "cause", "check", "fact", "package")
# What changes from run to run and says nothing.
_NOISE = frozenset(("from", "seconds", "import_seconds", "stderr_tail", "working_directory", "schema"))
_ABSENT = "-"
_TEXT_LIMIT = 300  # characters of one value


@dataclass(frozen=True)
class Difference:
    """One thing that differs. kind: verdict, cause, check, fact or package; direction: worse, better or other."""

    kind: str
    name: str
    before: str
    after: str
    direction: str = OTHER
    detail: str = ""


def compare(before: Document, after: Document) -> list[Difference]:
    """Return what differs: what became worse first, in the order verdict, causes, checks, facts, packages."""
    found = [
        *_verdict(before, after),
        *_causes(before, after),
        *_checks(before, after),
        *_facts(before, after),
        *_packages(before, after),
    ]
    return sorted(found, key=lambda one: (_ORDER.index(one.direction), _KINDS.index(one.kind)))


def _verdict(before: Document, after: Document) -> Iterator[Difference]:
    old, new = before["diagnosis"]["verdict"], after["diagnosis"]["verdict"]
    if old != new:
        yield Difference("verdict", "verdict", old, new, _direction(_VERDICTS[old], _VERDICTS[new]), headline(after))


def _causes(before: Document, after: Document) -> Iterator[Difference]:
    old, new = ({c["cause"]: c["summary"] for c in one["diagnosis"]["causes"]} for one in (before, after))
    for slug in new.keys() - old.keys():
        yield Difference("cause", slug, _ABSENT, "found", WORSE, new[slug])
    for slug in old.keys() - new.keys():
        yield Difference("cause", slug, "found", _ABSENT, BETTER, old[slug])


def _checks(before: Document, after: Document) -> Iterator[Difference]:
    old, new = checks_by_id(before), checks_by_id(after)
    for id_ in (id_ for id_ in new if id_ in old):
        was, now = old[id_]["outcome"], new[id_]["outcome"]
        if was != now:
            detail = new[id_]["detail"] if _BADNESS[now] > _BADNESS[was] else new[id_]["title"]
            yield Difference("check", id_, was, now, _check_direction(was, now), detail)


def _check_direction(was: str, now: str) -> str:
    """Only a fault that is gone is better: what is not reached or not known any more may be broken still."""
    if _BADNESS[now] == 0 and now != "pass":
        return OTHER
    return _direction(_BADNESS[was], _BADNESS[now])


def _direction(before: int, after: int) -> str:
    return WORSE if after > before else BETTER if after < before else OTHER


def _facts(before: Document, after: Document) -> Iterator[Difference]:
    old, new = (dict(_flat("", one["facts"])) for one in (before, after))
    names = [*old, *(name for name in new if name not in old)]
    for name in sorted(names, key=lambda name: not telling(name)):  # what checks rest on comes first
        was, now = old.get(name, _ABSENT), new.get(name, _ABSENT)
        if was != now:
            yield Difference("fact", name, was, now)


def _flat(prefix: str, value: Any) -> Iterator[tuple[str, str]]:
    if isinstance(value, Mapping):
        for key, item in value.items():
            if key not in _NOISE and (prefix, key) not in (("", "packages"), ("", "binaries")):
                yield from _flat(f"{prefix}.{key}" if prefix else str(key), item)
    elif isinstance(value, list) and any(isinstance(item, (dict, list)) for item in value):
        for number, item in enumerate(value):
            name = item.get("name", number) if isinstance(item, dict) else number
            yield from _flat(f"{prefix}[{name}]", item)
    elif value is not None:
        yield prefix, _clip(", ".join(map(str, value)) if isinstance(value, list) else str(value))


def _clip(text: str) -> str:
    return text if len(text) <= _TEXT_LIMIT else text[: _TEXT_LIMIT - 2] + " …"


def _packages(before: Document, after: Document) -> Iterator[Difference]:
    old, new = _versions(before), _versions(after)
    if old is None or new is None:
        return
    for name in sorted(old.keys() | new.keys()):
        was, now = old.get(name, _ABSENT), new.get(name, _ABSENT)
        if was != now:
            yield Difference("package", name, was, now)


def _versions(document: Document) -> dict[str, str] | None:
    distributions = Facts.from_json(document["facts"]).packages.distributions
    if distributions is None:
        return None
    return {normalize(one.name): one.version or "?" for one in reversed(distributions)}


def to_json(differences: list[Difference]) -> list[dict[str, str]]:
    """Return the differences as JSON data."""
    return [
        {"kind": d.kind, "name": d.name, "before": d.before, "after": d.after, "direction": d.direction,
         "detail": d.detail}
        for d in differences
    ]  # fmt: skip


def format_diff(names: tuple[str, str], reports: tuple[Document, Document], width: int, everything: bool) -> list[Text]:
    """Return the lines for people; `everything` shows every fact, else those that are told first."""
    lines = []
    for side, name, document in zip(("before", "after"), names, reports, strict=True):
        verdict = document["diagnosis"]["verdict"]
        lines += _labelled(side, f"{name}  {VERDICT_SIGNS[verdict]} {headline(document)}", width, "bold")
    found = compare(*reports)
    shown, hidden = (found, []) if everything else _shortened(found)
    if not found:
        return [*lines, Text(), Text("Nothing differs.")]
    last = ""
    for one in shown:
        group = one.direction if one.direction != OTHER else f"{one.kind}s"
        if group != last:
            lines.append(Text())
        detail = f"  {one.detail}" if one.detail else ""
        style = {WORSE: "bold red", BETTER: "green"}.get(one.direction, "bold")
        lines += _labelled(group if group != last else "", f"{_told(one)}{detail}", width, style)
        last = group
    if hidden:
        lines += [Text(), Text(f"and {len(hidden)} more facts and packages: -v shows them", style="dim")]
    return lines


def _told(one: Difference) -> str:
    """The difference in words; a fact is called as in the evidence, with its subject where that has no name for it."""
    if one.kind != "fact":
        return f"{one.name}: {one.before} → {one.after}"
    name = label(one.name) if telling(one.name) else re.sub(r"[._\[\]]+", " ", one.name).strip()
    before, after = (_value(one.name, value) for value in (one.before, one.after))
    return f"{name}: {before} → {after}"


def _value(name: str, value: str) -> str:
    if name.endswith("_bytes") and value.isdigit():
        return f"{int(value) / 1024**3:.0f} GB"
    return {"True": "yes", "False": "no"}.get(value, value)


def _shortened(found: list[Difference]) -> tuple[list[Difference], list[Difference]]:
    shown: list[Difference] = []
    hidden: list[Difference] = []
    for one in found:
        alike = sum(1 for other in shown if (other.direction, other.kind) == (one.direction, one.kind))
        (hidden if one.direction == OTHER and alike >= 12 else shown).append(one)
    return shown, hidden


def _labelled(label: str, text: str, width: int, style: str) -> list[Text]:
    parts = textwrap.wrap(printable(text), max(20, width - 10), break_on_hyphens=False) or [""]
    first = Text()
    first.append(f"{label:<10}", style=style)
    first.append(parts[0], style="none")
    return [first, *(Text(" " * 10 + part) for part in parts[1:])]
