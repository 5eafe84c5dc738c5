"""What each known label of a ticket says: one reader for each kind of answer.

One table maps the many spellings of a label, in the languages that tickets come in, to one reader.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from mpsdoctor.probes.intake import apply, conda_labels, values
from mpsdoctor.probes.intake.collector import FORM, PRINTED, Collector
from mpsdoctor.probes.intake.conda_labels import yes
from mpsdoctor.probes.intake.spellings import SPELLINGS

Reader = Callable[[Collector, str, int], None]


def package(into: Collector, name: str, value: str, line: int) -> None:
    """Read the version of an installed package."""
    version = re.match(r"[=v\s]{0,4}(\d[\w.+!]{0,40})", value)
    if version:
        into.package(name, version[1], line, FORM)


def _os(into: Collector, value: str, line: int) -> None:
    for found in values.platforms(value):
        apply.platform(into, found, line)
        return
    apply.system(into, value, line, FORM)
    apply.hardware(into, value, line, FORM)
    machine = re.search(r"\((arm64|x86_64)\)", value)
    if machine and into.get("host", "system") in (None, "Darwin"):
        into.put("interpreter", "machine", machine[1], line, FORM, how="the architecture beside the system")


def _macos(into: Collector, value: str, line: int) -> None:
    found = re.match(r"\D{0,12}(\d{2}(?:\.\d{1,2}){0,2})(?![\d])", value)
    if found:
        apply.macos(into, found[1], line, FORM, bare=True)
    else:
        apply.macos(into, value, line, FORM, bare=True)
    apply.hardware(into, value, line, FORM)


def _chip(into: Collector, value: str, line: int) -> None:
    apply.hardware(into, value, line, FORM)
    apply.macos(into, value, line, FORM)
    if apply.architecture(value) == "arm64" and re.fullmatch(r"arm(?:64e?)?|aarch64", value.lower()):
        _architecture(into, value, line)
    if value.lower().startswith("intel"):
        into.put("host", "chip", "Intel", line, FORM)


def _memory(into: Collector, value: str, line: int) -> None:
    if value.isdigit() and len(value) > 6:  # sysctl hw.memsize, bytes
        into.put("host", "memory_bytes", int(value[:18]), line, PRINTED)
    else:
        apply.memory(into, value, line, FORM, labelled=True)


def _hardware_architecture(into: Collector, value: str, line: int) -> None:
    machine = apply.architecture(value)
    if machine:
        into.put("host", "arm64_capable", machine == "arm64", line, FORM, how="the hardware's architecture")


def _architecture(into: Collector, value: str, line: int) -> None:
    """An architecture without a word on whose it is: arm64 proves the hardware, x86_64 only the process."""
    machine = apply.architecture(value)
    into.put("host", "machine", machine, line, FORM)
    if machine == "arm64":
        into.put("host", "arm64_capable", True, line, FORM, how="its architecture is arm64")
    elif machine:
        into.put("interpreter", "machine", machine, line, FORM)


def _python_architecture(into: Collector, value: str, line: int) -> None:
    into.put("interpreter", "machine", apply.architecture(value), line, PRINTED)


def _arm64_capable(into: Collector, value: str, line: int) -> None:
    if value in ("0", "1"):
        into.put("host", "arm64_capable", value == "1", line, PRINTED)


def _translated(into: Collector, value: str, line: int) -> None:
    if value in ("0", "1"):
        into.put("host", "shell_translated", value == "1", line, PRINTED)


def _hypervisor(into: Collector, value: str, line: int) -> None:
    said = yes(value)
    into.put("host", "hypervisor_present", said, line, FORM)


def _python(into: Collector, value: str, line: int) -> None:
    apply.python(into, value, line, FORM)
    for word in ("arm64", "x86_64"):
        if re.search(rf"\b{word}\b", value):
            into.put("interpreter", "machine", word, line, FORM)


def _python_from(into: Collector, value: str, line: int) -> None:
    apply.vendor(into, value, line, FORM)


def _torch(into: Collector, value: str, line: int) -> None:
    apply.torch(into, values.torch_version(value), line, FORM)


def _wants(name: str) -> Reader:
    def read(into: Collector, value: str, line: int) -> None:
        package(into, name, value, line)

    return read


def _built(into: Collector, value: str, line: int) -> None:
    into.put("torch", "built", yes(value), line, FORM)


def _available(into: Collector, value: str, line: int) -> None:
    into.put("torch", "available", yes(value), line, FORM)


def _cuda_build(into: Collector, value: str, line: int) -> None:
    if re.fullmatch(r"\d{1,2}\.\d{1,2}", value):
        into.put("torch", "cuda", value, line, FORM)


def _platform(into: Collector, value: str, line: int) -> None:
    conda_labels.platform(into, value, line)
    if not any(values.platforms(value)):
        _os(into, value, line)


def _user_agent(into: Collector, value: str, line: int) -> None:
    found = re.search(r"\bOSX/(\d{2}(?:\.\d{1,2}){0,2})\b", value)
    if found:
        apply.macos(into, found[1], line, FORM, bare=True)


def _build(into: Collector, value: str, line: int) -> None:
    if re.fullmatch(r"\d{2}[A-Z]\d{2,5}[a-z]?", value):
        into.put("host", "macos_build", value, line, FORM)
        into.put("host", "system", "Darwin", line, FORM)


def _model(into: Collector, value: str, line: int) -> None:
    apply.hardware(into, value, line, FORM)


def _metal(into: Collector, value: str, line: int) -> None:
    into.put("host", "metal_support", value[:60], line, PRINTED)


def _ignore(into: Collector, value: str, line: int) -> None:
    """A label that is known and says nothing about a Mac; its value must not be taken for prose."""


_BY_NAME: dict[str, Reader] = {
    "os": _os,
    "macos": _macos,
    "chip": _chip,
    "memory": _memory,
    "hardware_architecture": _hardware_architecture,
    "architecture": _architecture,
    "python_architecture": _python_architecture,
    "arm64_capable": _arm64_capable,
    "translated": _translated,
    "hypervisor": _hypervisor,
    "python": _python,
    "python_from": _python_from,
    "torch": _torch,
    "torchvision": _wants("torchvision"),
    "torchaudio": _wants("torchaudio"),
    "numpy": _wants("numpy"),
    "built": _built,
    "available": _available,
    "cuda_build": _cuda_build,
    "conda": conda_labels.environment,
    "conda_channel": conda_labels.channels,
    "platform": _platform,
    "user_agent": _user_agent,
    "build": _build,
    "model": _model,
    "metal": _metal,
    "ignore": _ignore,
}
READERS: dict[str, Reader] = {
    name.strip(): _BY_NAME[what] for what, names in SPELLINGS.items() for name in names.split("|")
}
