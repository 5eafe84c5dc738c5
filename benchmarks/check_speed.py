"""How fast and how small `mpsdoctor check` is, beside what people run today. Interleaved rounds, medians, ratios.

    python benchmarks/check_speed.py [ROUNDS] [PYTHON]

PYTHON is an interpreter that has torch; default: the one that runs this. Targets (issue 1): a full check at most 1.2 x
a bare `import torch` and not above torch.utils.collect_env; --no-import at most 0.35 s; --help at most 0.15 s; our own
process at most 60 MB.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
RECORDING = ROOT / "tests" / "recordings" / "03-m4max-macos26"
MEMORY = """
import resource, sys
from mpsdoctor.cli import main
try:
    main(sys.argv[1:])
except SystemExit:
    pass
sys.stderr.write("\\nRSS %d\\n" % resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


def seconds(argv: list[str]) -> float:
    """Run a command once, in a folder without settings of ours, and return its wall time."""
    started = time.perf_counter()
    subprocess.run(argv, cwd=tempfile.gettempdir(), capture_output=True, stdin=subprocess.DEVNULL, check=False)
    return time.perf_counter() - started


def resident_megabytes(arguments: list[str]) -> float:
    """Return the largest resident size of our own process during one command (Linux counts kilobytes)."""
    done = subprocess.run([sys.executable, "-c", MEMORY, *arguments], capture_output=True, text=True, check=False)
    size = int(done.stderr.rsplit("RSS ", 1)[1])
    return size / 1024 if sys.platform == "linux" else size / 1024**2


def replays_per_second(count: int = 1000) -> tuple[float, float]:
    """Return how many reports one process reads and judges in a second, and how many it also writes as JSON."""
    from datetime import date

    from mpsdoctor.diagnosis import diagnose
    from mpsdoctor.facts import Facts
    from mpsdoctor.facts.redaction import Redactor
    from mpsdoctor.registry import judge, load_registry
    from mpsdoctor.report.json_format import format_json
    from mpsdoctor.report.model import make_report
    from mpsdoctor.report.source import Source

    base = subprocess.run(
        [sys.executable, "-m", "mpsdoctor", "check", "--replay", str(RECORDING), "--format", "json"],
        capture_output=True,
        check=False,
    ).stdout
    registry = load_registry()
    judge(Facts(), registry, today=date.today())
    diagnose((), Facts())
    redactor = Redactor()
    judged = written = 0.0
    for _ in range(count):
        started = time.perf_counter()
        facts = Facts.from_json(json.loads(base)["facts"])
        report = make_report(facts, Source("report", "x"), registry)
        judged += time.perf_counter() - started
        format_json(report, redactor)
        written += time.perf_counter() - started
    return count / judged, count / written


def main() -> None:
    """Measure and print one JSON object."""
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 7
    python = sys.argv[2] if len(sys.argv) > 2 else sys.executable
    doctor = [sys.executable, "-m", "mpsdoctor"]
    commands = {
        "import torch": [python, "-c", "import torch"],
        "check": [*doctor, "check", "--python", python],
        "collect_env": [python, "-m", "torch.utils.collect_env"],
        "check --no-import": [*doctor, "check", "--python", python, "--no-import"],
        "--help": [*doctor, "--help"],
        "check --replay": [*doctor, "check", "--replay", str(RECORDING)],
    }
    times: dict[str, list[float]] = {name: [] for name in commands}
    for index in range(rounds + 1):
        for name, argv in commands.items():
            spent = seconds(argv)
            if index:  # the first round only fills the disk cache
                times[name].append(spent)
    medians = {name: round(statistics.median(values), 3) for name, values in times.items()}
    ratio = [a / b for a, b in zip(times["check"], times["import torch"], strict=True)]
    judged, written = replays_per_second()
    result = {
        "rounds": rounds,
        "median_seconds": medians,
        "check / import torch": round(statistics.median(ratio), 3),
        "check / collect_env": round(medians["check"] / medians["collect_env"], 3),
        "own process MB": round(resident_megabytes(["check", "--python", python]), 1),
        "reports judged per second": round(judged),
        "reports judged and written per second": round(written),
    }
    print(json.dumps(result, indent=1))


if __name__ == "__main__":
    main()
