"""The model of everything that can be known: plain frozen data, JSON in and out without loss.

A missing fact is None and never a guess.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from mpsdoctor.facts.binaries import Binaries, Binary
from mpsdoctor.facts.codec import Problems, Subject, decode, encode
from mpsdoctor.facts.conda import Conda, CondaPackage
from mpsdoctor.facts.environment import Environment, Shadow
from mpsdoctor.facts.host import Host, PerformanceLevel
from mpsdoctor.facts.interpreter import Interpreter
from mpsdoctor.facts.messages import Claim, Contradiction, Message, Messages
from mpsdoctor.facts.packages import Distribution, Packages, normalize
from mpsdoctor.facts.process import ProcessEnd
from mpsdoctor.facts.smoke import Smoke, SmokeStage, Speed, SpeedCase
from mpsdoctor.facts.torch import ImportFailure, Torch, Trial

SCHEMA = "mpsdoctor.facts/1"

__all__ = [
    "SCHEMA",
    "Binaries",
    "Binary",
    "Claim",
    "Conda",
    "CondaPackage",
    "Contradiction",
    "Distribution",
    "Environment",
    "Facts",
    "Host",
    "ImportFailure",
    "Interpreter",
    "Message",
    "Messages",
    "Packages",
    "PerformanceLevel",
    "Problems",
    "ProcessEnd",
    "Shadow",
    "Smoke",
    "SmokeStage",
    "Speed",
    "SpeedCase",
    "Subject",
    "Torch",
    "Trial",
    "decode",
    "encode",
    "normalize",
]


@dataclass(frozen=True, kw_only=True)
class Facts(Subject):
    """All subjects together. Every subject is always there; what is not known inside it is None."""

    schema: str = SCHEMA
    host: Host = field(default_factory=Host)
    interpreter: Interpreter = field(default_factory=Interpreter)
    torch: Torch = field(default_factory=Torch)
    packages: Packages = field(default_factory=Packages)
    conda: Conda = field(default_factory=Conda)
    environment: Environment = field(default_factory=Environment)
    binaries: Binaries = field(default_factory=Binaries)
    messages: Messages = field(default_factory=Messages)
    smoke: Smoke = field(default_factory=Smoke)

    def to_json(self) -> dict[str, Any]:
        """Return the facts as JSON data; `from_json` gives the same facts back."""
        data = encode(self)
        assert isinstance(data, dict)
        return data

    @classmethod
    def from_json(cls, data: object, problems: Problems | None = None) -> Facts:
        """Read facts back. Never raises on bad content; `problems` tells what was unreadable."""
        return decode(cls, data, problems, "facts")
