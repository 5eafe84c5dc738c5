"""A device that takes ten times as long as the CPU for everything."""

from __future__ import annotations

import dataclasses
import time

import torch
from plant_base import PretendMps

from training_smoke import devices, sizes, speed


class Slow(PretendMps):
    def __init__(self) -> None:
        self._idle_since = time.perf_counter()

    def synchronise(self) -> None:
        # What was done since the last synchronisation took this long on the CPU; turns of the CPU are far longer.
        worked = time.perf_counter() - self._idle_since
        time.sleep(9.0 * min(worked, 0.25))
        self._idle_since = time.perf_counter()


def plant() -> None:
    torch.set_num_threads(1)
    devices.REGISTRY["mps"] = Slow
    # One size with a small batch, so that the test does not take minutes.
    speed.SPEED_QUICK = (dataclasses.replace(sizes.SPEED_SIZES[3], batch=24),)
