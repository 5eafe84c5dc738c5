"""Runs the program on a sound device with many seeds and counts false alarms.

    python tests/training_smoke/clean_runs.py --runs 20 [--device cpu] [--dtype float16] [--full]

Prints one JSON object: the runs, every problem that was reported, and the extremes of what the judges compare with
their bars, so that a bar that comes too close is seen before it raises an alarm. Exit code 1 if any run did not pass.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

PROGRAM = Path(__file__).resolve().parents[2] / "training_smoke"
# The number of each network's report, and which end of it is the critical one.
WATCHED = {
    "last_loss": max, "accuracy": min, "cosine": min, "curve_distance": max, "first_loss_difference": max,
    "memory_growth_bytes": max, "last_scale": min,
}  # fmt: skip


def one_run(seed: int, options: list[str]) -> dict[str, Any]:
    """The result event of one run; a run without one is a problem of its own."""
    argv = [sys.executable, str(PROGRAM), "--seed", str(seed), *options]
    done = subprocess.run(argv, capture_output=True, text=True)
    lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
    last: dict[str, Any] = json.loads(lines[-1]) if lines else {}
    return (
        last if last.get("event") == "result" else {"outcome": f"no result, exit code {done.returncode}", "stages": []}
    )


def summarise(results: list[dict[str, Any]]) -> dict[str, Any]:
    """What went wrong, and how close the sound runs came to the bars."""
    stages = [stage for result in results for stage in result["stages"]]
    networks = [network for stage in stages for network in stage.get("networks", [])]
    extremes: dict[str, dict[str, float]] = {}
    for network in networks:
        mine = extremes.setdefault(network["network"], {})
        for key, worse in WATCHED.items():
            if network[key] is not None:
                mine[key] = worse(mine.get(key, network[key]), network[key])
        mine["norm_ratio_off"] = max(mine.get("norm_ratio_off", 0.0), abs(network["norm_ratio"] - 1.0))
    return {
        "runs": len(results),
        "passed": sum(result["outcome"] == "pass" for result in results),
        "problems": [problem for stage in stages for problem in stage["problems"]],
        "largest_operator_error": max((stage.get("largest_error") or 0.0 for stage in stages), default=0.0),
        "networks": extremes,
        "seconds": [round(sum(stage["seconds"] for stage in result["stages"]), 1) for result in results],
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--dtype", default="float16")
    parser.add_argument("--full", action="store_true", help="not --quick")
    parser.add_argument("--skip", default="", help="stages to leave out")
    given = parser.parse_args()
    options = ["--device", given.device, "--dtype", given.dtype, *([] if given.full else ["--quick"])]
    options += ["--skip", given.skip] if given.skip else []
    results = [one_run(given.first_seed + index, options) for index in range(given.runs)]
    summary = summarise(results)
    print(json.dumps(summary, indent=2))
    return 0 if summary["passed"] == given.runs else 1


if __name__ == "__main__":
    sys.exit(main())
