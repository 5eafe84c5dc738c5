"""Where the facts of a report came from. In a module of its own: it is needed before anything is judged."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Source:
    """Where the facts came from: kind live, env, replay, report or ticket, and a name."""

    kind: str
    name: str
