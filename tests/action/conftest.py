"""A prepared home of the doctor for the action, so that most tests need not install it again."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.conftest import RECORDINGS

REPLAY = """#!/usr/bin/env bash
# The real command, on a recorded Mac instead of this machine.
shift 3 # -I -m mpsdoctor
given=()
for argument in "$@"; do
  case "$argument" in
    --from=*) replay="" ;;
  esac
  given+=("$argument")
done
if [ -n "${replay-$MPSDOCTOR_TEST_REPLAY}" ]; then given+=("--replay=$MPSDOCTOR_TEST_REPLAY"); fi
exec "$MPSDOCTOR_TEST_PYTHON" -m mpsdoctor "${given[@]}"
"""
REAL = f"""#!/usr/bin/env bash
exec "{sys.executable}" "$@"
"""


def home(folder: Path, script: str) -> Path:
    place = folder / "home with space"
    (place / "venv" / "bin").mkdir(parents=True)
    command = place / "venv" / "bin" / "python"
    command.write_text(script)
    command.chmod(0o755)
    return place


@pytest.fixture
def doctor(tmp_path: Path) -> Path:
    """A home whose command examines this machine."""
    return home(tmp_path, REAL)


@pytest.fixture
def replaying(tmp_path: Path) -> Path:
    """A home whose command examines the recording that MPSDOCTOR_TEST_REPLAY names."""
    return home(tmp_path, REPLAY)


def on(name: str) -> dict[str, str]:
    return {"MPSDOCTOR_TEST_REPLAY": str(RECORDINGS / name), "MPSDOCTOR_TEST_PYTHON": sys.executable}
