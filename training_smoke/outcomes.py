"""What a stage found: named problems, and the outcome that follows from them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Sequence


@dataclass(frozen=True)
class Problem:
    """One thing that is wrong.

    ``check`` is a stable slug of the assertion that failed, ``text`` a plain sentence with the numbers, ``subject`` the
    network, operator or size it was found on, ``cause`` a slug of the vocabulary of causes or None where unknown.
    """

    check: str
    text: str
    subject: str | None = None
    cause: str | None = None

    def as_json(self) -> dict[str, str | None]:
        """The problem as the events carry it."""
        return {"check": self.check, "subject": self.subject, "text": self.text, "cause": self.cause}


def stage_outcome(problems: Sequence[Problem], detail: str, **extra: Any) -> dict[str, Any]:
    """``fail`` with the first problem as detail, or ``pass`` with ``detail``; the cause is the first one known."""
    if not problems:
        return dict(extra, outcome="pass", cause=None, detail=detail, problems=[])
    more = "" if len(problems) == 1 else f" ({len(problems) - 1} more)"
    return dict(
        extra,
        outcome="fail",
        cause=next((problem.cause for problem in problems if problem.cause), None),
        detail=problems[0].text + more,
        problems=[problem.as_json() for problem in problems],
    )


def ended(
    outcome: str, detail: str, cause: str | None = None, check: str | None = None, **extra: Any
) -> dict[str, Any]:
    """A stage that ended otherwise: skip, crash or stalled."""
    problems = [] if check is None else [Problem(check, detail, cause=cause).as_json()]
    return dict(extra, outcome=outcome, cause=cause, detail=detail, problems=problems)


# Without these three nothing is proved, whatever the others say.
DECISIVE = ("allocate", "numerics", "train")


def overall(stages: Sequence[dict[str, Any]]) -> str:
    """The outcome of a run, from its stages (those with ``asked`` false were left out by the caller's choice).

    ``fail`` where a stage failed, crashed or stalled; ``unknown`` where the device cannot exist on this platform, or a
    decisive stage was asked for and not decided, or none was asked for; else ``pass``.
    """
    if any(stage.get("absent") for stage in stages):
        return "unknown"
    if any(stage["outcome"] in ("fail", "crash", "stalled") for stage in stages):
        return "fail"
    decisive: list[str] = [
        str(stage["outcome"]) for stage in stages if stage["stage"] in DECISIVE and stage.get("asked", True)
    ]
    return "pass" if decisive and set(decisive) == {"pass"} else "unknown"
