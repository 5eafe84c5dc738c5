"""What machine messages prove of the machine and the Python behind them."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable
from functools import cache

from mpsdoctor.facts import Message
from mpsdoctor.knowledge import releases
from mpsdoctor.probes.intake import apply, values
from mpsdoctor.probes.intake.collector import IMPLIED, PRINTED, Collector
from mpsdoctor.probes.intake.text import Line

# Where a list of versions on the index begins for each Python, for releases older than the table's first.
_FIRST_BEFORE_TABLE = {"1.11.0": "3.10", "1.8.0": "3.9", "1.7.1": "3.9"}
_LAST_X86 = {"torch": "2.2.2", "torchaudio": "2.2.2", "torchvision": "0.17.2"}
_ENV_PATH = re.compile(r"(?P<prefix>(?:/|~/|env/)[^\s'\",:()]{0,200}?)/lib/python3\.\d{1,2}/")
_CONDA_PATH = re.compile(r"(?:mini(?:conda|forge)|anaconda|mambaforge|micromamba)3?/", re.IGNORECASE)
_DARWIN_KERNEL = re.compile(
    r"Darwin Kernel Version (\d{2})\.[\d.]{1,8}:[^\n]{0,120}?RELEASE_(ARM64|X86_64)(?:_(\w{3,10}))?"
)


def imply(into: Collector, messages: Iterable[Message]) -> None:
    """Read what each message proves: pip's list an architecture and a Python, a tag the platform."""
    for message in messages:
        parts, line = message.values or {}, message.line or 0
        if "last" in parts:
            _version_list(into, parts, line)
        if "tag" in parts:
            _tag(into, parts["tag"], parts.get("version"), line)
        if "need" in parts:
            machine = apply.architecture(parts["need"])
            into.put("interpreter", "machine", machine, line, IMPLIED, how="the architecture that the loader needs")
            into.put("host", "system", "Darwin", line, IMPLIED, how="a message of macOS's loader")
        if "Paravirtual" in message.text:
            into.put("host", "gpu_name", "Apple Paravirtual device", line, IMPLIED)
        if message.id == "uv-pypy":
            into.put("interpreter", "implementation", "pypy", line, PRINTED)


def _version_list(into: Collector, parts: dict[str, str] | object, line: int) -> None:
    assert isinstance(parts, dict)
    name, first, last = parts.get("name", "").lower(), parts["first"], parts["last"]
    if _LAST_X86.get(name) == last:
        into.put("interpreter", "machine", "x86_64", line, IMPLIED, how=f"pip's list of versions ends at {last}")
    if name == "torch" and int(parts.get("offered", "0")) > 3:
        into.put("interpreter", "version", _python_of_first(first), line, IMPLIED, how=f"pip's list begins at {first}")


@cache
def _python_of_first(first: str) -> str | None:
    """The Python whose first macOS build of torch is this release, where exactly one is."""
    if first in _FIRST_BEFORE_TABLE:
        return _FIRST_BEFORE_TABLE[first]
    known = releases.releases()
    for before, one in itertools.pairwise(known):
        if one.version == first:
            new = [p for p in one.pythons("arm64") if not p.endswith("t") and p not in before.pythons("arm64")]
            return new[0] if len(new) == 1 else None
    return None


def _tag(into: Collector, tag: str, version: str | None, line: int) -> None:
    platform = values.PLATFORM_TAG.search(tag)
    if platform:
        into.put("host", "system", "Darwin", line, PRINTED)
        if platform["machine"] != "universal2":
            into.put("interpreter", "machine", platform["machine"], line, PRINTED, how=f"the tag {tag}")
            into.put("interpreter", "platform_tag", tag, line, PRINTED)
        into.put("interpreter", "macos_version_seen", f"{platform['major']}.{platform['minor']}", line, PRINTED)
        major = platform["major"]
        if major.isdigit() and values.plausible_macos(major) and major != "10":
            apply.macos(into, major, line, IMPLIED, bare=True)
    elif tag.startswith(("manylinux", "musllinux", "linux")):
        into.put("host", "system", "Linux", line, PRINTED)
    elif tag.startswith("win"):
        into.put("host", "system", "Windows", line, PRINTED)
    elif version and re.fullmatch(r"3\d{1,2}t?", tag):
        into.put("interpreter", "version", version, line, PRINTED)
        into.put("interpreter", "implementation", "cpython", line, PRINTED)
        into.put("interpreter", "free_threaded", True if tag.endswith("t") else None, line, PRINTED)


def paths(into: Collector, line: Line) -> None:
    """Read what a path or a kernel's name in one line tells."""
    text = line.text
    if "Darwin Kernel" in text and (kernel := _DARWIN_KERNEL.search(text)):
        into.put("host", "system", "Darwin", line.number, PRINTED)
        into.put("host", "arm64_capable", kernel[2] == "ARM64", line.number, PRINTED, how="the kernel's name")
        into.put("host", "hypervisor_present", True if kernel[3] == "VMAPPLE" else None, line.number, PRINTED)
    if "linuxkit" in text:
        into.put("host", "system", "Linux", line.number, PRINTED)
        if into.get("host", "kernel") is None:
            machine = re.search(r"\b(aarch64|arm64|x86_64|amd64)\b", text[:2_000])
            into.put("host", "kernel", text[:200].strip(), line.number, PRINTED)
            into.put("host", "machine", machine[1] if machine else None, line.number, PRINTED)
        into.put("host", "container", "docker", line.number, PRINTED, how="Docker's kernel")
    if "[PyPy " in text:  # the second half of its banner, which may have been wrapped
        into.put("interpreter", "implementation", "pypy", line.number, PRINTED)
    if "python3." in text or "-darwin.so" in text or "/Versions/3." in text:
        _python_path(into, line)


def _python_path(into: Collector, line: Line) -> None:
    text = line.text
    found = values.PYTHON_PATH.search(text) or values.EXTENSION.search(text)
    if found:
        version = found.groupdict().get("version") or f"3.{found['minor']}"
        if into.get("interpreter", "version") is None:
            into.put("interpreter", "version", version, line.number, IMPLIED, how="a path")
    if _CONDA_PATH.search(text) and "/lib/python3" in text:
        into.put("conda", "present", True, line.number, IMPLIED, how="a path")
    if "/opt/homebrew/" in text:
        into.put("host", "arm64_capable", True, line.number, IMPLIED, how="Homebrew for Apple silicon")
    prefix = _ENV_PATH.search(text)
    if prefix and prefix["prefix"].startswith("/"):
        into.put("interpreter", "prefix", prefix["prefix"], line.number, IMPLIED, how="a path in the traceback")
