"""How a child process ended."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class ProcessEnd:
    """The end of a child. `how` is exit, signal, timeout, not-started or refused; `seconds` its wall time."""

    how: str
    code: int | None = None
    signal: str | None = None  # "SIGSEGV"
    stage: str | None = None  # the last thing that the child said it would do
    seconds: float | None = None
    output_bytes: int | None = None  # everything it wrote, also what was thrown away
    stderr_tail: str | None = None
    left_processes: bool | None = None  # children of its own that had to be ended
    error: str | None = None  # why it could not be started

    @property
    def normal(self) -> bool:
        """True for an exit with status 0."""
        return self.how == "exit" and self.code == 0

    def describe(self) -> str:
        """Say in a few plain words how it ended."""
        if self.how == "signal":
            return f"ended by {self.signal}"
        if self.how == "timeout":
            return "did not answer in time" if self.seconds is None else f"gave no answer for {self.seconds:.0f} s"
        if self.how == "exit":
            return f"left with exit status {self.code}"
        words = "was not started" if self.how == "refused" else "could not be started"
        return f"{words}: {self.error}" if self.error else words
