"""The JSON Schema of facts and reports, made from the dataclasses, so that neither can drift from the other.

The files facts.schema.json and report.schema.json beside this module are what is published; scripts/write_schemas.py
writes them, and a test compares them with this module.
"""

from __future__ import annotations

import dataclasses
import json
import types
import typing
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from mpsdoctor.facts import SCHEMA, Facts
from mpsdoctor.facts.codec import Subject

DIALECT = "https://json-schema.org/draft/2020-12/schema"
_SCALARS = {str: "string", int: "integer", float: "number", bool: "boolean"}
_TEXT = {"type": "string"}
_TEXTS = {"type": "array", "items": _TEXT}


def facts_schema() -> dict[str, Any]:
    """Return the schema of `mpsdoctor.facts/1`. Unknown keys are allowed: a newer version may add some."""
    definitions: dict[str, Any] = {}
    root = _object(Facts, definitions)
    root["properties"]["schema"] = {"type": "string", "pattern": r"^mpsdoctor\.facts/[0-9]+$"}
    return {"$schema": DIALECT, "title": SCHEMA, **root, "$defs": definitions}


def _object(cls: Any, definitions: dict[str, Any]) -> dict[str, Any]:
    hints = typing.get_type_hints(cls)
    properties: dict[str, Any] = {}
    required = []
    for field in dataclasses.fields(cls):
        if field.name == "extra":
            continue
        if field.name == "sources" and issubclass(cls, Subject):
            properties["from"] = {"type": "object", "additionalProperties": _TEXT}
            continue
        properties[field.name] = _value(hints[field.name], definitions)
        if field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING:
            required.append(field.name)
    schema: dict[str, Any] = {"type": "object", "properties": properties}
    if required:
        schema["required"] = required
    summary = (cls.__doc__ or "").split("\n\n", 1)[0]
    schema["description"] = " ".join(summary.split())
    return schema


def _value(hint: Any, definitions: dict[str, Any]) -> dict[str, Any]:
    origin = typing.get_origin(hint)
    if origin in (typing.Union, types.UnionType):
        return _value(next(arg for arg in typing.get_args(hint) if arg is not type(None)), definitions)
    if origin is tuple:
        return {"type": "array", "items": _value(typing.get_args(hint)[0], definitions)}
    if origin is not None and issubclass(origin, Mapping):
        return {"type": "object", "additionalProperties": _value(typing.get_args(hint)[1], definitions)}
    if dataclasses.is_dataclass(hint) and isinstance(hint, type):
        if hint.__name__ not in definitions:
            definitions[hint.__name__] = {}  # before the descent, should a type ever hold itself
            definitions[hint.__name__] = _object(hint, definitions)
        return {"$ref": f"#/$defs/{hint.__name__}"}
    return {} if hint is Any else {"type": _SCALARS[hint]}


def report_schema() -> dict[str, Any]:
    """Return the schema of `mpsdoctor.report/1`."""
    facts = facts_schema()
    definitions = facts.pop("$defs")
    facts.pop("$schema")
    nullable_text = {"type": ["string", "null"]}
    evidence = {"type": "object", "properties": {"fact": _TEXT, "value": {}, "from": _TEXT}, "required": ["fact"]}
    remedy = {
        "type": "object",
        "properties": {"text": _TEXT, "fix": nullable_text, "commands": {"type": "array", "items": _TEXTS}},
        "required": ["text"],
    }
    check = {
        "type": "object",
        "properties": {
            "id": _TEXT,
            "family": _TEXT,
            "title": _TEXT,
            "outcome": {"enum": ["pass", "warn", "fail", "skip", "unknown", "crash"]},
            "cause": nullable_text,
            "detail": _TEXT,
            "evidence": {"type": "array", "items": evidence},
            "remedies": {"type": "array", "items": remedy},
            "because": nullable_text,
            "docs": _TEXT,
        },
        "required": ["id", "family", "title", "outcome"],
    }
    cause = {
        "type": "object",
        "properties": {
            "cause": _TEXT,
            "family": _TEXT,
            "checks": _TEXTS,
            "confidence": {"enum": ["certain", "likely", "possible"]},
            "summary": _TEXT,
            "remedy": _TEXT,
            "consequences": _TEXTS,
        },
        "required": ["cause", "family", "checks", "confidence"],
    }
    diagnosis = {
        "type": "object",
        "properties": {
            "verdict": {"enum": ["healthy", "degraded", "broken", "not-applicable", "undecided"]},
            "mps_usable": {"type": ["boolean", "null"]},
            "causes": {"type": "array", "items": cause},
            "ask": _TEXTS,
        },
        "required": ["verdict", "mps_usable", "causes"],
    }
    kinds = ["live", "env", "replay", "report", "ticket"]
    return {
        "$schema": DIALECT,
        "title": "mpsdoctor.report/1",
        "description": "What one run of mpsdoctor found. Unknown keys are allowed: a newer version may add some.",
        "type": "object",
        "properties": {
            "schema": {"type": "string", "pattern": r"^mpsdoctor\.report/[0-9]+$"},
            "tool": {"type": "object", "properties": {"version": _TEXT, "python": _TEXT}},
            "created": _TEXT,
            "source": {"type": "object", "properties": {"kind": {"enum": kinds}, "name": _TEXT}},
            "facts": facts,
            "checks": {"type": "array", "items": check},
            "diagnosis": diagnosis,
            "plan": {"type": ["object", "null"]},
            "applied": {"type": ["object", "null"]},
            "smoke": {"anyOf": [{"$ref": "#/$defs/Smoke"}, {"type": "null"}]},
            "problems": _TEXTS,
            "redactions": {"type": "object", "additionalProperties": {"type": "integer"}},
        },
        "required": ["schema", "facts", "checks", "diagnosis"],
        "$defs": definitions,
    }


def write_schemas(folder: Path) -> None:
    """Write both files into `folder`."""
    for name, schema in (("facts", facts_schema()), ("report", report_schema())):
        text = json.dumps(schema, indent=1, ensure_ascii=False) + "\n"
        (folder / f"{name}.schema.json").write_text(text, encoding="utf-8")
