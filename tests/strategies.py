"""hypothesis strategies: arbitrary facts built from the dataclasses themselves, and arbitrary JSON."""

from __future__ import annotations

import dataclasses
import types
import typing
from collections.abc import Mapping
from typing import Any

from hypothesis import strategies as st

from mpsdoctor.facts import Facts
from mpsdoctor.facts.codec import Subject

_TEXT = st.text(max_size=12) | st.sampled_from(
    ["arm64", "x86_64", "Darwin", "Linux", "14.5", "26.6.2", "10.16", "2.14.1", "2.2.2", "3.12.11", "3.9", "Apple M1",
     "osx-64", "osx-arm64", "pass", "wrong", "error", "torch", "numpy", "2.12.0.dev20260316", "cpython", "1.0+cu118",
     "VirtualMac2,1", "interpreter", "openmp", "mach-o", "elf", "import", "exit", "timeout", "signal", "/a/b"]
)  # fmt: skip
_SCALARS: dict[Any, st.SearchStrategy[Any]] = {
    str: _TEXT,
    int: st.integers(-(2**40), 2**40),
    float: st.floats(allow_nan=False, allow_infinity=False, width=32),
    bool: st.booleans(),
}


def _value(hint: Any) -> st.SearchStrategy[Any]:
    origin = typing.get_origin(hint)
    if origin in (typing.Union, types.UnionType):
        inner = next(arg for arg in typing.get_args(hint) if arg is not type(None))
        return st.none() | _value(inner)
    if origin is tuple:
        return st.lists(_value(typing.get_args(hint)[0]), max_size=3).map(tuple)
    if origin is not None and issubclass(origin, Mapping):
        return st.dictionaries(_TEXT, _value(typing.get_args(hint)[1]), max_size=3)
    if dataclasses.is_dataclass(hint):
        return built(hint)
    return st.integers() if hint is Any else _SCALARS[hint]


def built(cls: Any) -> st.SearchStrategy[Any]:
    """Return a strategy for one dataclass of facts."""
    hints = typing.get_type_hints(cls)
    fields = {
        field.name: _value(hints[field.name])
        for field in dataclasses.fields(cls)
        if field.name not in ("extra", "sources", "schema")
    }
    if issubclass(cls, Subject):
        fields["sources"] = st.dictionaries(_TEXT, _TEXT, max_size=2)
    return st.builds(cls, **fields)


@st.composite
def facts(draw: st.DrawFn) -> Facts:
    """Return a strategy for whole facts (composite, so that its own description stays short)."""
    drawn = draw(built(Facts))
    assert isinstance(drawn, Facts)
    return drawn


def json_values() -> st.SearchStrategy[Any]:
    """Return a strategy for any JSON, with the keys of our own format among the keys."""
    keys = st.sampled_from(["schema", "facts", "host", "torch", "packages", "distributions", "from", "name", "files"])
    scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8)
    return st.recursive(
        scalars,
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(keys | st.text(max_size=5), inner, max_size=4),
        max_leaves=12,
    )
