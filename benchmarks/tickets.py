"""How fast tickets are read: tickets a second after start-up, and ten megabytes of log.

Usage: python benchmarks/tickets.py [DIR]     (default: tests/tickets)
"""

from __future__ import annotations

import random
import sys
import time
from datetime import date
from pathlib import Path

from mpsdoctor.diagnosis import diagnose
from mpsdoctor.probes.intake import read_ticket
from mpsdoctor.registry import judge, load_registry
from mpsdoctor.report.model import make_report
from mpsdoctor.report.source import Source
from mpsdoctor.report.triage import Remembering, json_line

LOG_BYTES = 10_000_000
# Time of this process alone, so that what else runs on the machine does not count; nothing here waits.
clock = time.process_time


def tickets_a_second(texts: list[bytes], rounds: int = 3) -> tuple[float, float]:
    """Return tickets a second, judged only and with their JSON lines written."""
    registry = load_registry()
    read_and_judge(texts[0])
    started = clock()
    for _ in range(rounds):
        for text in texts:
            read_and_judge(text)
    judged = rounds * len(texts) / (clock() - started)
    started = clock()
    redactor = Remembering(user="somebody", home="/Users/somebody")
    for text in texts:
        facts, problems = read_ticket(text)
        json_line(make_report(facts, Source("ticket", "x"), registry, problems=tuple(problems)), redactor)
    return judged, len(texts) / (clock() - started)


def read_and_judge(text: bytes) -> str | None:
    """Return the first cause of one ticket."""
    facts, _ = read_ticket(text)
    diagnosis = diagnose(judge(facts, load_registry(), today=date(2026, 12, 1)), facts)
    return diagnosis.causes[0].cause if diagnosis.causes else None


def log(size: int, seed: int = 0) -> bytes:
    """A log of a long training run whose lines all differ, with one message near its end."""
    rng = random.Random(seed)
    lines: list[str] = []
    total = 0
    while total < size:
        words = " ".join(rng.choices(("loss", "torch", "mps", "step", "epoch", "lr", "macOS", "grad", "cache"), k=6))
        lines.append(f"2026-12-01 10:00:00 INFO {words} {rng.random():.6f} /Users/me/run/{rng.getrandbits(64):016x}.pt")
        total += len(lines[-1]) + 1
    lines.append("RuntimeError: Placeholder storage has not been allocated on MPS device!")
    return "\n".join(lines).encode()


def main() -> None:
    """Print the figures."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parents[1] / "tests" / "tickets"
    texts = [path.read_bytes() for path in sorted(folder.glob("*.txt"))]
    judged, written = tickets_a_second(texts)
    print(f"{len(texts)} tickets: {judged:.0f} a second read and judged, {written:.0f} a second with their JSON lines")
    data = log(LOG_BYTES)
    started = clock()
    cause = read_and_judge(data)
    print(f"{len(data) / 1e6:.1f} MB of log: {clock() - started:.2f} s, {cause}")


if __name__ == "__main__":
    main()
