"""Facts in plain words: "macOS: 14.5", never the name of a field, a `None` or a Python value. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from mpsdoctor.report.words import shorten

SCREEN_LIMIT = 240  # characters of one value on a screen; the whole stands in the JSON
_GIB = 1024**3
# What a fact is called where its own name says too little, or says it in the words of the program.
_LABELS = {
    "host.arm64_capable": "Apple silicon",
    "host.chip": "chip",
    "host.cpu_implementer": "CPU implementer",
    "host.gpu_name": "GPU",
    "host.hypervisor_present": "virtual machine",
    "host.macos_version": "macOS",
    "host.memory_bytes": "memory",
    "interpreter": "Python",
    "interpreter.base_prefix": "base Python",
    "interpreter.binary_architectures": "Python's binary",
    "interpreter.end": "the Python ended",
    "interpreter.executable": "Python",
    "interpreter.machine": "Python's architecture",
    "interpreter.macos_version_seen": "macOS as Python is told",
    "interpreter.platform_tag": "Python's platform tag",
    "interpreter.vendor": "Python from",
    "interpreter.venv_home": "the venv's base",
    "interpreter.version": "Python",
    "torch.allocate": "allocation",
    "torch.allocation": "an allocation on the GPU",
    "torch.available": "GPU available to torch",
    "torch.built": "torch built with MPS",
    "torch.comparisons": "a comparison with the CPU",
    "torch.file": "torch's file",
    "torch.imported": "whether torch can be imported",
    "torch.version": "torch",
    "torch.warnings": "torch warned",
    "packages.distributions": "the installed packages",
    "packages.missing_files": "the files of the packages",
    "packages.torch.missing_files": "files of torch that are missing",
    "conda.configured_channels": "conda's channels",
    "conda.configured_subdir": "conda's setting subdir",
    "conda.packages": "the packages of conda",
    "conda.present": "conda in use",
    "conda.pytorch": "conda's pytorch",
    "conda.subdir": "conda's platform",
    "environment.ci_image": "runner image",
    "environment.shadows": "files that hide torch",
    "environment.variables": "environment variables",
    "binaries.files": "the compiled files",
    "known": "known fault",
    "smoke.train": "the training run",
}
_VARIABLE = re.compile(r"environment\.([A-Z][A-Z0-9_]+)")
_BRACKETS = re.compile(r" \(([^()]*)\)$")
_FIELD = re.compile(r"\b(?:host|interpreter|torch|packages|conda|environment|binaries|messages|smoke)\.[\w.]*\w")


def label(fact: str) -> str:
    """Return what a fact is called in a sentence."""
    if fact in _LABELS:
        return _LABELS[fact]
    if fact.startswith("messages."):
        return "told" if fact.startswith("messages.claims.") else "the message"
    variable = _VARIABLE.fullmatch(fact)
    return variable[1] if variable else fact.split(".", 1)[-1].replace("_", " ")


def telling(fact: str) -> bool:
    """True for a fact that checks rest on, rather than one that only describes."""
    return fact in _LABELS


def words(fact: str, value: Any, home: str | None = None, limit: int = SCREEN_LIMIT) -> str:
    """Return one fact and its value; empty where the value is not known, which is no evidence."""
    shown = _shown(fact, value, home, limit)
    if fact == "known":  # the name of a row of our table; its sources, which follow, say more
        return label(fact)
    if not shown:
        return ""
    return f"{label(fact)}: {shown}"


def _shown(fact: str, value: Any, home: str | None, limit: int) -> str:
    if fact == "host.memory_bytes" and isinstance(value, int):
        return f"{value / _GIB:.0f} GB"
    return _clip(_plain(value, home), limit)


def _plain(value: Any, home: str | None) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Mapping):
        if "name" in value:  # a package, a trial: its name and what is known of it
            return " ".join(_plain(item, home) for item in value.values() if item is not None)
        return ", ".join(f"{key}={_plain(item, home)}" for key, item in value.items())
    if isinstance(value, (list, tuple)):
        return ", ".join(_plain(item, home) for item in value)
    return shorten(str(value), home)


def _clip(text: str, limit: int) -> str:
    return text if len(text) <= limit else text[: limit - 4] + " ..."


def together(items: Iterable[tuple[str, Any, str]], home: str | None = None) -> str:
    """Join facts (name, value, source); neighbours of one source share it: "chip: M1, model: X (sysctl); ..."."""
    groups: list[tuple[str, list[str]]] = []
    for fact, value, source in items:
        text = words(fact, value, home)
        if not text or any(text in told for _, told in groups):
            continue
        if groups and groups[-1][0] == source:
            groups[-1][1].append(text)
        else:
            groups.append((source, [text]))
    return "; ".join(", ".join(told) + (f" ({_place(source, home)})" if source else "") for source, told in groups)


def _place(source: str, home: str | None) -> str:
    """A source that has brackets of its own, "line 3 (the chip's name)", goes into brackets without them."""
    return _BRACKETS.sub(r", \1", shorten(source, home))


def detail(text: str) -> str:
    """Return the detail of a finding; "not known: host.chip" names the fact in plain words."""
    if not text.startswith("not known: "):
        return text
    return _FIELD.sub(lambda found: label(found[0]), text)
