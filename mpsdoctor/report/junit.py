"""The report as JUnit XML: one suite a family, one case a check. Pure.

A failure that follows from another one is a failure too, and names it; what is unknown or not reached is skipped and
never passes.
"""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET

from mpsdoctor.registry import FAMILIES
from mpsdoctor.report.document import Document, Row, detail, headline, is_fine, known
from mpsdoctor.verdict import CRASH, FAIL, PASS, SKIP, UNKNOWN, WARN

_ILLEGAL = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_LIMIT = 20_000  # characters of one text


def format_junit(document: Document, *, fail_on: str = "error", unmet: str | None = None) -> str:
    """Return the XML. fail_on "warning" makes warnings failures, "never" makes nothing one.

    unmet: what --expect asked for and did not get; a failing case of its own.
    """
    root = ET.Element("testsuites", name="mpsdoctor")
    for family in FAMILIES:
        rows = [row for row in document["checks"] if row["family"] == family]
        if rows:
            suite = ET.SubElement(root, "testsuite", name=f"mpsdoctor.{family}")
            for row in rows:
                _case(suite, document, row, fail_on)
            _count(suite)
    suite = ET.SubElement(root, "testsuite", name="mpsdoctor.diagnosis")
    _diagnosis(suite, document, unmet)
    _count(suite)
    for name in ("tests", "failures", "errors", "skipped"):
        root.set(name, str(sum(int(one.get(name, "0")) for one in root)))
    ET.indent(root)
    return ET.tostring(root, encoding="unicode", xml_declaration=False)


def _case(suite: ET.Element, document: Document, row: Row, fail_on: str) -> None:
    name = _text(f"{row['id']} {row['title']}")
    case = ET.SubElement(suite, "testcase", classname=f"mpsdoctor.{row['family']}", name=name, time="0")
    outcome = row["outcome"]
    told = _text(detail(row) or row["title"])
    if outcome == CRASH:
        ET.SubElement(case, "error", message=told, type="crash").text = told
    elif outcome in (SKIP, UNKNOWN):
        ET.SubElement(case, "skipped", message=told)
    elif outcome != PASS and _fails(document, row, fail_on):
        ET.SubElement(case, "failure", message=told, type=_text(row["cause"] or outcome)).text = _body(row)
    elif outcome != PASS:
        ET.SubElement(case, "system-out").text = _body(row)


def _fails(document: Document, row: Row, fail_on: str) -> bool:
    if fail_on == "never" or is_fine(document, row):
        return False
    return row["outcome"] == FAIL or (row["outcome"] == WARN and fail_on == "warning")


def _body(row: Row) -> str:
    lines = [row["detail"]]
    lines += [f"cause: {row['cause']}"] if row["cause"] else []
    lines += [f"follows from {row['because']}"] if row["because"] else []
    lines += [f"  {words} ({source})" if source else f"  {words}" for words, source in known(row)]
    lines += [f"What to do: {remedy['text']}" for remedy in row["remedies"]]
    return _text("\n".join(lines))


def _diagnosis(suite: ET.Element, document: Document, unmet: str | None) -> None:
    diagnosis = document["diagnosis"]
    properties = ET.SubElement(suite, "properties")
    for name in ("verdict", "mps_usable"):
        ET.SubElement(properties, "property", name=name, value=_text(str(diagnosis[name])))
    case = ET.SubElement(suite, "testcase", classname="mpsdoctor.diagnosis", name="expectation", time="0")
    if unmet is not None:
        ET.SubElement(case, "failure", message=_text(unmet), type="expectation").text = _text(headline(document))
    else:
        ET.SubElement(case, "system-out").text = _text(headline(document))


def _count(suite: ET.Element) -> None:
    cases = suite.findall("testcase")
    suite.set("tests", str(len(cases)))
    for name, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        suite.set(name, str(sum(1 for case in cases if case.find(tag) is not None)))


def _text(text: str) -> str:
    """XML 1.0 has no place for most control characters, not even escaped."""
    return _ILLEGAL.sub("\ufffd", text)[:_LIMIT]
