"""Frozen dataclasses to JSON and back, without loss and without trust.

`encode` leaves out what is unknown (None). `decode` never raises on bad content: a value of the wrong type becomes
unknown and is told in `problems`; a key that this version does not know is kept in `extra` and written out again.
"""

from __future__ import annotations

import dataclasses
import functools
import math
import types
import typing
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

T = TypeVar("T")
Problems = list[str]
_Reader = Callable[[Any, str, Problems], Any]
_BAD = object()


@dataclasses.dataclass(frozen=True, kw_only=True)
class Subject:
    """Base of every subject of facts.

    `sources` maps a field name (or "*" for the whole subject) to where the value came from: a command, a file, or a
    line of a ticket. `extra` holds keys written by a newer version.
    """

    sources: Mapping[str, str] = dataclasses.field(default_factory=dict)
    extra: Mapping[str, Any] = dataclasses.field(default_factory=dict)

    def source(self, field: str) -> str:
        """Return where the field's value came from, or an empty string where nothing says so."""
        return self.sources.get(field) or self.sources.get("*") or ""


def encode(value: Any) -> Any:
    """Return the JSON form of a fact: dataclasses become objects, tuples lists; unknown (None) fields are left out."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return _encode_dataclass(value)
    if isinstance(value, Mapping):
        return {str(key): encode(item) for key, item in value.items()}
    if isinstance(value, (tuple, list)):
        return [encode(item) for item in value]
    return value


def _encode_dataclass(value: Any) -> dict[str, Any]:
    out: dict[str, Any] = {}
    for name in _field_names(type(value)):  # type: ignore[arg-type]
        item = getattr(value, name)
        if name == "extra" or item is None:
            continue
        if name == "sources":
            if item:
                out["from"] = dict(item)
            continue
        out[name] = encode(item)
    for key, item in getattr(value, "extra", {}).items():
        out.setdefault(key, item)
    return out


@functools.cache
def _field_names(cls: Any) -> tuple[str, ...]:
    return tuple(field.name for field in dataclasses.fields(cls))


def decode(cls: type[T], data: object, problems: Problems | None = None, where: str = "") -> T:
    """Build `cls` from JSON data. Never raises on bad content; what could not be read is told in `problems`."""
    value = decode_or_none(cls, data, problems, where)
    return cls() if value is None else value


def decode_or_none(cls: type[T], data: object, problems: Problems | None = None, where: str = "") -> T | None:
    """Build `cls` as `decode` does; None where the data lacks what `cls` must have."""
    found = problems if problems is not None else []
    value = _dataclass_reader(cls)(data, where or cls.__name__.lower(), found)  # type: ignore[arg-type]
    return None if value is _BAD else typing.cast(T, value)


@functools.cache
def _dataclass_reader(cls: Any) -> _Reader:
    hints = typing.get_type_hints(cls)
    names = [name for name in _field_names(cls) if name not in ("sources", "extra")]
    keeps = "extra" in _field_names(cls)
    required = {
        field.name
        for field in dataclasses.fields(cls)
        if field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING
    }
    readers = {name: _reader(hints[name]) for name in names}

    def read(data: object, where: str, problems: Problems) -> Any:
        if not isinstance(data, Mapping):
            problems.append(f"{where}: expected an object, found {_kind(data)}")
            return _BAD
        values: dict[str, Any] = {}
        for name, reader in readers.items():
            raw = data.get(name)
            if raw is None:
                continue
            value = reader(raw, f"{where}.{name}", problems)
            if value is not _BAD:
                values[name] = value
        if not required <= values.keys():
            problems.append(f"{where}: {', '.join(sorted(required - values.keys()))} missing")
            return _BAD
        if keeps:
            sources = data.get("from")
            if isinstance(sources, Mapping):
                values["sources"] = {str(k): v for k, v in sources.items() if isinstance(v, str)}
            values["extra"] = {str(k): v for k, v in data.items() if k not in readers and k != "from"}
        return cls(**values)

    return read


def _reader(hint: Any) -> _Reader:
    origin = typing.get_origin(hint)
    if origin in (typing.Union, types.UnionType):
        inner = [arg for arg in typing.get_args(hint) if arg is not type(None)]
        return _reader(inner[0])
    if origin is tuple:
        return _tuple_reader(_reader(typing.get_args(hint)[0]))
    if origin is not None and issubclass(origin, Mapping):
        return _mapping_reader(_reader(typing.get_args(hint)[1]))
    if dataclasses.is_dataclass(hint) and isinstance(hint, type):
        return _dataclass_reader(hint)
    return _scalar_reader(hint)


def _tuple_reader(item_reader: _Reader) -> _Reader:
    def read(data: object, where: str, problems: Problems) -> Any:
        if not isinstance(data, (list, tuple)):
            problems.append(f"{where}: expected a list, found {_kind(data)}")
            return _BAD
        items = (item_reader(item, f"{where}[{index}]", problems) for index, item in enumerate(data))
        return tuple(item for item in items if item is not _BAD)

    return read


def _mapping_reader(item_reader: _Reader) -> _Reader:
    def read(data: object, where: str, problems: Problems) -> Any:
        if not isinstance(data, Mapping):
            problems.append(f"{where}: expected an object, found {_kind(data)}")
            return _BAD
        items = {str(key): item_reader(item, f"{where}.{key}", problems) for key, item in data.items()}
        return {key: item for key, item in items.items() if item is not _BAD}

    return read


_TOO_LARGE = 2**63  # no count, size or code of a machine reaches it, and floats end at 2**1024


def _scalar_reader(hint: Any) -> _Reader:
    def read(data: object, where: str, problems: Problems) -> Any:
        if hint is Any:
            return data
        if hint is float and isinstance(data, int) and not isinstance(data, bool):
            try:
                return float(data)
            except OverflowError:
                data = "a number too large"
        if isinstance(data, float) and not math.isfinite(data):
            problems.append(f"{where}: {data} is no finite number")
            return _BAD
        if isinstance(data, int) and abs(data) >= _TOO_LARGE:
            problems.append(f"{where}: the number is too large")
            return _BAD
        if isinstance(data, hint) and not (isinstance(data, bool) and hint is not bool):
            return data
        problems.append(f"{where}: expected {hint.__name__}, found {_kind(data)}")
        return _BAD

    return read


def _kind(data: object) -> str:
    names = {dict: "an object", list: "a list", str: "text", bool: "true/false", int: "a number", float: "a number"}
    return names.get(type(data), "nothing" if data is None else type(data).__name__)
