"""The speed stage: training steps on the CPU and on the device, over a sweep of sizes.

The CPU and the device take turns. An idle GPU clocks down within a second (ResNet-18 at batch 1 on an M2: 4.5 ms warm,
13 to 17 ms again after a second of rest, pytorch #124056), so each turn of the device starts with steps that do not
count.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any, Callable, Sequence

from .devices import CpuDevice, Device
from .loop import Trainer, to_device
from .networks import batches, build
from .options import Options
from .outcomes import ended, stage_outcome
from .precision import INITIAL_SCALE, autocast_works, precision_for
from .sizes import SPEED_QUICK, SPEED_SIZES, SpeedSize
from .speed_verdict import Timing, crossover, half_gain, speed_problems, verdict

Emit = Callable[..., None]
BUDGET_S, QUICK_BUDGET_S = 20.0, 6.0
ROUNDS = 5
LEAST_ROUNDS = 3
TURN_S = 0.04  # a turn lasts at least this long, so that the clock and the synchronisation do not count
WARM_S = 0.02  # the device's steps before each turn


@dataclass
class Runner:
    """A trainer with one batch, and its milliseconds a step of every turn."""

    trainer: Trainer
    batch: Any
    first_ms: float = 0.0
    steps: int = 1
    turns: list[float] = field(default_factory=list)

    def run(self, steps: int) -> float:
        """Seconds that so many steps take, the device synchronised before and after."""
        self.trainer.device.synchronise()
        begun = time.perf_counter()
        for _ in range(steps):
            self.trainer.step(self.batch)
        self.trainer.device.synchronise()
        return time.perf_counter() - begun

    def warm_up(self, limit_s: float) -> None:
        """Run until two steps in a row take about the same time, and choose how many make a turn."""
        self.first_ms = self.run(1) * 1e3
        end = time.perf_counter() + limit_s
        last = self.run(1)
        while time.perf_counter() < end:
            now = self.run(1)
            steady = abs(now - last) < 0.15 * last
            last = now
            if steady:
                break
        self.steps = max(1, min(200, int(TURN_S / max(last, 1e-6)) + 1))

    def turn(self, warm: bool) -> None:
        """Time one turn; ``warm`` runs steps before it that do not count."""
        if warm:
            end = time.perf_counter() + WARM_S
            self.run(2)
            while time.perf_counter() < end:
                self.run(self.steps)
        self.turns.append(self.run(self.steps) * 1e3 / self.steps)


def _runner(size: SpeedSize, device: Device, dtype: str, seed: int) -> Runner | None:
    precision = precision_for(device, dtype)
    if precision.mode == "none" or (
        precision.mode == "autocast" and not autocast_works(device.torch_device, precision)
    ):
        return None
    trainer = Trainer(build(size.shape, seed), device, precision, 1e-4, INITIAL_SCALE)
    batch = next(batches(size.shape, size.batch, seed))
    return Runner(trainer, to_device(batch, device))


def measure(size: SpeedSize, device: Device, dtype: str, seed: int, budget_s: float) -> Timing:
    """Time one size within about ``budget_s`` seconds: the CPU and the device in float32, the device in ``dtype``."""
    begun = time.perf_counter()
    cpu = None if device.is_cpu else _runner(size, CpuDevice(), "float32", seed)
    full = _runner(size, device, "float32", seed)
    half = None if dtype == "float32" else _runner(size, device, dtype, seed)
    runners = [runner for runner in (cpu, full, half) if runner is not None]
    for runner in runners:
        runner.warm_up(budget_s / 8)
    for done in range(LEAST_ROUNDS if device.is_cpu else ROUNDS):
        for runner in runners:
            runner.turn(warm=not runner.trainer.device.is_cpu)
        spent = time.perf_counter() - begun
        if done + 1 >= LEAST_ROUNDS and spent * (done + 2) / (done + 1) > budget_s:
            break
    return Timing(
        size.name,
        size.batch,
        size.should_win,
        cpu_ms=tuple(cpu.turns) if cpu else (),
        device_ms=tuple(full.turns) if full and not device.is_cpu else (),
        full_ms=tuple(full.turns) if full else (),
        half_ms=tuple(half.turns) if half else (),
        first_ms=full.first_ms if full else None,
    )


def speed(device: Device, options: Options, emit: Emit) -> dict[str, Any]:
    """Measure the sweep; the outcome, and under ``speed`` the cases with what follows from them."""
    sizes = _sizes(device, options.quick)
    left = QUICK_BUDGET_S if options.quick else BUDGET_S
    timings: list[Timing] = []
    no_time: list[str] = []
    for index, size in enumerate(sizes):
        if left <= 0.0 and any(timing.should_win for timing in timings):
            no_time.append(size.name)
            continue
        begun = time.perf_counter()
        emit("step", stage="speed", case=size.name, of=len(sizes))
        share = max(0.2, left / (len(sizes) - index))
        timing = measure(size, device, options.dtype, options.seed, share)
        device.release()
        timings.append(timing)
        emit("measure", stage="speed", **timing.as_json())
        left -= time.perf_counter() - begun
    return judge_speed(timings, no_time, device, options)


def _sizes(device: Device, quick: bool) -> Sequence[SpeedSize]:
    sizes = SPEED_QUICK if quick else SPEED_SIZES
    # Half-precision arithmetic of a CPU is slow, and there is nothing to compare: the smallest of each network.
    return sizes[:2] if device.is_cpu else sizes


def judge_speed(timings: Sequence[Timing], no_time: Sequence[str], device: Device, options: Options) -> dict[str, Any]:
    """From the timings to the stage's outcome; ``no_time`` are the sizes that were left out for lack of time."""
    gain = half_gain(timings)
    result: dict[str, Any] = {
        "cases": [timing.as_json() for timing in timings],
        "crossover": crossover(timings),
        "fp16_gain": gain if options.dtype == "float16" else None,
        "verdict": verdict(timings, device.name),
    }
    extra = {
        "speed": result,
        "context": options.context,
        "half_gain": {"dtype": options.dtype, "gain": gain},
        "not_measured": list(no_time),
    }
    if device.is_cpu:
        told = "" if gain is None else f"; {options.dtype} runs at {gain:.2g} times the speed of float32"
        return dict(ended("skip", "the device is the CPU: there is nothing to compare" + told), **extra)
    problems = speed_problems(timings, device.name, options.context)
    detail = str(result["verdict"]) + ("; no time for " + ", ".join(no_time) if no_time else "")
    return stage_outcome(problems, detail, **extra)
