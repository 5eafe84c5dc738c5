"""Turns one recognised value into statements: an operating system, a chip, an architecture, a version."""

from __future__ import annotations

import re

from mpsdoctor.facts.messages import BY_PLACE
from mpsdoctor.knowledge import chips
from mpsdoctor.probes.intake import containers, values
from mpsdoctor.probes.intake.collector import IMPLIED, PRINTED, PROSE, Collector

PLACE = BY_PLACE.strip(" ()")
_MAC = re.compile(r"\bmac\s?os|\bmac\b|\bos\s?x\b|\bdarwin\b|\bmac\s?book|\bi?mac\b", re.IGNORECASE | re.ASCII)
_WINDOWS = re.compile(r"\bwin(?:dows|10|11|32|64)\b|\bwin\s?1[01]\b", re.IGNORECASE | re.ASCII)
# In a story: a machine of the writer's, and not only "it works on Windows".
_WINDOWS_TOLD = re.compile(
    r"\bwindows\s?(?:1[01]|laptop|pc|machine|desktop|computer|notebook)\b|\bwin\s?1[01]\b", re.IGNORECASE | re.ASCII
)
_LINUX = re.compile(
    r"\blinux\b|\bubuntu\b|\bdebian\b|\bcentos\b|\bfedora\b|\brhel\b|\brocky\b|\balpine\b|\bmanjaro\b|\barch linux\b"
    r"|\bpop!?_os\b|\bnixos\b|\bgentoo\b|\bwsl\s?2?\b|\braspbian\b",
    re.IGNORECASE | re.ASCII,
)
_INTEL_MAC = re.compile(
    r"\b(?:i?mac|hackintosh)\w*\b[^\n]{0,40}\bintel\b|\bintel\b[^\n]{0,40}\bi?mac", re.IGNORECASE | re.ASCII
)
_INTEL_YEAR = re.compile(r"\bi?mac\w*\b[^\n]{0,40}\b(?:201\d|late 2019|mid 2020 intel)\b", re.IGNORECASE | re.ASCII)
_MODEL = re.compile(r"\b(?:Virtual)?Mac(?:Book(?:Air|Pro)?|mini|Pro)?\d{1,2},\d{1,2}\b|\biMac(?:Pro)?\d{1,2},\d{1,2}\b")
_ARM, _INTEL = (
    ("arm64", "aarch64", "arm64e", "arm"),
    ("x86_64", "x86_64h", "x86-64", "amd64", "i386", "intel", "x64", "x86"),
)
_PYPY = re.compile(r"\b(pypy|graalpy|jython|micropython)\b", re.IGNORECASE | re.ASCII)


def system(into: Collector, text: str, line: int, rank: int) -> None:
    """Read what a form or a program says of the operating system."""
    kinds = [
        name for name, pattern in (("Darwin", _MAC), ("Windows", _WINDOWS), ("Linux", _LINUX)) if pattern.search(text)
    ]
    if kinds == ["Darwin", "Linux"] and containers.named(text):
        kinds = ["Linux"]
    if len(kinds) == 1:
        into.put("host", "system", kinds[0], line, rank)
    if re.search(r"\bwsl\b|microsoft-standard", text, re.IGNORECASE | re.ASCII):
        into.put("host", "wsl", True, line, rank)
    containers.container(into, text, line, rank)
    macos(into, text, line, rank)


def macos(into: Collector, text: str, line: int, rank: int, *, bare: bool = False) -> None:
    """Read a macOS version; `bare`: the label says macOS, so that a lone number is one."""
    for _, version in values.macos_versions(f"macOS {text}" if bare else text):
        if version.startswith("10.16"):
            into.put("interpreter", "macos_version_seen", version, line, rank)
        else:
            into.put("host", "macos_version", _true(version), line, rank)
        into.put("host", "system", "Darwin", line, rank)
        return


def _true(version: str) -> str:
    """Programs linked against an SDK before 26 are told 16.x for 26.x."""
    return f"26{version[2:]}" if version == "16" or version.startswith("16.") else version


def hardware(into: Collector, text: str, line: int, rank: int) -> None:
    """Read chip, model and memory out of a text about the machine."""
    chip = values.chip(text)
    model = _MODEL.search(text)
    if chip:
        into.put("host", "chip", chip, line, rank)
    elif _is_intel(text):
        into.put("host", "chip", _intel_name(text), line, rank)
    elif values.SILICON.search(text):
        into.put("host", "chip", "Apple silicon", line, rank)
    elif re.search(r"\bAMD (?:Ryzen|EPYC|Threadripper)", text):
        into.put("host", "chip", text[:60].strip(), line, rank)
    if "paravirtual" in text.lower():
        into.put("host", "gpu_name", "Apple Paravirtual device", line, rank)
    if model:
        into.put("host", "model", model[0], line, rank)
        known = chips.chip_of_model(model[0])
        into.put("host", "chip", known.name if known else None, line, IMPLIED, how=f"by the model {model[0]}")
    memory(into, text, line, rank)


