"""What a training run on the device proved: the stages of training_smoke and its speed check."""

from __future__ import annotations

from dataclasses import dataclass

from mpsdoctor.facts.codec import Subject


@dataclass(frozen=True, kw_only=True)
class SmokeStage(Subject):
    """One stage: allocate, numerics, train, fallback or speed. What else the program tells of it is kept in `extra`.

    `outcome` is pass, fail, skip, crash or stalled; `cause` a slug, or None where the words of the failure prove none.
    """

    stage: str
    outcome: str
    cause: str | None = None
    detail: str | None = None
    seconds: float | None = None


@dataclass(frozen=True, kw_only=True)
class SpeedCase(Subject):
    """One size of the sweep: milliseconds of a training step on CPU and device, and how many times faster it is."""

    name: str
    batch: int | None = None
    cpu_ms: float | None = None
    device_ms: float | None = None
    ratio: float | None = None
    spread: float | None = None


@dataclass(frozen=True, kw_only=True)
class Speed(Subject):
    """The sweep: its cases, where the device begins to win, what half precision gains, and the verdict in words."""

    cases: tuple[SpeedCase, ...] | None = None
    fp16_gain: float | None = None
    verdict: str | None = None


@dataclass(frozen=True, kw_only=True)
class Smoke(Subject):
    """One run of training_smoke. `outcome` is pass, fail or unknown; None: none was made."""

    device: str | None = None
    dtype: str | None = None
    torch: str | None = None
    outcome: str | None = None
    stages: tuple[SmokeStage, ...] | None = None
    speed: Speed | None = None

    def stage(self, name: str) -> SmokeStage | None:
        """Return the stage of that name, or None."""
        return next((stage for stage in self.stages or () if stage.stage == name), None)

    @property
    def usable(self) -> bool | None:
        """Whether the run proved that Apple's GPU can be used; None where it ran elsewhere or decided nothing."""
        if self.device != "mps" or self.outcome not in ("pass", "fail"):
            return None
        decisive = (self.stage("allocate"), self.stage("numerics"), self.stage("train"))
        return not any(stage is not None and stage.outcome in ("fail", "crash", "stalled") for stage in decisive)
