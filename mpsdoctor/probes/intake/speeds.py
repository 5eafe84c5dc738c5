"""Speeds that people give for the CPU and for the GPU, and which of the two is faster."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

_NUMBER = re.compile(
    r"(?<![\w.])(?P<number>\d{1,7}(?:[.,]\d{1,9})?)\s?(?P<unit>it/s|its/s|iter(?:ations?)?/s(?:ec)?|steps?/s(?:ec)?|tok(?:en)?s?/s(?:ec)?|samples?/s|img/s|images?/s|fps"
    r"|s/it|sec/it|s/step|s/img|s/epoch|ms|[uµμ]s|seconds?|secs?|minutes?|mins?|hours?|秒/?(?:张|步|次)?|毫秒|分钟?|小时|秒|分|時間|sekunden?|minuten?|s(?![\w]))",
    re.IGNORECASE | re.ASCII,
)
_DEVICE = re.compile(r"\b(?P<cpu>cpu)\b|(?P<gpu>\bmps\b|\bgpu\b|\bmetal\b)", re.IGNORECASE | re.ASCII)
_REACH = 60  # characters between a device and the number that belongs to it
_RATE = re.compile(r"/s|fps", re.IGNORECASE)
_SECONDS = {
    "ms": 0.001,
    "us": 1e-6,
    "µs": 1e-6,
    "μs": 1e-6,
    "毫": 0.001,
    "min": 60,
    "分": 60,
    "h": 3600,
    "小": 3600,
    "時": 3600,
}


@dataclass(frozen=True)
class Speeds:
    """Two speeds as they were written, and `ratio`: how many times the GPU is as fast as the CPU."""

    cpu: str
    gpu: str
    ratio: float


def names_a_device(text: str) -> bool:
    """True for a line that names the CPU or the GPU and holds a number with a unit."""
    return bool(_DEVICE.search(text)) and bool(_NUMBER.search(text))


def beside(texts: Sequence[tuple[int, str]]) -> list[tuple[int, str]]:
    """The lines, each with its number, that name a device and a number; also where the number stands on the next."""
    found = []
    for (number, text), (_, following) in itertools.zip_longest(texts, texts[1:], fillvalue=(0, "")):
        if names_a_device(text):
            found.append((number, text))
        elif _DEVICE.search(text) and _NUMBER.search(following) and not _DEVICE.search(following):
            found.append((number, f"{text} {following}"))
    return found


def compare(texts: Sequence[str]) -> Speeds | None:
    """Find one number for the CPU and one for the GPU, of one kind. None where there is no such pair."""
    text = " ; ".join(texts)
    found: dict[str, tuple[str, float, bool]] = {}
    for device, number, unit, start, at in _pairs(text):
        rate = bool(_RATE.search(unit)) and not re.search(r"^(?:s|sec)/", unit, re.IGNORECASE)
        value = float(number.replace(",", ".")) * (1.0 if rate else _factor(unit))
        if device not in found and value > 0 and at >= start:
            found[device] = (f"{number} {unit}", value, rate)
    if {"cpu", "gpu"} - found.keys() or found["cpu"][2] != found["gpu"][2]:
        return None
    cpu, gpu, rate = found["cpu"][1], found["gpu"][1], found["cpu"][2]
    return Speeds(found["cpu"][0], found["gpu"][0], gpu / cpu if rate else cpu / gpu)


def _pairs(text: str) -> Iterator[tuple[str, str, str, int, int]]:
    """Each number with the device named last before it."""
    devices = [(match.start(), "cpu" if match["cpu"] else "gpu") for match in _DEVICE.finditer(text)]
    for number in _NUMBER.finditer(text):
        before = [(start, name) for start, name in devices if number.start() - _REACH <= start < number.start()]
        if before:
            yield before[-1][1], number["number"], number["unit"], before[-1][0], number.start()


def _factor(unit: str) -> float:
    lowered = unit.lower()
    return next((factor for start, factor in _SECONDS.items() if lowered.startswith(start)), 1.0)
