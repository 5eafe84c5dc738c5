"""Reads tickets: what people paste when something does not work. A text in, facts out, each with its line.

Known layouts (collect_env, issue forms, lists of packages, system_profiler, JSON of conda and pip) are read as
statements; machine messages by the message table; the rest as prose, which is weak evidence and marked as such.
Nothing here judges.
"""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Sequence

from mpsdoctor.facts import Facts, Messages, Problems
from mpsdoctor.probes.intake import apply, large, text, values
from mpsdoctor.probes.intake.answers import read_answers, read_versions
from mpsdoctor.probes.intake.code import read_code
from mpsdoctor.probes.intake.collector import FORM, IMPLIED, PRINTED, PROSE, Collector
from mpsdoctor.probes.intake.documents import read_documents
from mpsdoctor.probes.intake.implied import imply, paths
from mpsdoctor.probes.intake.installed import read_installation
from mpsdoctor.probes.intake.labels import read_line
from mpsdoctor.probes.intake.machine import recognise, spans
from mpsdoctor.probes.intake.prose import is_error, is_prose, read_prose, read_speeds
from mpsdoctor.probes.intake.remarks import read_remarks
from mpsdoctor.probes.intake.tables import read_tables
from mpsdoctor.probes.intake.text import Line
from mpsdoctor.probes.intake.wrapping import Joined, join
from mpsdoctor.probes.report_file import NotAReport, read_report

__all__ = ["read_ticket"]

_ERROR = re.compile(
    r"^(?:E\s{2,})?(?:[\w.]{1,80}\.)?[A-Z]\w{1,40}(?:Error|Exception|Interrupt|Failure)\b|^(?:ERROR|error|"
    r"fatal|FATAL|Fatal)\b ?:|^zsh: |failed assertion|\b(?:core dumped|exit code [1-9])"
)
_SCHEMA = '"mpsdoctor.'
_SHOWN = 200
_NO_TORCH = {"torch-missing", "transformers-no-torch"}  # rows by which a program finds no torch
_REFUSALS = ("pip-", "uv-", "poetry-")  # rows of the message table in which an installer does not find a version


def read_ticket(data: bytes) -> tuple[Facts, Problems]:
    """Return the facts of a ticket, log or report, and what could not be read. Never raises on bad content."""
    problems: Problems = []
    whole = text.plain(large.split_large(text.decode(data)))
    base = _report_inside(whole, problems)
    into = Collector()
    spans = read_documents(into, whole) if "{" in whole or "[" in whole else []
    numbered = list(enumerate(whole.split("\n"), 1))
    if len(whole) > large.LARGE:
        kept = large.reduce([line for _, line in numbered])
        if len(kept) < len(numbered):
            problems.append(f"this log is long: {len(kept)} of its {len(numbered)} lines were read closely")
        numbered = kept
    outside = [(n, line) for n, line in numbered if not any(first <= n <= last for first, last in spans)]
    _read(into, text.lines(outside))
    return _with_report(into.facts(), base), problems


def _read(into: Collector, found: Sequence[Line]) -> None:
    logical = join(found)
    into.messages += recognise(found, logical)
    taken = read_tables(into, found) | read_answers(into, found)
    taken |= _statements(into, found, logical, taken)
    imply(into, into.messages)
    for line in found:
        paths(into, line)
    said = {message.line for message in into.messages}
    told = [(one.number, one.text) for one in logical if one.number not in said | taken and is_prose(one.text)]
    read_prose(into, told)
    places = spans(into.messages, logical)
    errors = [one for one in logical if one.number not in taken and (one.number in said or is_error(one.text))]
    read_remarks(into, [(one.number, one.text, tuple(places.get(one.number, ()))) for one in errors])
    if _NO_TORCH & {message.id for message in into.messages}:
        read_installation(into, [(one.number, one.text) for one in logical])
    read_speeds(into, [(one.number, one.text) for one in logical])
    read_versions(into, [(one.number, one.text) for one in logical])
    read_code(into, found)
    into.errors += _unknown_errors(logical, said)
    _settle(into)


def _statements(into: Collector, found: Sequence[Line], logical: Sequence[Joined], taken: set[int]) -> set[int]:
    """Read labels and platform names, line by line. A line whose last word was cut is read in its joined form only."""
    cut = {one.number: one for one in logical if one.broken_word}
    befores, places = _befores(found, logical), spans(into.messages, logical)
    read = set()
    for part in found:
        if not part.text or part.number in taken:
            continue
        line = dataclasses.replace(part, text=cut[part.number].text) if part.number in cut else part
        for platform in values.platforms(line.text) if "-" in line.text else ():
            apply.platform(into, platform, line.number)
            read.add(line.number)
            break
        first, before = (line.number, "") if part.number in cut else befores.get(part.number, (line.number, ""))
        message_at = min((start for start, _ in places.get(first, ())), default=None)
        if read_line(into, line, before=before, message_at=message_at) or _lone_value(into, line):
            read.add(line.number)
    return read


