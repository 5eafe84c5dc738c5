"""The report as JSON text, redacted."""

from __future__ import annotations

import json

from mpsdoctor.facts.redaction import Redactor
from mpsdoctor.report.model import Report


def format_json(report: Report, redactor: Redactor) -> str:
    """Return one JSON document. Values are redacted, keys are not; `redactions` counts what was removed."""
    data = redactor.value(report.to_json())
    data["redactions"] = dict(redactor.counts)
    return json.dumps(data, indent=2, ensure_ascii=False, default=str)