def _is_intel(text: str) -> bool:
    if values.INTEL.search(text):
        return True
    named = _INTEL_YEAR.search(text) or _INTEL_MAC.search(text)
    return bool(named) and not values.SILICON.search(text)


def _intel_name(text: str) -> str:
    found = re.search(r"Intel\(R\)[^\n,;]{1,60}", text)
    return found[0].strip() if found else "Intel"


def memory(into: Collector, text: str, line: int, rank: int, *, labelled: bool = False) -> None:
    """Read the size of the memory, where the text speaks of memory or of a Mac and its chip."""
    if labelled and (bare := re.fullmatch(r"\s*(\d{1,3})\s*", text)):
        text = f"{bare[1]} GB"
    if labelled or values.MEMORY_WORD.search(text) or values.chip(text):
        into.put("host", "memory_bytes", values.memory_bytes(text), line, rank)


def architecture(text: str) -> str | None:
    """Return arm64 or x86_64 for any of their names at the start of a value."""
    word = re.match(r"\s*['\"`(]?([\w-]+)", text)
    name = word[1].lower() if word else ""
    return "arm64" if name in _ARM else "x86_64" if name in _INTEL else None


def platform(into: Collector, found: values.Platform, line: int) -> None:
    """Read a platform name, which the Python at work gives of itself."""
    into.put("host", "system", found.system, line, PRINTED)
    into.put("interpreter", "platform_text", found.text, line, PRINTED)
    machine = architecture(found.machine or "")
    if found.system == "Darwin":
        into.put("interpreter", "machine", machine, line, PRINTED, how="Python's platform name")
        if not found.text.startswith("macOS"):
            return
        into.put("interpreter", "macos_version_seen", found.version, line, PRINTED)
        true = not found.version.startswith("10.16") and re.fullmatch(r"\d{2}(?:\.\d{1,2}){0,2}", found.version)
        if true and values.plausible_macos(found.version):
            into.put("host", "macos_version", _true(found.version), line, IMPLIED, how="Python's platform name")
        return
    into.put("interpreter", "machine", found.machine, line, PRINTED)
    into.put("host", "machine", found.machine, line, PRINTED)
    into.put("host", "kernel", found.text, line, PRINTED)
    if "linuxkit" in found.text:
        into.put("host", "container", "docker", line, PRINTED, how="Docker's kernel")
    if "microsoft" in found.text.lower():
        into.put("host", "wsl", True, line, PRINTED)


def python(into: Collector, text: str, line: int, rank: int, *, how: str = "") -> None:
    """Read a Python version and what else the value tells: implementation, vendor, architecture."""
    other = _PYPY.search(text)
    if other:
        into.put("interpreter", "implementation", other[1].lower(), line, rank, how=how)
    found = values.python_version(text)
    if found is None:
        return
    into.put("interpreter", "version", found[0], line, rank, how=how)
    if found[1]:
        into.put("interpreter", "free_threaded", True, line, rank, how=how)
    if not other and "CPython" in text:
        into.put("interpreter", "implementation", "cpython", line, rank)
    vendor(into, text, line, rank)


def vendor(into: Collector, text: str, line: int, rank: int) -> None:
    """Read who built the Python, from a version text or an answer in a form."""
    lowered = text.lower()
    for word, name in (
        ("conda-forge", "conda-forge"),
        ("anaconda", "anaconda"),
        ("homebrew", "homebrew"),
        ("pyenv", "pyenv"),
        ("python.org", "python.org"),
        ("miniforge", "conda-forge"),
        ("conda", "anaconda"),
    ):
        if word in lowered:
            into.put("interpreter", "vendor", name, line, rank)
            if "conda" in name or "conda" in word:
                into.put("conda", "present", True, line, rank)
            return


def torch(into: Collector, version: str | None, line: int, rank: int) -> None:
    """Read the version of torch. One with a suffix that no wheel for macOS has is wanted, not installed, on a Mac."""
    into.put("torch", "version", version, line, rank)


def loose(into: Collector, text: str, line: int, rank: int = PROSE) -> None:
    """Read everything that free text can tell of a machine and its Python."""
    macos(into, text, line, rank)
    hardware(into, text, line, rank)
    for pattern, take in ((values.PYTHON, python), (values.TORCH, None)):
        found = pattern.search(text)
        if found and take:
            take(into, found[0], line, rank)
        elif found:
            torch(into, found["version"], line, rank)
    containers.told(into, text, line, rank)
    if not _MAC.search(text) and values.chip(text) is None:
        for name, pattern in (("Linux", _LINUX), ("Windows", _WINDOWS_TOLD)):
            if pattern.search(text):
                into.put("host", "system", name, line, rank)
    if _PYPY.search(text):
        into.put("interpreter", "implementation", _PYPY.search(text)[1].lower(), line, rank)  # type: ignore[index]
