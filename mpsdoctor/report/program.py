"""The name by which this program was started, so that a command that we tell can be run as it is."""

from __future__ import annotations

import functools
import shlex
import sys
from pathlib import PurePath

NAME = "mpsdoctor"


@functools.cache
def program() -> str:
    """Return `mpsdoctor`, or for the one file without installation what starts it: `python3 mpsdoctor.pyz`."""
    return started_as(sys.argv[0] if sys.argv else "", sys.orig_argv[0] if sys.orig_argv else "")


def started_as(script: str, interpreter: str) -> str:
    """Return the beginning of a command, from the script and the interpreter of this process."""
    if not script.endswith(".pyz"):
        return NAME
    return f"{shlex.quote(interpreter or PurePath(sys.executable).name or 'python3')} {shlex.quote(script)}"


def command(words: str) -> str:
    """Return one of our commands to copy: `command("fix --yes")`."""
    return f"{program()} {words}"
