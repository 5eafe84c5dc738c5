"""What torch says and does inside the target interpreter."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from mpsdoctor.facts.codec import Subject
from mpsdoctor.facts.process import ProcessEnd


@dataclass(frozen=True, kw_only=True)
class ImportFailure:
    """Why `import torch` raised: exception type, message, and the paths that the loader named."""

    type: str = "ImportError"
    message: str = ""
    paths: tuple[str, ...] = ()
    file: str | None = None  # the file of the module where it was raised


@dataclass(frozen=True, kw_only=True)
class Trial:
    """One thing tried on the device and, where there is something to compare, compared with the CPU.

    `outcome` is pass, wrong (differs from the CPU), error (raised), crash (the process died) or stalled.
    """

    name: str
    outcome: str
    max_abs_difference: float | None = None
    tolerance: float | None = None
    error: str | None = None
    seconds: float | None = None


@dataclass(frozen=True, kw_only=True)
class Torch(Subject):
    """The torch of the target. `imported` False with `import_failure` None means that the process died instead."""

    imported: bool | None = None
    import_failure: ImportFailure | None = None
    import_seconds: float | None = None
    version: str | None = None
    git_version: str | None = None
    file: str | None = None
    debug: bool | None = None
    cuda: str | None = None
    built: bool | None = None
    available: bool | None = None
    device_count: int | None = None
    device_name: str | None = None
    core_count: int | None = None
    recommended_max_memory: int | None = None  # bytes
    macos_at_least: Mapping[str, bool] | None = None  # is_macos_or_newer, by version
    allocation: Trial | None = None
    comparisons: tuple[Trial, ...] | None = None
    warnings: tuple[str, ...] | None = None
    stage: str | None = None  # the last stage that the child announced
    end: ProcessEnd | None = None  # only where it did not end normally

    @property
    def failed_trials(self) -> tuple[Trial, ...]:
        """The trials that did not pass, allocation first."""
        tried = ((self.allocation,) if self.allocation else ()) + (self.comparisons or ())
        return tuple(trial for trial in tried if trial.outcome != "pass")

    @property
    def usable(self) -> bool | None:
        """True only after a real allocation and no failed comparison; False where anything failed; else None."""
        if self.imported is False or self.built is False or self.available is False or self.failed_trials:
            return False
        if self.allocation is not None and self.allocation.outcome == "pass":
            return True
        return None
