"""The table of environment variables itself; ``variables`` judges their values."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from . import _data


@dataclass(frozen=True)
class Variable:
    """One variable. ``since`` is the first release of torch that reads it; ``read_by`` is ``nobody`` if none does.

    ``kind`` names the rule that judges its values; ``most`` and ``choices`` are that rule's bounds, and
    ``harmful_on`` says that merely switching it on has a price in correctness.
    """

    name: str
    read_by: str
    since: str | None
    until: str | None
    kind: str
    means: str
    values: str
    default: str
    hazard: str
    sources: tuple[str, ...]
    most: int = 0
    choices: tuple[str, ...] = ()
    harmful_on: bool = False


@cache
def variables() -> tuple[Variable, ...]:
    """Every variable that is known, those that no torch reads included."""
    return tuple(
        Variable(**{**row, "sources": tuple(row["sources"]), "choices": _data.texts(row.get("choices"))})
        for row in _data.rows("variables")
    )


def variable(name: str) -> Variable | None:
    """The variable of exactly that name."""
    return next((one for one in variables() if one.name == name), None)


def nearest(name: str) -> Variable | None:
    """The variable that somebody who wrote ``name`` may have meant."""
    from difflib import get_close_matches

    close = get_close_matches(name, [one.name for one in variables() if one.read_by != "nobody"], n=1, cutoff=0.8)
    return variable(close[0]) if close else None
