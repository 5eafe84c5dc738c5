"""What timings mean: ratios, the crossover, the gain of half precision, and the verdict."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Mapping, Sequence

from .outcomes import Problem

# A step that takes the CPU less than this is bound by the cost of launching each operator (20 to 110 microseconds on
# MPS, pytorch #148219 and #82707), and a GPU need not win it.
LAUNCH_BOUND_MS = 20.0
# What published pairs of CPU and MPS show for training in float32 at batch 16 and above (from an M1 to an M5).
USUAL = {"cnn": (3.0, 10.0), "transformer": (2.0, 4.5)}


def median(values: Sequence[float]) -> float:
    """The middle value, or the mean of the two in the middle."""
    ordered = sorted(values)
    half = len(ordered) // 2
    return ordered[half] if len(ordered) % 2 else (ordered[half - 1] + ordered[half]) / 2.0


@dataclass(frozen=True)
class Timing:
    """Milliseconds a step of one size, one value for each turn. ``cpu_ms`` and ``device_ms`` (float32) are empty where
    the device is the CPU; ``full_ms`` and ``half_ms`` are the device in float32 and in the tested dtype."""

    name: str
    batch: int
    should_win: bool
    cpu_ms: tuple[float, ...] = ()
    device_ms: tuple[float, ...] = ()
    full_ms: tuple[float, ...] = ()
    half_ms: tuple[float, ...] = ()
    first_ms: float | None = None

    @property
    def ratios(self) -> list[float]:
        """CPU time over device time of each round: above 1 the device is faster."""
        return [cpu / device for cpu, device in zip(self.cpu_ms, self.device_ms)]

    @property
    def ratio(self) -> float | None:
        """The median of the ratios, None where there is nothing to compare."""
        return median(self.ratios) if self.ratios else None

    @property
    def spread(self) -> float | None:
        """Half the range of the ratios over their median (of the times, where the device is the CPU)."""
        values = self.ratios or list(self.full_ms)
        return (max(values) - min(values)) / 2.0 / median(values) if values else None

    @property
    def half_gain(self) -> float | None:
        """How many times as fast as float32 the tested dtype is on this device."""
        return median(self.full_ms) / median(self.half_ms) if self.full_ms and self.half_ms else None

    def as_json(self) -> dict[str, Any]:
        """The case as events and the result carry it."""
        cpu = self.cpu_ms or (() if self.device_ms else self.full_ms)
        return {
            "name": self.name,
            "batch": self.batch,
            "cpu_ms": _rounded(median(cpu) if cpu else None),
            "device_ms": _rounded(median(self.device_ms) if self.device_ms else None),
            "ratio": _rounded(self.ratio),
            "spread": _rounded(self.spread),
            "half_ms": _rounded(median(self.half_ms) if self.half_ms else None),
            "first_step_ms": _rounded(self.first_ms),
        }


def _rounded(value: float | None) -> float | None:
    return None if value is None else float(f"{value:.4g}")


def half_gain(timings: Sequence[Timing]) -> float | None:
    """The gain of half precision at the largest sizes: the median of the better half of the sweep by CPU time."""
    known = [timing for timing in timings if timing.half_gain is not None]
    if not known:
        return None
    by_size = sorted(known, key=lambda timing: median(timing.full_ms))
    return _rounded(median([timing.half_gain or 0.0 for timing in by_size[len(by_size) // 2 :]]))


def crossover(timings: Sequence[Timing]) -> float | None:
    """The CPU's milliseconds a step at which the device begins to win, None where one of the two always wins.

    Between the last size that the CPU wins and the next larger, the ratio is taken to grow as a power of the time.
    """
    points = sorted((median(t.cpu_ms), t.ratio) for t in timings if t.cpu_ms and t.ratio is not None)
    for (low_ms, low), (high_ms, high) in zip(points, points[1:]):
        if low < 1.0 <= high:
            share = math.log(1.0 / low) / math.log(high / low)
            return _rounded(math.exp(math.log(low_ms) + share * (math.log(high_ms) - math.log(low_ms))))
    return None


def _judged(timings: Sequence[Timing]) -> list[Timing]:
    return [t for t in timings if t.should_win and t.ratio is not None and median(t.cpu_ms) >= LAUNCH_BOUND_MS]


def slower(timings: Sequence[Timing]) -> list[Timing]:
    """The sizes that should win and lose, by more than the spread of the measurement."""
    return [t for t in _judged(timings) if (t.ratio or 0.0) * (1.0 + (t.spread or 0.0)) < 1.0]


def verdict(timings: Sequence[Timing], device: str) -> str:
    """One sentence on the whole sweep."""
    judged = _judged(timings)
    if not any(t.ratio is not None for t in timings):
        return "not compared"
    if not judged:
        return "undecided: no size was large enough for this CPU"
    lost = slower(timings)
    if lost:
        return "slower than the CPU at sizes that a GPU should win: " + ", ".join(t.name for t in lost)
    best = max(judged, key=lambda t: t.ratio or 0.0)
    said = f"up to {best.ratio or 0.0:.1f} times as fast as the CPU ({best.name})"
    if device != "mps":
        return said
    below = [t for t in judged if (t.ratio or 0.0) < USUAL[t.name.split()[0]][0]]
    return said + (
        "; below the usual range at " + ", ".join(t.name for t in below) if below else "; in the usual range"
    )


# What the caller may have observed that explains a slow GPU: the key in --context, the values that do, and the words.
EXPLANATIONS = {
    "low_power_mode": "low-power mode is on",
    "thermal": "the Mac reports thermal pressure",
    "battery": "the Mac runs on battery",
    "swap": "the Mac is swapping",
}


def explanations(context: Mapping[str, Any]) -> list[str]:
    """The observed conditions under which a slow result proves little: true values, or words like ``serious``."""
    calm = (None, False, 0, "", "ok", "nominal", "normal", "none", "ac", "off")
    found = []
    for key, words in EXPLANATIONS.items():
        value = context.get(key)
        if (value.lower() if isinstance(value, str) else value) not in calm:
            found.append(words)
    return found


def speed_problems(timings: Sequence[Timing], device: str, context: Mapping[str, Any]) -> list[Problem]:
    """A device that loses sizes it should win is a problem, explained by the context where that can be."""
    problems = []
    reasons = explanations(context)
    for timing in slower(timings):
        text = f"{timing.name}: {median(timing.device_ms):.1f} ms a step, on the CPU {median(timing.cpu_ms):.1f} ms"
        text += f": {timing.ratio or 0.0:.2g} times its speed"
        text += " (" + ", ".join(reasons) + ")" if reasons else ""
        problems.append(
            Problem("slower-than-cpu", text, timing.name, "mps-slower-than-cpu" if device == "mps" else None)
        )
    return problems
