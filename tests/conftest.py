"""Shared fixtures: the command line run for real, and the recorded Macs."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

ROOT = Path(__file__).resolve().parent.parent
RECORDINGS = ROOT / "tests" / "recordings"

# Begun in the background or under nohup, we and all our children would ignore what the tests of interruptions send.
for _number, _usual in ((signal.SIGINT, signal.default_int_handler), (signal.SIGHUP, signal.SIG_DFL)):
    if signal.getsignal(_number) is signal.SIG_IGN:
        signal.signal(_number, _usual)

# A change must not be refused for what it did not touch: in CI hypothesis draws the same examples each time. At a desk
# it draws new ones, and what it finds becomes a test.
settings.register_profile("ci", derandomize=True)
if os.environ.get("CI"):
    settings.load_profile("ci")


@dataclass(frozen=True)
class Ran:
    """How one run of the command line went."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> dict[str, Any]:
        data = json.loads(self.out)
        assert isinstance(data, dict)
        return data


@pytest.fixture
def mpsdoctor(tmp_path: Path) -> Callable[..., Ran]:
    """Run `mpsdoctor ARGS` in a process of its own, in an empty folder; it must never print a traceback."""

    def run(
        *arguments: str, env: dict[str, str] | None = None, stdin: bytes | None = None, cwd: Path | None = None,
        timeout: float = 120,
    ) -> Ran:  # fmt: skip
        folder = cwd or tmp_path
        clean = {k: v for k, v in os.environ.items() if k not in ("VIRTUAL_ENV", "CONDA_PREFIX", "COLUMNS")}
        done = subprocess.run(
            [sys.executable, "-m", "mpsdoctor", *arguments],
            input=stdin,
            stdin=subprocess.DEVNULL if stdin is None else None,
            capture_output=True,
            cwd=folder,
            env={**clean, **(env or {})},
            timeout=timeout,
            check=False,
        )
        out, err = done.stdout.decode("utf-8", "replace"), done.stderr.decode("utf-8", "replace")
        assert "Traceback" not in out + err, err
        return Ran(done.returncode, out, err)

    return run
