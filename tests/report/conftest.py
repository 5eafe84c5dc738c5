"""Documents to format: recorded Macs, and reports that hold what nobody would want to format."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import pytest

from mpsdoctor.cli.target import gather
from mpsdoctor.facts.redaction import Redactor
from mpsdoctor.registry import load_registry
from mpsdoctor.report.document import written
from mpsdoctor.report.model import make_report
from tests.conftest import RECORDINGS

NAMES = sorted(path.name for path in RECORDINGS.iterdir() if path.is_dir())
# Text that breaks formats: markup, escapes, delimiters, control characters, mentions.
HOSTILE = [
    "50% off\r\n::error::injected",
    "::set-output name=x::y, and: commas, colons: %0A",
    "``` end of fence ``` | cell | <script>alert(1)</script> ]]> <!-- --",
    "@octocat see #123 https://example.com/ </details>",
    "\x1b[31mred\x1b[0m\x00 nul \u202e turned \ud83d",
    "$(touch x) `touch x` 'quote' \"double\"",
]


@cache
def _recorded(name: str) -> str:
    import json

    gathered = gather(python=None, env=None, from_=None, replay=str(RECORDINGS / name))
    report = make_report(gathered.facts, gathered.source, load_registry(), problems=gathered.problems)
    return json.dumps(written(report, Redactor(home="/Users/user", user="user", host="host")))


@pytest.fixture
def recorded() -> Callable[[str], dict[str, Any]]:
    """Return the document of a recorded Mac, a fresh copy each time."""
    import json

    def get(name: str) -> dict[str, Any]:
        document: dict[str, Any] = json.loads(_recorded(name))
        return document

    return get


def findings(count: int, outcome: str = "fail", detail: str = "broken", because: str | None = None) -> list[Any]:
    """Return `count` findings that were all made alike."""
    return [
        {
            "id": f"XX{number:03}",
            "family": "torch",
            "title": f"title {number}: {detail}",
            "outcome": outcome,
            "cause": f"cause-{number}",
            "detail": detail,
            "evidence": [{"fact": "host.chip", "value": detail, "from": detail}],
            "remedies": [{"text": detail, "fix": None, "commands": [["echo", detail]]}],
            "because": because,
            "docs": "",
        }
        for number in range(count)
    ]


def made(checks: list[Any], verdict: str = "broken", detail: str = "broken") -> dict[str, Any]:
    """Return a document that holds these findings, each one a cause."""
    return {
        "schema": "mpsdoctor.report/1",
        "tool": {"version": "0.1.0", "python": "3.12"},
        "created": "2026-12-01T00:00:00+00:00",
        "source": {"kind": "live", "name": "python3"},
        "facts": {"schema": "mpsdoctor.facts/1", "host": {"system": "Darwin", "chip": detail}},
        "checks": checks,
        "diagnosis": {
            "verdict": verdict,
            "mps_usable": False,
            "causes": [
                {
                    "cause": row["cause"],
                    "family": "environment",
                    "checks": [row["id"]],
                    "confidence": "certain",
                    "summary": row["detail"],
                    "remedy": "",
                    "consequences": [],
                }
                for row in checks
                if row["because"] is None and row["outcome"] in ("fail", "warn")
            ],
            "ask": [],
        },
        "plan": None,
        "applied": None,
        "smoke": None,
        "problems": [],
        "redactions": {"home": 3},
    }
