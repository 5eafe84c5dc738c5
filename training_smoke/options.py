"""Command-line options, and how they are handed to worker processes."""

from __future__ import annotations

import argparse
import json
from dataclasses import dataclass, field
from typing import Any, Sequence

STAGES = ("allocate", "numerics", "train", "fallback", "speed")
DTYPES = ("float16", "bfloat16", "float32")
DEVICES = ("mps", "cuda", "cpu")
# Seconds. Each includes the start of its process and the import of torch, which takes a minute on a cold disk.
# "operator" is the longest silence of one operator, which on MPS includes compiling its graph.
DEADLINES = {"allocate": 120.0, "numerics": 300.0, "train": 300.0, "fallback": 180.0, "speed": 150.0, "operator": 60.0}


@dataclass(frozen=True)
class Options:
    """What was asked for. ``operators`` of None means all; ``worker`` is the stage that this process runs, or None."""

    device: str = "mps"
    dtype: str = "float16"
    quick: bool = False
    seed: int = 0
    stages: tuple[str, ...] = STAGES
    operators: tuple[str, ...] | None = None
    context: dict[str, Any] = field(default_factory=dict)
    deadlines: dict[str, float] = field(default_factory=lambda: dict(DEADLINES))
    worker: str | None = None

    def worker_argv(self, stage: str, operators: Sequence[str] | None = None) -> list[str]:
        """The options of a worker for ``stage``, restricted to ``operators`` where given."""
        argv = ["--device", self.device, "--dtype", self.dtype, "--seed", str(self.seed), "--worker", stage]
        argv += ["--quick"] if self.quick else []
        argv += ["--context", json.dumps(self.context)] if self.context else []
        chosen = operators if operators is not None else self.operators
        return argv if chosen is None else [*argv, "--operators", ",".join(chosen)]


def _stage_list(text: str) -> tuple[str, ...]:
    names = tuple(name for name in text.split(",") if name)
    unknown = [name for name in names if name not in STAGES]
    if unknown:
        raise argparse.ArgumentTypeError("no such stage: {} (of {})".format(", ".join(unknown), ", ".join(STAGES)))
    return names


def _context(text: str) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"not JSON: {error}") from None
    if not isinstance(value, dict):
        raise argparse.ArgumentTypeError("a JSON object is wanted")
    return value


def _deadline(text: str) -> tuple[str, float]:
    name, _, seconds = text.partition("=")
    try:
        value = float(seconds)
    except ValueError:
        value = 0.0
    if name not in DEADLINES or not value > 0:
        raise argparse.ArgumentTypeError("STAGE=SECONDS is wanted, with a stage of {}".format(", ".join(DEADLINES)))
    return name, value


def _seed(text: str) -> int:
    try:
        value = int(text)
    except ValueError:
        value = -1
    if not 0 <= value < 2**63:  # what a generator of torch takes
        raise argparse.ArgumentTypeError(f"a whole number from 0 to 2**63 - 1 is wanted, not {text[:60]!r}")
    return value


def parser() -> argparse.ArgumentParser:
    """The command line of the program."""
    result = argparse.ArgumentParser(prog="training_smoke", description="Train for real and say whether it worked.")
    result.add_argument("--device", choices=DEVICES, default="mps")
    result.add_argument("--dtype", choices=DTYPES, default="float16")
    result.add_argument("--quick", action="store_true", help="fewer steps and sizes")
    result.add_argument("--seed", type=_seed, default=0, help="seed of this program's own generators")
    result.add_argument("--only", type=_stage_list, metavar="STAGES", help="run only these stages (comma-separated)")
    result.add_argument("--skip", type=_stage_list, default=(), metavar="STAGES", help="leave these stages out")
    result.add_argument("--context", type=_context, default={}, metavar="JSON", help="facts that explain a slow result")
    result.add_argument(
        "--deadline", type=_deadline, action="append", default=[], metavar="STAGE=SECONDS", help="may be repeated"
    )
    result.add_argument("--operators", metavar="NAMES", help="only these operators (also used between processes)")
    result.add_argument("--worker", choices=STAGES, help=argparse.SUPPRESS)
    return result


def parse(argv: Sequence[str]) -> Options:
    """Read ``argv``; a usage error ends the process with exit code 2, as argparse does."""
    given = parser().parse_args(argv)
    chosen = given.only if given.only is not None else STAGES
    deadlines = dict(DEADLINES)
    deadlines.update(dict(given.deadline))
    operators = None if given.operators is None else tuple(name for name in given.operators.split(",") if name)
    return Options(
        device=given.device,
        dtype=given.dtype,
        quick=given.quick,
        seed=given.seed,
        stages=tuple(stage for stage in STAGES if stage in chosen and stage not in given.skip),
        operators=operators,
        context=given.context,
        deadlines=deadlines,
        worker=given.worker,
    )
