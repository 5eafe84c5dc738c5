"""A plan is data: fixes, each with steps of argument lists or of file changes that this program makes itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from mpsdoctor.repair.actions import Action

KEPT_COPY = "from the copy made before the first change"


@dataclass(frozen=True)
class Step:
    """One step. `argv` is a command to run, or None where `action` is a change that this program makes itself.

    `writes` are the paths that it creates or changes; they are saved before the first step and restored by undo.
    `env` is added to the environment of the command. `stays`: what it writes is the user's own and not taken back.
    """

    title: str
    argv: tuple[str, ...] | None = None
    env: Mapping[str, str] = field(default_factory=dict)
    writes: tuple[str, ...] = ()
    undo: str = KEPT_COPY
    action: Action | None = None
    stays: bool = False

    def to_json(self) -> dict[str, Any]:
        """Return the step as in the report's `plan`."""
        data: dict[str, Any] = {
            "title": self.title,
            "argv": None if self.argv is None else list(self.argv),
            "env": dict(self.env),
            "writes": list(self.writes),
            "undo": self.undo,
        }
        if self.action is not None:
            data["action"] = self.action.to_json()
        return data


@dataclass(frozen=True)
class PlannedFix:
    """One fix for one cause. `python` is the interpreter to examine afterwards, where it is another than before.
    `unsets` are the variables that a new shell will not have any more; `expects` the versions that packages must have.
    """

    fix: str
    cause: str
    summary: str
    steps: tuple[Step, ...] = ()
    needs_admin: bool = False
    reversible: bool = True
    downloads_mb: float | None = None
    notes: tuple[str, ...] = ()
    python: str | None = None
    unsets: tuple[str, ...] = ()
    expects: tuple[tuple[str, str], ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Return the fix as in the report's `plan`."""
        return {
            "fix": self.fix,
            "cause": self.cause,
            "summary": self.summary,
            "needs_admin": self.needs_admin,
            "reversible": self.reversible,
            "downloads_mb": self.downloads_mb,
            "steps": [step.to_json() for step in self.steps],
            "notes": list(self.notes),
        }


@dataclass(frozen=True)
class Manual:
    """What only the user (or an administrator, or the App Store) can do: told, never run."""

    cause: str
    text: str


@dataclass(frozen=True)
class Refused:
    """A cause for which there is no fix here, and why."""

    cause: str
    because: str


@dataclass(frozen=True)
class Plan:
    """All that would be done, and what would not. `target` is the interpreter that the plan is for."""

    target: str
    fixes: tuple[PlannedFix, ...] = ()
    manual: tuple[Manual, ...] = ()
    refused: tuple[Refused, ...] = ()
    kept: int | None = None  # packages that stay as they are
    cannot_keep: tuple[str, ...] = ()
    disk_needed_mb: float | None = None
    disk_free_mb: float | None = None

    @property
    def steps(self) -> tuple[Step, ...]:
        """The steps of all fixes in order; a step that two fixes share is done once."""
        seen: list[Step] = []
        for fix in self.fixes:
            seen += [step for step in fix.steps if step not in seen]
        return tuple(seen)

    @property
    def writes(self) -> tuple[str, ...]:
        """Every path that a step writes and undo restores, each once."""
        return tuple(dict.fromkeys(path for step in self.steps if not step.stays for path in step.writes))

    @property
    def downloads_mb(self) -> float | None:
        """What the fixes download, in MB (10**6 bytes); None where nothing is known of it."""
        known = [fix.downloads_mb for fix in self.fixes if fix.downloads_mb is not None]
        return max(known) if known else None

    def to_json(self) -> dict[str, Any]:
        """Return the report's `plan`."""
        return {
            "target": self.target,
            "fixes": [fix.to_json() for fix in self.fixes],
            "manual": [{"cause": item.cause, "text": item.text} for item in self.manual],
            "refused": [{"cause": item.cause, "because": item.because} for item in self.refused],
            "kept": self.kept,
            "cannot_keep": list(self.cannot_keep),
            "disk_needed_mb": self.disk_needed_mb,
            "disk_free_mb": self.disk_free_mb,
        }


Proposal = PlannedFix | Manual | Refused


def merge(target: str, proposals: Sequence[Proposal]) -> Plan:
    """Put proposals together in their order."""
    return Plan(
        target,
        tuple(item for item in proposals if isinstance(item, PlannedFix)),
        tuple(item for item in proposals if isinstance(item, Manual)),
        tuple(item for item in proposals if isinstance(item, Refused)),
    )
