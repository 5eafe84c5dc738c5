"""What holds for every check, whatever it tests."""

from __future__ import annotations

import dataclasses
import json
import types
import typing
from collections.abc import Mapping
from datetime import date
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mpsdoctor import Evidence, Facts
from mpsdoctor.diagnosis import diagnose
from mpsdoctor.facts import encode
from mpsdoctor.knowledge import causes
from mpsdoctor.registry import SECTIONS, Check, judge, load_registry
from mpsdoctor.verdict import CERTAIN, CRASH, FAIL, LIKELY, POSSIBLE, UNKNOWN, WARN

TODAY = date(2026, 12, 1)
PREFIXES = {
    "hardware": "HW",
    "macos": "OS",
    "ci": "CI",
    "python": "PY",
    "environment": "EN",
    "conda": "CO",
    "packages": "PK",
    "torch": "TO",
    "mps": "MP",
}


def registered() -> tuple[Check, ...]:
    return load_registry().checks


def test_every_plug_in_loads_and_no_id_is_taken_twice() -> None:
    assert load_registry().broken == {}
    assert len(registered()) >= len(PREFIXES)


@pytest.mark.parametrize("item", registered(), ids=lambda item: item.id)
class TestEachCheck:
    def test_docstring_says_what_why_remedy_and_source(self, item: Check) -> None:
        assert tuple(item.sections) == SECTIONS
        assert all(item.sections.values())
        assert item.title.endswith(".")

    def test_id_has_the_prefix_of_its_family(self, item: Check) -> None:
        same = {other.id[:2] for other in registered() if other.family == item.family}
        assert same == {PREFIXES.get(item.family, item.id[:2])}
        assert item.id[:2] not in {other.id[:2] for other in registered() if other.family != item.family}
        assert item.id[2:].isdigit()
        assert len(item.id) == 5

    def test_its_causes_are_in_the_vocabulary(self, item: Check) -> None:
        named = {slug for slug in (item.cause, *item.causes) if slug}
        assert named <= {one.slug for one in causes.causes()}

    def test_the_checks_that_it_names_exist_and_are_not_itself(self, item: Check) -> None:
        known = {other.id for other in registered()}
        assert {*item.needs, *item.explained_by} <= known - {item.id}

    def test_without_facts_it_neither_passes_nor_fails(self, item: Check) -> None:
        finding = next(f for f in judge(Facts(), load_registry(), today=TODAY) if f.id == item.id)
        assert finding.outcome in (UNKNOWN, "skip") or item.last_resort


def test_each_check_stands_behind_those_that_it_names() -> None:
    places = {item.id: place for place, item in enumerate(registered())}
    late = [(i.id, n) for i in registered() for n in (*i.needs, *i.explained_by) if places[n] > places[i.id]]
    assert late == []


