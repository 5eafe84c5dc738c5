"""The report as JSON text, redacted."""

from __future__ import annotations

import json
import math
from typing import Any

from mpsdoctor.facts.redaction import Redactor
from mpsdoctor.report.model import Report


def format_json(report: Report, redactor: Redactor) -> str:
    """Return one JSON document. Values are redacted, keys are not; `redactions` counts what was removed."""
    data = redactor.value(report.to_json())
    data["redactions"] = dict(redactor.counts)
    try:
        return json.dumps(data, indent=2, ensure_ascii=False, default=str, allow_nan=False)
    except ValueError:  # keys of a newer version are kept as they came, and Python reads more than JSON allows
        return json.dumps(_finite(data), indent=2, ensure_ascii=False, default=str)


def _finite(value: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    return [_finite(item) for item in value] if isinstance(value, list) else value
