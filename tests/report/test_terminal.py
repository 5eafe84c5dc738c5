"""What people see, to the letter, at 80 and at 120 columns: cause first, one remedy, no wall of text.

The texts lie in golden/. After a change that is meant: python -m tests.report.test_terminal
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from mpsdoctor.facts import Smoke, SmokeStage, Speed, SpeedCase
from mpsdoctor.report.smoke_text import format_smoke
from tests.conftest import RECORDINGS, ROOT

GOLDEN = Path(__file__).parent / "golden"
WIDTHS = (80, 120)
REPLAYED = (
    "01-m1-air-8gb-macos14-uv", "04-m1-macos13-old", "05-m1pro-anaconda-x86_64-rosetta",
    "08-github-macos-15-arm64-runner", "09-docker-linux-on-mac", "11-m3-macos26-built-not-available",
    "14-bonus-github-macos-26-arm64-runner",
)  # fmt: skip
COMMANDS = {f"check-{name[:2]}": ("check", "--replay", str(RECORDINGS / name)) for name in REPLAYED}
TICKET = str(ROOT / "tests" / "tickets" / "slow-title.txt")
COMMANDS["check-two-causes"] = ("check", "--from", TICKET)
COMMANDS["check-asked"] = (
    "check",
    "--replay",
    str(RECORDINGS / REPLAYED[1]),
    "--expect",
    "mps",
    "--ignore",
    "EN101=x, y",
)
COMMANDS["explain-check"] = ("explain", "PY101")
COMMANDS["explain-cause"] = ("explain", "virtual-machine-gpu")
COMMANDS["fix-04"] = ("fix", "--dry-run", "--replay", str(RECORDINGS / "04-m1-macos13-old"))
# The number of checks grows with the catalogue and says nothing here.
_COUNT = re.compile(r"\d+(?= (?:passed|not known|ignored|checks? not reached|do(?:es)? not apply|do$))", re.MULTILINE)
PROOF = Smoke(
    device="mps",
    dtype="float16",
    torch="2.14.1",
    outcome="pass",
    stages=(
        SmokeStage(stage="allocate", outcome="pass", detail="64 MB"),
        SmokeStage(stage="numerics", outcome="pass", detail="69 of 69 operators agree with the CPU"),
        SmokeStage(stage="train", outcome="pass", detail="float16 cnn loss 2.30 -> 0.11; gradients agree with the CPU"),
        SmokeStage(stage="fallback", outcome="pass", detail="no operator left the GPU"),
        SmokeStage(stage="speed", outcome="pass", detail="the CPU wins below about 1 ms a step"),
    ),
    speed=Speed(
        cases=(
            SpeedCase(name="small", batch=64, ratio=0.6),
            SpeedCase(name="medium", batch=64, ratio=4.1),
            SpeedCase(name="large", batch=64, ratio=7.9),
        ),
        fp16_gain=1.3,
    ),
)


def shown(name: str, width: int) -> str:
    if name == "smoke":
        return "".join(line.plain.rstrip() + "\n" for line in format_smoke(PROOF, min(width, 100)))
    kept = {key: value for key, value in os.environ.items() if key not in ("FORCE_COLOR", "NO_COLOR")}
    done = subprocess.run(
        [sys.executable, "-m", "mpsdoctor", *COMMANDS[name]],
        env={**kept, "COLUMNS": str(width), "PYTHONIOENCODING": "utf-8"},
        capture_output=True, text=True, encoding="utf-8", stdin=subprocess.DEVNULL, check=False,
    )  # fmt: skip
    assert done.stderr == ""
    return _COUNT.sub("N", done.stdout)


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", [*COMMANDS, "smoke"])
def test_the_terminal_shows_exactly_this(name: str, width: int) -> None:
    text = shown(name, width)
    assert text == (GOLDEN / f"{name}-{width}.txt").read_text(encoding="utf-8")
    # Commands to copy are never broken; all else keeps to the width, and an answer to one screen.
    to_copy = r"\s+(?:(?:Ask for|What to do|To be sure)\s+)?(?:curl|[~/]\S+/bin/\S+|python)\s"
    prose = [line for line in text.splitlines() if not re.match(to_copy, line)]
    assert max(map(len, prose)) <= min(width, 100)
    assert len(text.splitlines()) <= 32


def test_the_cause_comes_before_the_remedy_and_both_before_the_chain() -> None:
    for name in ("check-04", "check-05", "check-08", "check-11", "check-14"):
        text = (GOLDEN / f"{name}-80.txt").read_text(encoding="utf-8")
        first = next(line for line in text.splitlines() if line[:1] in "✗!")
        places = [text.index(part) for part in (first, "How we know", "What to do", "chain")]
        assert places == sorted(places)
        assert text.count("What to do") == 1


if __name__ == "__main__":
    GOLDEN.mkdir(exist_ok=True)
    for one in (*COMMANDS, "smoke"):
        for columns in WIDTHS:
            (GOLDEN / f"{one}-{columns}.txt").write_text(shown(one, columns), encoding="utf-8")