def _befores(found: Sequence[Line], logical: Sequence[Joined]) -> dict[int, tuple[int, str]]:
    """For each line: the first line of its logical one, and what of that stands above it."""
    place = {line.number: index for index, line in enumerate(found)}
    befores = {}
    for one in logical:
        before = ""
        for line in found[place[one.number] : place[one.number] + one.parts]:
            befores[line.number] = (one.number, before)
            before += f"{line.text} "
    return befores


def _lone_value(into: Collector, line: Line) -> bool:
    """A line that is nothing but a chip's name, as below collect_env's "CPU:"."""
    bare = line.text.strip(" .")
    if values.CHIP.fullmatch(bare) or (bare.startswith("Intel(R)") and len(bare) < 80):
        apply.hardware(into, bare, line.number, FORM)
        return True
    return False


def _unknown_errors(logical: Sequence[Joined], said: set[int | None]) -> list[str]:
    return [one.text[:_SHOWN] for one in logical if one.number not in said and _ERROR.search(one.text[:2_000])]


def _settle(into: Collector) -> None:
    """Put right what only the whole ticket shows."""
    wanted = {(message.values or {}).get("version") for message in into.messages if message.id.startswith(_REFUSALS)}
    if into.get("torch", "version") in wanted and into.rank("torch", "version") < PRINTED:
        into.drop("torch", "version")  # the installer was asked for it, in vain
    version = into.get("torch", "version")
    on_mac = into.get("host", "system") == "Darwin" or (into.get("host", "chip") or "").startswith("Apple")
    if version and values.LOCAL.search(version) and into.get("host", "system") not in ("Linux", "Windows"):
        into.drop("torch", "version")  # no such wheel exists for macOS, so this one is wanted and not installed
        _wanted(into, version)
    _settle_system(into, on_mac)
    if into.get("conda", "tool_platform") == "osx-64" and into.get("interpreter", "machine") is None:
        line = into.line("conda", "tool_platform")
        into.put("interpreter", "machine", "x86_64", line, IMPLIED, how="conda runs as osx-64")
    if into.get("interpreter", "machine") == "arm64" and into.get("host", "system") in (None, "Darwin"):
        line, rank = into.line("interpreter", "machine"), min(IMPLIED, into.rank("interpreter", "machine"))
        into.put("host", "arm64_capable", True, line, rank, how="its Python runs as arm64")
    if into.get("host", "system") is None and on_mac:
        into.put("host", "system", "Darwin", 1, into.rank("host", "chip"), how="the chip is Apple's")


def _settle_system(into: Collector, on_mac: bool) -> None:
    """A container on a Mac is Linux, whatever the form says; another system told beside a Mac is another machine."""
    if on_mac and into.get("host", "container") and into.get("host", "system") != "Linux":
        line, rank = into.line("host", "container"), into.rank("host", "container")
        into.drop("host", "system")
        into.put("host", "system", "Linux", line, rank, how="inside of a container")
    elif on_mac and into.get("host", "system") in ("Linux", "Windows") and into.rank("host", "system") == PROSE:
        into.drop("host", "system")


def _wanted(into: Collector, version: str) -> None:
    from mpsdoctor.facts import Claim

    into.claims.insert(0, Claim(id="local-version-wanted", text=f"torch {version}", values={"version": version}))


def _report_inside(whole: str, problems: Problems) -> Facts | None:
    """A report of ours pasted into a ticket: its facts are observed, and come before everything that is told."""
    at = whole.find(_SCHEMA)
    start = whole.rfind("{", 0, at) if at >= 0 else -1
    if start < 0:
        return None
    try:
        document, _ = json.JSONDecoder().raw_decode(whole[start:])
        facts, unread = read_report(json.dumps(document).encode())
    except (ValueError, RecursionError, NotAReport):
        problems.append(
            "a report of mpsdoctor in this ticket is cut short or damaged; its words were read as a ticket's"
        )
        return None
    problems += unread
    return facts


def _with_report(told: Facts, base: Facts | None) -> Facts:
    if base is None:
        return told
    messages = base.messages if base.messages.from_ticket else told.messages
    return dataclasses.replace(base, messages=messages if messages.from_ticket else Messages(items=()))
