"""Pairs of torch and macOS that are known to compute wrongly, crash, or hide the GPU."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from . import _data, versions
from .chips import generation

EFFECTS = ("wrong-results", "crash", "slow", "unavailable")
SEVERITIES = ("fail", "warn", "note")


@dataclass(frozen=True)
class KnownBad:
    """One fault: in which releases of torch, on which macOS and hardware, with what effect.

    Ranges include both ends, and None leaves an end open; ``virtual`` None means real Macs and virtual machines
    alike, ``generations`` empty any chip. ``severity`` is ``fail``, ``warn``, or ``note`` for a fault that only a
    rare use meets and that nobody else should be warned about.
    """

    id: str
    torch_from: str | None
    torch_until: str | None
    macos_from: str | None
    macos_until: str | None
    virtual: bool | None
    generations: tuple[int, ...]
    what: str
    effect: str
    severity: str
    cause: str
    remedy: str
    sources: tuple[str, ...]


@cache
def known_bad() -> tuple[KnownBad, ...]:
    """Every known fault, the most serious first."""
    found = [
        KnownBad(**{**row, "generations": tuple(row["generations"]), "sources": tuple(row["sources"])})
        for row in _data.rows("known_bad")
    ]
    return tuple(sorted(found, key=lambda one: SEVERITIES.index(one.severity)))


def matching(
    torch_version: str | None, macos: str | None, *, virtual: bool | None, chip: str | None
) -> tuple[KnownBad, ...]:
    """The faults that this machine is known to be in reach of, the most serious first.

    A condition whose fact is missing (None, a nightly, the disguised macOS 10.16) is not met: what is not known
    never counts as bad.
    """
    torch, running = versions.stable(torch_version or ""), versions.macos(macos)
    return tuple(
        one
        for one in known_bad()
        if _torch_fits(one, torch)
        and _macos_fits(one, running)
        and one.virtual in (None, virtual)
        and (not one.generations or generation(chip) in one.generations)
    )


def _torch_fits(one: KnownBad, torch: tuple[int, int, int] | None) -> bool:
    first, last = versions.stable(one.torch_from or ""), versions.stable(one.torch_until or "")
    if first is None and last is None:
        return True
    return torch is not None and (first is None or first <= torch) and (last is None or torch <= last)


def _macos_fits(one: KnownBad, running: tuple[int, ...] | None) -> bool:
    if one.macos_from is None and one.macos_until is None:
        return True
    return running is not None and versions.macos_in(running, one.macos_from, one.macos_until)
