"""From the command line to either the supervisor (the default) or one worker process."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Sequence

from .events import take_stdout
from .options import parse


def default_program() -> list[str]:
    """The command that starts this program again: the same interpreter with the same isolation flags."""
    flags = ["-B"]
    if sys.flags.isolated:
        flags.append("-I")
    else:
        flags += ["-E"] if sys.flags.ignore_environment else []
        flags += ["-s"] if sys.flags.no_user_site else []
    return [sys.executable, *flags, str(Path(__file__).resolve().parent)]


def main(argv: Sequence[str], program: Sequence[str] | None = None) -> int:
    """Run the proof and return the exit code: 0 passed, 1 failed, 2 usage, 3 nothing decided, 130 interrupted.

    ``program`` is the command that starts a worker (the options are appended). A caller that prepares the interpreter
    first, in a script of its own, passes that script here, so that workers are prepared in the same way.
    """
    options = parse(argv)
    writer = take_stdout()
    if options.worker is not None:
        from .worker import work

        return work(options, writer)
    from .supervisor import supervise

    return supervise(options, list(program or default_program()), writer)
