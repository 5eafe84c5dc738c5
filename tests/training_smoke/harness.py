"""Runs the program as a user's parent would: by path, in a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.conftest import ROOT

PROGRAM = ROOT / "training_smoke"
PLANTED = Path(__file__).resolve().parent / "planted.py"


@dataclass(frozen=True)
class Smoked:
    """One run: its events, exit code and what else it printed."""

    events: tuple[dict[str, Any], ...]
    code: int
    stdout: str
    stderr: str

    @property
    def result(self) -> dict[str, Any]:
        assert self.events, self.stderr
        assert self.events[-1]["event"] == "result", self.stderr
        return self.events[-1]

    def stage(self, name: str) -> dict[str, Any]:
        return next(stage for stage in self.result["stages"] if stage["stage"] == name)

    def problems(self, name: str) -> list[dict[str, Any]]:
        return list(self.stage(name)["problems"])

    def checks(self, name: str) -> set[str]:
        return {str(problem["check"]) for problem in self.problems(name)}


def smoke(
    *options: str, plant: str | None = None, env: Mapping[str, str] | None = None, program: Sequence[str] | None = None
) -> Smoked:
    """Run the program with ``options``, with a fault of ``plants/`` where one is named."""
    start = [str(PROGRAM)] if plant is None else [str(PLANTED), plant]
    done = subprocess.run(
        [sys.executable, *(program or start), *options],
        capture_output=True,
        text=True,
        timeout=280,
        env={**os.environ, **(env or {})},
    )
    events = tuple(json.loads(line) for line in done.stdout.splitlines() if line.startswith("{"))
    return Smoked(events, done.returncode, done.stdout, done.stderr)