# Values that checks compare with; beside them anything else.
KNOWN_TEXTS: Mapping[str, tuple[str, ...]] = {
    "system": ("Darwin", "Linux", "Windows"),
    "machine": ("arm64", "x86_64", "i386"),
    "macos_version": ("10.16", "12.2", "13.7.4", "14.4", "15.5", "16.0", "26.2", "27"),
    "macos_version_seen": ("10.16", "15.5"),
    "chip": ("Apple M1", "Apple M4 Max", "Apple M1 (Virtual)", "Intel(R) Core(TM) i7"),
    "model": ("Mac14,9", "VirtualMac2,1"),
    "version": (
        "1.11.0",
        "2.2.2",
        "2.5.1",
        "2.9.1",
        "2.14.1",
        "2.15.0",
        "2.12.0.dev20260316",
        "2.5.1+cu121",
        "3.12.11",
    ),
    "implementation": ("cpython", "pypy"),
    "name": ("torch", "torchvision", "torchaudio", "numpy", "pytorch", "libtorch", "random", "libblas", "libopenblas"),
    "kind": ("mach-o", "universal", "elf", "pe", "missing", "truncated", "file", "folder", "checkout"),
    "role": ("torch", "torch-extension", "openmp", "numpy", "extension", "interpreter"),
    "architectures": ("arm64", "arm64e", "x86_64"),
    "binary_architectures": ("arm64", "x86_64"),
    "libraries": ("@rpath/libomp.dylib", "@loader_path/libomp.dylib", "/usr/local/lib/libiomp5.dylib"),
    "rpaths": ("@loader_path", "/opt/lib"),
    "path": ("/e/lib/libomp.dylib", "/e/lib/libiomp5.dylib", "/e/site-packages/torch/lib/libomp.dylib", "/p/torch.py"),
    "file": ("/p/torch.py", "/e/site-packages/torch/__init__.py"),
    "prefix": ("/e",),
    "location": ("/e/site-packages", "/u/site-packages"),
    "site_packages": ("/e/site-packages",),
    "installer": ("pip", "uv", "conda"),
    "channel": ("conda-forge", "pkgs/main", "pytorch", "pypi"),
    "subdir": ("osx-64", "osx-arm64", "noarch"),
    "configured_subdir": ("osx-64", "osx-arm64"),
    "build": ("cpu_py312h0", "gpu_mps_py312", "openmp_0", "1_mkl"),
    "outcome": ("pass", "wrong", "error", "crash", "stalled"),
    "how": ("exit", "signal", "timeout", "not-started"),
    "stage": ("import", "ask", "allocate", "done"),
    "message": ("No module named 'torch'", "OMP: Error #15: x", "Library not loaded: @rpath/libomp.dylib", ""),
    "stderr_tail": ("OMP: Error #15: Initializing libomp.dylib", "Fatal Python error"),
    "ci_image": ("macos15 20260101.1", "macos26"),
    "requires": ("torch==2.14.1", "torch>=2.11", "!! no requirement", "numpy"),
    "warnings": ("Failed to initialize NumPy",),
}
VARIABLES = (
    "PYTORCH_MPS_HIGH_WATERMARK_RATIO",
    "PYTORCH_MPS_LOW_WATERMARK_RATIO",
    "PYTORCH_ENABLE_MPS_FALLBACK",
    "PYTORCH_MPS_DISABLE",
    "KMP_DUPLICATE_LIB_OK",
    "CONDA_SUBDIR",
    "PIP_EXTRA_INDEX_URL",
    "UV_TORCH_BACKEND",
    "UV_PYTHON",
    "VIRTUAL_ENV",
)
VALUES = ("0", "0.7", "1", "nan", "false", "cu121", "osx-64", "https://download.pytorch.org/whl/cu121", "/e")


def facts_of(hint: Any, name: str) -> st.SearchStrategy[Any]:
    """A strategy for one type of fact, made from the type's own description."""
    origin, inner = typing.get_origin(hint), typing.get_args(hint)
    if origin in (typing.Union, types.UnionType):
        return st.none() | facts_of(next(i for i in inner if i is not type(None)), name)
    if origin is tuple:
        return st.lists(facts_of(inner[0], name), max_size=4).map(tuple)
    if origin is not None and issubclass(origin, Mapping):
        if name == "variables":
            return st.dictionaries(
                st.sampled_from(VARIABLES), st.sampled_from(VALUES) | st.text(max_size=5), max_size=4
            )
        return st.dictionaries(st.text(max_size=5), facts_of(inner[1], name), max_size=2)
    if dataclasses.is_dataclass(hint):
        hints = typing.get_type_hints(hint)
        fields = [f.name for f in dataclasses.fields(hint) if f.name not in ("sources", "extra", "schema")]
        return st.builds(hint, **{field: facts_of(hints[field], field) for field in fields})
    if hint is str:
        text = st.text(max_size=8)
        return st.sampled_from(KNOWN_TEXTS[name]) | text if name in KNOWN_TEXTS else text
    return {bool: st.booleans(), int: st.integers(), float: st.floats()}[hint]


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(facts=facts_of(Facts, "facts"))
def test_no_check_breaks_on_any_facts_and_every_verdict_can_be_told(facts: Facts) -> None:
    for item in registered():
        values = {"facts": facts, "today": TODAY}
        verdict = item(**{n: values[n] if n in values else getattr(facts, n) for n in item.parameters})
        assert verdict.confidence in (CERTAIN, LIKELY, POSSIBLE)
        json.dumps(encode(verdict))
        if verdict.outcome in (FAIL, WARN):
            assert verdict.detail
            assert verdict.cause or item.cause
            assert (verdict.cause or item.cause) in {item.cause, *item.causes} | {c.slug for c in causes.causes()}
            assert all(remedy.text for remedy in verdict.remedies)
            assert verdict.remedies
        if verdict.outcome == UNKNOWN:
            assert verdict.missing
        assert all(isinstance(one, Evidence) for one in verdict.evidence)
        assert all(isinstance(word, str) for remedy in verdict.remedies for line in remedy.commands for word in line)


@settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(facts=facts_of(Facts, "facts"))
def test_a_whole_run_gives_a_diagnosis_on_any_facts(facts: Facts) -> None:
    findings = judge(facts, load_registry(), today=TODAY)
    assert CRASH not in {finding.outcome for finding in findings}
    diagnosis = diagnose(findings, facts)
    assert (diagnosis.verdict == "healthy") <= (facts.torch.usable is True)
