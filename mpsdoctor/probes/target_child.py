"""Runs our scripts in the target interpreter.

Imports next to nothing: the child starts first, and what reads its answer loads while it runs.
"""

from __future__ import annotations

import os
from pathlib import Path

from mpsdoctor.probes.on_disk import on_disk
from mpsdoctor.probes.process import Completed, OnLine
from mpsdoctor.probes.runner import Runner

INTERPRETER_LABEL, TORCH_LABEL = "<python facts probe>", "<torch facts probe>"
INTERPRETER_TIMEOUT = 15.0  # seconds; a healthy start takes 0.05, a cold disk or endpoint protection some seconds
TORCH_TIMEOUT = 60.0  # seconds for everything; a cold import of torch from a slow disk takes up to 30
_SCRIPTS = Path(__file__).with_name("target")
_PLACEHOLDER = "/usr/bin/python3"  # Apple's, where the developer tools are missing: it opens a dialog on the screen


def run_interpreter_script(runner: Runner, executable: str, timeout: float = INTERPRETER_TIMEOUT) -> Completed:
    """Run the target with the script that tells what it is; what must not be started ends as "refused".

    timeout: seconds that it has at most, and never more than INTERPRETER_TIMEOUT.
    """
    argv = [executable, "-B", _script("interpreter_probe.py")]
    if _is_placeholder(runner, executable):
        from mpsdoctor.facts.process import ProcessEnd

        error = "it is Apple's placeholder, which would ask on the screen to install the developer tools"
        return Completed(tuple(argv), ProcessEnd(how="refused", error=error))
    return runner.run(argv, timeout=min(timeout, INTERPRETER_TIMEOUT), label=INTERPRETER_LABEL)


def run_torch_script(runner: Runner, executable: str, timeout: float, on_line: OnLine) -> Completed:
    """Run the target with the script that imports torch. timeout: seconds for the whole child."""
    argv = [executable, "-B", _script("torch_probe.py"), f"{timeout:g}"]
    return runner.run(argv, timeout=timeout, label=TORCH_LABEL, on_line=on_line)


def _script(name: str) -> str:
    return str(on_disk(_SCRIPTS) / name)  # the target cannot read our zip file


def _is_placeholder(runner: Runner, executable: str) -> bool:
    if not runner.live or runner.system != "Darwin" or os.path.realpath(executable) != _PLACEHOLDER:
        return False
    return not runner.run(["xcode-select", "-p"], timeout=INTERPRETER_TIMEOUT).ok
