"""Plans repairs from facts, applies them so that they can be taken back, and takes them back.

The names below are the public API for plug-in fixes.
"""

from __future__ import annotations

from mpsdoctor.repair.managers import Install, Manager, conda_of, pip_or_uv, prefix_of
from mpsdoctor.repair.plan import Manual, PlannedFix, Proposal, Refused, Step
from mpsdoctor.repair.registry import Fix, fix
from mpsdoctor.repair.situation import Request, Situation
from mpsdoctor.repair.survey import FoundPython, Survey, TextFile
from mpsdoctor.repair.wanted import NoTorch, Stack

__all__ = [
    "Fix",
    "FoundPython",
    "Install",
    "Manager",
    "Manual",
    "NoTorch",
    "PlannedFix",
    "Proposal",
    "Refused",
    "Request",
    "Situation",
    "Stack",
    "Step",
    "Survey",
    "TextFile",
    "conda_of",
    "fix",
    "pip_or_uv",
    "prefix_of",
]
