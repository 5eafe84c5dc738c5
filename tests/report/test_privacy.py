"""Nothing that names a person, a machine or a company is in any format; keys and diagnosis stay as they were.

The number of examples is small here; `python benchmarks/privacy.py` runs ten thousand.
"""

from __future__ import annotations

import html
import json
import re
from datetime import date
from typing import Any
from urllib.parse import unquote

import pytest
from hypothesis import HealthCheck, given, settings

from mpsdoctor.cli.formats import render
from mpsdoctor.facts import Facts
from mpsdoctor.facts.hosts import is_public
from mpsdoctor.facts.redaction import Redactor
from mpsdoctor.registry import load_registry
from mpsdoctor.report.document import Document, written
from mpsdoctor.report.github import format_annotations, format_outputs, format_summary, outputs
from mpsdoctor.report.issue import issue_url
from mpsdoctor.report.model import make_report
from mpsdoctor.report.source import Source
from tests.report.planted import Planted, planted

EXAMPLES = 150
TODAY = date(2026, 12, 1)


def formats(document: Document) -> dict[str, str]:
    """Every text that leaves the machine."""
    found = {name: render(document, name) for name in ("json", "markdown", "junit", "html")}
    found["annotations"] = format_annotations(document)
    found["summary"] = format_summary(document)
    found["outputs"] = format_outputs(outputs(document))
    found["issue"] = issue_url(document, "pytorch/pytorch", "report.json")
    return found


def plain(text: str) -> str:
    """The text without the escapes of its format, so that an escaped name is found as well."""
    text = re.sub(r"<!-- -->|\\(?=\W)", "", unquote(html.unescape(text)))
    return re.sub(r"\\u([0-9a-f]{4})", lambda match: chr(int(match[1], 16)), text)


def keys(value: Any) -> Any:
    """The shape of JSON data: keys and kinds, without values."""
    if isinstance(value, dict):
        return {key: keys(item) for key, item in value.items()}
    return [keys(item) for item in value] if isinstance(value, list) else type(value).__name__


def check_one(case: Planted) -> None:
    """All that must hold for one machine."""
    registry = load_registry()
    report = make_report(case.facts, Source("live", f"{case.home}/.venv/bin/python"), registry, today=TODAY)
    document = written(report, case.redactor())
    for name, text in formats(document).items():
        seen = plain(text).lower()
        survivors = [secret for secret in case.secrets if secret.lower() in seen]
        assert survivors == [], (name, case.recording)
    before = json.loads(json.dumps(report.to_json()["facts"]))
    assert keys(document["facts"]) == keys(before)
    again = make_report(Facts.from_json(document["facts"]), report.source, registry, today=TODAY)
    assert again.diagnosis.verdict == report.diagnosis.verdict
    assert [c.cause for c in again.diagnosis.causes] == [c.cause for c in report.diagnosis.causes]
    assert [(f.id, f.outcome) for f in again.findings] == [(f.id, f.outcome) for f in report.findings]
    assert written(again, Redactor())["diagnosis"] == document["diagnosis"]
    assert written(again, case.redactor())["facts"] == document["facts"]


@settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck))
@given(planted())
def test_nothing_survives_in_any_format_and_the_diagnosis_stays(case: Planted) -> None:
    check_one(case)


@pytest.mark.parametrize(
    "host",
    ["download.pytorch.org", "github.com", "localhost", "conda.anaconda.org", "mirrors.tuna.tsinghua.edu.cn", "HOST",
     "private-3.invalid", "files.pythonhosted.org"],
)  # fmt: skip
def test_a_public_host_stays(host: str) -> None:
    assert is_public(host)
    assert Redactor().text(f"https://{host}/simple") == f"https://{host}/simple"


@pytest.mark.parametrize(
    "host",
    ["nexus", "nexus.corp.acme.com", "github.acme.com", "10.1.2.3", "pytorch.acme.io", "proxy.lan", "acme.edu.cn"],
)
def test_a_private_host_gets_a_name_that_stays_the_same(host: str) -> None:
    assert not is_public(host)
    data = {
        "first": f"see {host.upper()} there",
        "a": f"http://{host}:8080/pypi",
        "b": [f"https://{host}/simple"],
        host: 1,
    }
    redactor = Redactor()
    found = redactor.value(data)
    assert found["a"] == "http://private-1.invalid:8080/pypi"
    assert found["b"] == ["https://private-1.invalid/simple"]
    assert found["first"] == (f"see {'private-1.invalid' if '.' in host else host.upper()} there")
    assert host in found
    assert redactor.value(found) == found
    assert redactor.counts["private-host"] == (3 if "." in host else 2)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        (
            "HTTPSConnectionPool(host='nexus.acme.io', port=443)",
            "HTTPSConnectionPool(host='private-1.invalid', port=443)",
        ),
        ("HTTPSConnectionPool(host='nexus', port=443)", "HTTPSConnectionPool(host='private-1.invalid', port=443)"),
        ("trusted-host = pip.acme.io", "trusted-host = private-1.invalid"),
        ("pip install --trusted-host pip.acme.io torch", "pip install --trusted-host private-1.invalid torch"),
        ("HTTPS_PROXY=proxy:3128", "HTTPS_PROXY=private-1.invalid:3128"),
        ("'https_proxy': 'proxy.acme.io:3128'", "'https_proxy': 'private-1.invalid:3128'"),
        ("MDM server: mdm.acme.io", "MDM server: private-1.invalid"),
        ("host='files.pythonhosted.org'", "host='files.pythonhosted.org'"),
        ("proxy: none was set", "proxy: none was set"),
        ("host='' and a proxy = something", "host='' and a proxy = something"),
    ],
)
def test_a_host_without_an_address_goes_where_hosts_are_written(text: str, wanted: str) -> None:
    assert Redactor().text(text) == wanted


def test_two_private_hosts_stay_two() -> None:
    text = Redactor().text("https://a.corp.acme.com/simple http://b.corp.acme.com https://a.corp.acme.com")
    assert text == "https://private-1.invalid/simple http://private-2.invalid https://private-1.invalid"
