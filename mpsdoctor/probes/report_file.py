"""Reads the facts out of a report or facts file that mpsdoctor wrote, of this version or another."""

from __future__ import annotations

import json
import re

from mpsdoctor.facts import Facts, Problems

_KNOWN = re.compile(r"mpsdoctor\.(?P<kind>report|facts)/(?P<number>\d{1,6})")


class NotAReport(ValueError):
    """The data is no report of ours; the message is one plain line."""


def read_report(data: bytes) -> tuple[Facts, Problems]:
    """Return the facts of a report and what could not be read. Raises NotAReport.

    A newer version of the format is read as far as it is understood, and that is said.
    """
    try:
        document = json.loads(data)
    except RecursionError as error:
        raise NotAReport("this is no report: it is nested too deep") from error
    except ValueError as error:
        raise NotAReport(_why_no_json(data)) from error
    if not isinstance(document, dict):
        raise NotAReport("this is JSON, but no mpsdoctor report")
    schema = _KNOWN.fullmatch(document["schema"]) if isinstance(document.get("schema"), str) else None
    if schema is None:
        named = document.get("schema")
        other = isinstance(named, str) and named.startswith("mpsdoctor.")
        why = f"its schema is {named}"[:100] if other else "it names no mpsdoctor schema"
        raise NotAReport(f"this is JSON, but no mpsdoctor report: {why}")
    problems: Problems = []
    if int(schema["number"]) > 1:
        problems.append(f"a newer mpsdoctor wrote this report ({document['schema']}); what this version knows was read")
    facts = document.get("facts") if schema["kind"] == "report" else document
    if not isinstance(facts, dict):
        raise NotAReport("this mpsdoctor report holds no facts")
    smoke = document.get("smoke")
    if isinstance(smoke, dict) and schema["kind"] == "report":
        facts = {**facts, "smoke": smoke}
    return Facts.from_json(facts, problems), problems


def _why_no_json(data: bytes) -> str:
    start = data.lstrip()[:1]
    if not data.strip():
        return "this is empty"
    if start in (b"{", b"["):
        return "this report is cut short or damaged: it is no whole JSON document"
    if b"\0" in data[:4096]:
        return "this is binary data, no mpsdoctor report"
    return "this is no mpsdoctor report (no JSON)"
