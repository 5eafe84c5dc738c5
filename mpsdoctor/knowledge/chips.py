"""Apple's chips by the names that macOS gives them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

from . import _data

_NAME = re.compile(r"\s*(?:Apple\s+)?M(\d{1,2})(?:\s+(Pro|Max|Ultra))?(?:\s+\(Virtual\))?\s*", re.IGNORECASE)
_APPLE = re.compile(r"\bApple\s+(?:M\d|A\d|silicon\b|processor\b)|\bVirtualApple\b", re.IGNORECASE)
_SOC = re.compile(r"\bRELEASE_ARM64_(T\d{4}|VMAPPLE)\b")


@dataclass(frozen=True)
class Chip:
    """One chip. ``soc`` is the kernel's name for its family, ``metal_family`` Apple's for its GPU; None: not known."""

    name: str
    generation: int
    soc: str | None
    metal_family: str | None
    models: tuple[str, ...]


@cache
def chips() -> tuple[Chip, ...]:
    """Every chip in the table, in the order of their generations."""
    return tuple(Chip(**{**row, "models": tuple(row["models"])}) for row in _data.rows("chips"))


def chip(name: str | None) -> Chip | None:
    """The chip that macOS calls ``name``: ``Apple M1 Pro``, with or without ``Apple`` and ``(Virtual)``."""
    found = _NAME.fullmatch(name or "")
    if found is None:
        return None
    wanted = f"Apple M{found[1]}" + (f" {found[2].title()}" if found[2] else "")
    return next((one for one in chips() if one.name == wanted), None)


def generation(name: str | None) -> int | None:
    """1 for any M1, 2 for any M2, and so on, also for generations newer than the table; None for other names."""
    found = _NAME.fullmatch(name or "")
    return int(found[1]) if found else None


def is_apple_chip(text: str | None) -> bool:
    """Is this the name of a chip by Apple? Also what a translated process is told (``VirtualApple @ 2.50GHz``)."""
    return bool(text) and bool(_APPLE.search(text or "") or _NAME.fullmatch(text or ""))


def chip_of_model(model: str | None) -> Chip | None:
    """The chip in a Mac by ``hw.model`` (``Mac14,9``); None unless that model is one of the few recorded ones."""
    return next((one for one in chips() if model in one.models), None)


def soc(uname: str) -> str | None:
    """The system on a chip that ``uname -a`` names: ``T6041``, or ``VMAPPLE`` in a virtual machine.

    It is the hardware's even where the process runs translated (seen in apple/turicreate issue 3462).
    """
    found = _SOC.search(uname)
    return found[1] if found else None


def generation_of_soc(name: str | None) -> int | None:
    """The generation of ``T6041`` (4); None for a virtual machine's and for those not in the table."""
    return next((one.generation for one in chips() if name and one.soc == name), None)


def is_virtual(model: str | None = None, chip_name: str | None = None, uname: str | None = None) -> bool | None:
    """Does any of these names give away a virtual machine? None when no name is known."""
    known = [text for text in (model, chip_name, uname) if text]
    signs = ("VirtualMac", "(Virtual)", "_VMAPPLE", "Apple Virtual Machine", "Paravirtual")
    return any(sign in text for text in known for sign in signs) if known else None
