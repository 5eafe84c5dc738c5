"""Completion as a shell asks for it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from mpsdoctor.cli import COMMANDS

COMMAND = Path(sys.executable).with_name("mpsdoctor")


def complete(line: str) -> list[str]:
    """What bash offers at the end of a line, with the printed script loaded."""
    words = line.split(" ")
    script = (
        f'eval "$("{COMMAND}" completion bash)"\n'
        f"COMP_WORDS=({line}); COMP_CWORD={len(words) - 1}\n"
        '_mpsdoctor_completion mpsdoctor\nprintf "%s\\n" "${COMPREPLY[@]}"\n'
    )
    env = {**os.environ, "PATH": f"{COMMAND.parent}:{os.environ['PATH']}"}
    done = subprocess.run(["bash", "--norc", "-c", script], env=env, capture_output=True, text=True, check=True)
    assert done.stderr == ""
    return done.stdout.split()


def test_bash_completes_commands_options_and_choices() -> None:
    assert set(complete("mpsdoctor ")) >= {"check"} or set(complete("mpsdoctor c")) == {"check", "completion"}
    assert complete("mpsdoctor che") == ["check"]
    assert complete("mpsdoctor check --vm") == ["--vm-policy"]
    assert set(complete("mpsdoctor check --format j")) == {"json", "junit"}


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_each_shell_reads_its_script(shell: str, tmp_path: Path) -> None:
    done = subprocess.run([str(COMMAND), "completion", shell], capture_output=True, text=True, check=True)
    assert "_MPSDOCTOR_COMPLETE" in done.stdout
    if shutil.which(shell):
        (tmp_path / "script").write_text(done.stdout)
        subprocess.run([shell, "-n", str(tmp_path / "script")], check=True)


def test_an_unknown_shell_is_refused() -> None:
    done = subprocess.run([str(COMMAND), "completion", "csh"], capture_output=True, text=True, check=False)
    assert (done.returncode, "completion" in COMMANDS) == (2, True)
