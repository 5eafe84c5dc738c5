"""The sizes of the networks: for training, by device, and for the speed stage."""

from __future__ import annotations

from dataclasses import dataclass

from .networks import CnnShape, LmShape, Shape


@dataclass(frozen=True)
class Run:
    """One training run: ``steps`` batches of ``batch`` examples at the learning rate ``rate``.

    The trained network must reach ``loss_bar`` (mean cross entropy in nats over the last tenth of the steps) and
    ``accuracy_bar`` on data it has not seen. The bars are at least twice as far from chance as from the worst of 20
    seeds of the float32 run on a CPU.
    """

    shape: Shape
    steps: int
    batch: int
    rate: float
    loss_bar: float
    accuracy_bar: float


# 0.32 M parameters each: half-precision arithmetic of a CPU runs at a few GFLOP/s.
CPU_RUNS = (Run(CnnShape(), 50, 32, 2e-3, 1.0, 0.8), Run(LmShape(), 60, 8, 6e-3, 1.0, 0.8))
CPU_QUICK = (Run(CnnShape(), 40, 24, 2e-3, 1.0, 0.8), Run(LmShape(vocabulary=32), 45, 8, 6e-3, 1.0, 0.8))
# 0.9 M and 1.4 M parameters; the float32 run on the CPU beside it takes some 10 s.
GPU_RUNS = (
    Run(CnnShape((32, 64, 128), 384, 32), 90, 64, 1e-3, 1.0, 0.8),
    Run(LmShape(64, 192, 3, 6, 64), 100, 16, 4e-3, 1.0, 0.8),
)
GPU_QUICK = (
    Run(CnnShape((32, 64, 128), 384, 16), 90, 32, 1e-3, 1.0, 0.8),
    Run(LmShape(64, 128, 2, 4, 32), 90, 16, 6e-3, 1.0, 0.8),
)


def training_runs(on_cpu: bool, quick: bool) -> tuple[Run, ...]:
    """The two runs of the train stage on that kind of device."""
    if on_cpu:
        return CPU_QUICK if quick else CPU_RUNS
    return GPU_QUICK if quick else GPU_RUNS


@dataclass(frozen=True)
class SpeedSize:
    """One point of the sweep. ``should_win``: large enough (batch of at least 16, tens of milliseconds a step on a
    CPU) that any healthy GPU is faster."""

    name: str
    shape: Shape
    batch: int
    should_win: bool = False


_CHANNELS = (16, 32, 64)
# The large ones come last: on a slow CPU there may be no time for them.
SPEED_SIZES = (
    SpeedSize("cnn tiny 16x16", CnnShape(_CHANNELS, 256, 16), 8),
    SpeedSize("transformer small", LmShape(256, 128, 2, 4, 32), 8),
    SpeedSize("cnn small 32x32", CnnShape(_CHANNELS, 256, 32), 64),
    SpeedSize("cnn medium 64x64", CnnShape(_CHANNELS, 256, 64), 64, True),
    SpeedSize("transformer medium", LmShape(1024, 256, 2, 4, 64), 16, True),
    SpeedSize("cnn large 128x128", CnnShape(_CHANNELS, 256, 128), 64, True),
    SpeedSize("transformer large", LmShape(2048, 256, 4, 8, 128), 32, True),
)
SPEED_QUICK = tuple(SPEED_SIZES[index] for index in (0, 1, 3, 4))
