"""What forms and conda itself say of conda: packages, channels, the platform."""

from __future__ import annotations

import re

from mpsdoctor.facts import CondaPackage
from mpsdoctor.probes.intake import apply
from mpsdoctor.probes.intake.collector import FORM, PRINTED, Collector

_YES = frozenset(
    {"true", "yes", "1", "ja", "oui", "si", "sí", "да", "是", "はい", "y", "✅", "available", "ok", "可用", "mps"}
)
_NO = frozenset(
    {"false", "no", "0", "nein", "non", "нет", "否", "いいえ", "n", "❌", "unavailable", "not available", "不可用"}
)


def environment(into: Collector, value: str, line: int) -> None:
    """Read one line of conda list behind the label conda, or the answer whether conda is in use."""
    package = conda_package(value)
    if package is not None:
        into.conda_package(package)
        into.put("conda", "present", True, line, FORM)
        if package.name in ("pytorch", "torch"):
            apply.torch(into, package.version, line, FORM)
    elif yes(value) is True:
        into.put("conda", "present", True, line, FORM)


def conda_package(text: str) -> CondaPackage | None:
    """Read one line of conda list: name, version, build and channel."""
    parts = text.split()
    if not 2 <= len(parts) <= 5 or not re.fullmatch(r"[a-z0-9_][\w.-]{0,80}", parts[0]) or not parts[1][:1].isdigit():
        return None
    build = parts[2] if len(parts) > 2 else None
    channel = parts[3] if len(parts) > 3 else None
    if channel and "/" in channel and channel.rsplit("/", 1)[1] in ("osx-64", "osx-arm64", "noarch"):
        channel, subdir = channel.rsplit("/", 1)
        return CondaPackage(name=parts[0], version=parts[1], build=build, channel=channel, subdir=subdir)
    return CondaPackage(name=parts[0], version=parts[1], build=build, channel=channel)


def channels(into: Collector, value: str, line: int) -> None:
    """Read the channels that are configured."""
    channels = tuple(re.findall(r"[\w./-]{2,60}", value)[:8])
    into.put("conda", "present", True, line, FORM)
    into.put("conda", "configured_channels", channels or None, line, FORM)


def platform(into: Collector, value: str, line: int) -> None:
    """Read what conda itself runs as, where the value is one of its platforms."""
    if value in ("osx-64", "osx-arm64", "linux-64", "linux-aarch64", "win-64"):
        into.put("conda", "tool_platform", value, line, PRINTED)
        into.put("host", "system", {"o": "Darwin", "l": "Linux", "w": "Windows"}[value[0]], line, PRINTED)
        if value == "osx-arm64":
            into.put("host", "arm64_capable", True, line, PRINTED, how="conda's platform")


def yes(value: str) -> bool | None:
    """Return yes or no for a value in any of the languages; None for anything else."""
    word = value.strip(" .`*'\"").lower()
    first = re.split(r"[\s(,;]", word, maxsplit=1)[0]
    if word in _YES or first in _YES:
        return True
    return False if word in _NO or first in _NO else None
