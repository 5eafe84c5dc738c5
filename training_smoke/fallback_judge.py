"""The outcome of the fallback stage (no torch here: the supervisor uses it too)."""

from __future__ import annotations

import os
from typing import Any, Mapping, Sequence

from .causes import logged_fallbacks
from .outcomes import Problem, stage_outcome

FALLBACK = "PYTORCH_ENABLE_MPS_FALLBACK"
PART = "== fallback part: "  # a line of the worker's stderr that begins the log of a network or of the operators


def outcome(
    in_training: Mapping[str, Sequence[str]],
    in_operators: Mapping[str, Sequence[str]],
    device: str,
    logged: Sequence[str] = (),
) -> dict[str, Any]:
    """The stage fails when training a network runs an operator on the CPU; other operators are only told.

    ``in_training`` and ``in_operators`` are what ran on the CPU, by network and by operator case; ``logged`` is what
    MPS itself logged as run on the CPU among the operator cases.
    """
    problems = [
        Problem("fallback-in-training", f"{network}: {', '.join(names)} ran on the CPU", network)
        for network, names in in_training.items()
        if names
    ]
    if in_operators or logged:
        named = sorted(in_operators) or list(logged)
        detail = "training stays on the device; of the other operators, these run on the CPU: " + ", ".join(named)
    else:
        detail = "no operator left the device" + (", which is the CPU itself" if device == "cpu" else "")
    return stage_outcome(
        problems,
        detail,
        in_training={network: list(names) for network, names in in_training.items()},
        in_operators={name: list(texts) for name, texts in in_operators.items()},
        fallback_log=list(logged),
        device_type=device,
    )


def _parts(stderr: str) -> dict[str, tuple[str, ...]]:
    """The operators logged as run on the CPU, by part of the log."""
    pieces = stderr.split(PART)[1:]
    return {piece.partition("\n")[0]: logged_fallbacks(piece) for piece in pieces}


def with_logged(result: Mapping[str, Any], stderr: str, user_value: str | None) -> dict[str, Any]:
    """``result`` with what the worker's stderr logs, and whether the user's environment would hide a fallback.

    ``user_value`` is PYTORCH_ENABLE_MPS_FALLBACK as the user has it: anything but an exact 0 switches it on.
    """
    parts = _parts(stderr)
    training = {
        network: sorted({*names, *parts.get(network, ())}) for network, names in dict(result["in_training"]).items()
    }
    again = outcome(training, result["in_operators"], str(result["device_type"]), parts.get("operators", ()))
    on = user_value is not None and user_value != "0"
    fell_back = bool(again["problems"] or again["in_operators"] or again["fallback_log"])
    again["fallback_enabled"] = on
    again["hidden"] = on and fell_back
    if again["hidden"]:
        again["detail"] += f" ({FALLBACK} is set and hides this)"
    return again


def user_fallback_value() -> str | None:
    """The user's own setting of the fallback variable."""
    return os.environ.get(FALLBACK)
