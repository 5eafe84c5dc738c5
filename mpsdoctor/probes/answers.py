"""Reads what the scripts in probes/target answer: marked lines among noise, or one JSON object (recordings)."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

MARK = b"\x1empsdoctor "
LISTED = frozenset({"comparison"})  # keys that may come several times and are collected


def parse_line(line: bytes) -> Mapping[str, Any] | None:
    """Return the answer on one line, or None where it is not one of ours."""
    start = line.find(MARK)
    if start < 0:
        return None
    return _load(line[start + len(MARK) :])


def parse_answers(output: bytes) -> dict[str, Any] | None:
    """Merge all answers of a probe's output; None where it holds no answer at all."""
    if MARK not in output:
        whole = _load(output)
        return dict(whole) if whole is not None else None
    merged: dict[str, Any] = {}
    for line in output.split(b"\n"):
        for key, value in (parse_line(line) or {}).items():
            if key in LISTED:
                merged.setdefault(key, []).append(value)
            elif isinstance(value, dict) and isinstance(merged.get(key), dict):
                merged[key] = {**merged[key], **value}
            else:
                merged[key] = value
    return merged


def _load(data: bytes) -> Mapping[str, Any] | None:
    try:
        value = json.loads(data)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def finite(value: object) -> float | None:
    """Return a finite number as float, None for everything else: JSON may hold NaN and numbers of any size."""
    if not isinstance(value, (int, float)) or isinstance(value, bool):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) else None


class Answers:
    """Typed access to merged answers: a value of another type than asked for counts as missing."""

    def __init__(self, values: Mapping[str, Any]) -> None:
        self.values = values

    def text(self, key: str) -> str | None:
        """Return a text value."""
        value = self.values.get(key)
        return value if isinstance(value, str) else None

    def flag(self, key: str) -> bool | None:
        """Return a true/false value."""
        value = self.values.get(key)
        return value if isinstance(value, bool) else None

    def number(self, key: str) -> int | None:
        """Return a whole number."""
        value = self.values.get(key)
        return value if isinstance(value, int) and not isinstance(value, bool) else None

    def real(self, key: str) -> float | None:
        """Return a number."""
        return finite(self.values.get(key))

    def texts(self, key: str) -> tuple[str, ...] | None:
        """Return a list of texts."""
        value = self.values.get(key)
        return tuple(item for item in value if isinstance(item, str)) if isinstance(value, list) else None

    def mapping(self, key: str) -> Mapping[str, Any]:
        """Return an object, empty where missing."""
        value = self.values.get(key)
        return value if isinstance(value, dict) else {}
