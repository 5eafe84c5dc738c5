"""JSON inside a text: what conda, pip, uv, system_profiler and applications write."""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Iterator
from typing import Any

from mpsdoctor.facts import Conda
from mpsdoctor.probes import conda_output, packages_output
from mpsdoctor.probes.intake import apply, values
from mpsdoctor.probes.intake.collector import FORM, PRINTED, Collector

_MOST_DOCUMENTS = 8
_LONGEST = 4_000_000  # characters; pip inspect of 500 packages has under 3,000,000
_START = re.compile(r"^[ \t>]{0,8}[\[{]", re.MULTILINE)


def read_documents(into: Collector, text: str) -> list[tuple[int, int]]:
    """Read the JSON documents that begin at the start of a line; return the lines (first, last) that they take."""
    spans = []
    for document, first, last in _documents(text):
        if _read(into, document, first):
            spans.append((first, last))
    return spans


def _documents(text: str) -> Iterator[tuple[Any, int, int]]:
    decoder = json.JSONDecoder()
    end = count = 0
    for start in _START.finditer(text):
        if start.start() < end or count >= _MOST_DOCUMENTS:
            continue
        count += 1
        try:
            document, end = decoder.raw_decode(text[: start.end() + _LONGEST], start.end() - 1)
        except (ValueError, RecursionError):
            continue
        yield document, text.count("\n", 0, start.end()) + 1, text.count("\n", 0, end) + 1


def _read(into: Collector, document: Any, line: int) -> bool:
    if isinstance(document, dict):
        if "conda_version" in document or "libmamba version" in document:
            _conda(into, conda_output.parse_conda_info(json.dumps(document)), line)
            return True
        if isinstance(document.get("installed"), list):
            for one in packages_output.parse_pip_inspect(json.dumps(document)):
                _package(into, one.name, one.version, line)
            into.whole_list = True
            _marker_environment(into, document.get("environment"), line)
            return True
        if any(str(key).startswith("SP") and str(key).endswith("DataType") for key in document):
            _system_profiler(into, document, line)
            return True
        return _versions(into, document, line)
    return isinstance(document, list) and _list(into, document, line)


def _conda(into: Collector, found: Conda, line: int) -> None:
    for field in dataclasses.fields(Conda):
        if field.name not in ("sources", "extra", "packages"):
            into.put("conda", field.name, getattr(found, field.name), line, PRINTED)
    if found.tool_platform == "osx-arm64":
        into.put("host", "arm64_capable", True, line, PRINTED, how="conda's platform")


def _marker_environment(into: Collector, found: object, line: int) -> None:
    """pip inspect tells of its own interpreter."""
    if not isinstance(found, dict):
        return
    system, machine, version = (
        found.get(key) for key in ("platform_system", "platform_machine", "python_full_version")
    )
    if isinstance(system, str):
        into.put("host", "system", system, line, PRINTED)
    if isinstance(machine, str):
        into.put("interpreter", "machine", apply.architecture(machine), line, PRINTED)
    if isinstance(version, str):
        apply.python(into, version, line, PRINTED)
    if isinstance(found.get("implementation_name"), str):
        into.put("interpreter", "implementation", found["implementation_name"], line, PRINTED)


def _system_profiler(into: Collector, document: dict[str, Any], line: int) -> None:
    for text in _texts(document):
        apply.hardware(into, text, line, PRINTED)
        apply.macos(into, text, line, PRINTED)
    into.put("host", "system", "Darwin", line, PRINTED)


def _texts(value: object, depth: int = 0) -> Iterator[str]:
    if depth > 6:
        return
    if isinstance(value, dict):
        for key, item in value.items():
            if isinstance(item, str):
                yield f"{'Memory ' if 'memory' in str(key) else ''}{item}"
            yield from _texts(item, depth + 1)
    elif isinstance(value, list):
        for item in value:
            yield from _texts(item, depth + 1)


def _list(into: Collector, document: list[Any], line: int) -> bool:
    rows = [item for item in document if isinstance(item, dict) and isinstance(item.get("name"), str)]
    if not rows:
        return False
    if any("channel" in row or "build_string" in row for row in rows):
        for package in conda_output.parse_conda_list(json.dumps(rows)).packages or ():
            into.conda_package(package)
            if package.name in ("pytorch", "torch"):
                _package(into, "torch", package.version, line)
        into.put("conda", "present", True, line, PRINTED)
        return True
    for row in rows:
        version = row.get("version")
        _package(into, row["name"], version if isinstance(version, str) else None, line)
    into.whole_list = into.whole_list or len(rows) >= 12
    return True


def _package(into: Collector, name: str, version: str | None, line: int) -> None:
    into.package(name, version, line, PRINTED)
    if name == "torch" and version:
        apply.torch(into, values.torch_version(version), line, PRINTED)


def _versions(into: Collector, document: dict[str, Any], line: int) -> bool:
    """An application's own list of versions: {"torch": "2.2.2", "python": "3.11.9", ...}."""
    plain = {str(key): value for key, value in document.items() if isinstance(value, str) and value[:1].isdigit()}
    if not {"torch", "pytorch"} & plain.keys():
        return False
    for name, version in plain.items():
        if name == "python":
            apply.python(into, version, line, FORM)
        else:
            _package(into, "torch" if name == "pytorch" else name, version, line)
    return True
