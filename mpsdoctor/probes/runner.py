"""The one door through which probes reach the machine, so that what they saw can be recorded and replayed.

A probe asks a `Runner` for commands (`run`), small text files (`read`) and the answers of our own file readers
(`probe`). `LiveRunner` asks this machine; recording.py has the two others.
"""

from __future__ import annotations

import contextlib
import os
import platform
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from mpsdoctor.probes.process import Completed, OnLine, run_child

READ_LIMIT = 1024 * 1024  # bytes; the files read whole here (/proc, SystemVersion) have a few kilobytes

# Apple's tools by absolute path: PATH is short under launchd, cron and editors (and may hold other programs).
# Darwin, Linux, FreeBSD, CYGWIN_NT-10.0; what a damaged recording begins with is no system.
SYSTEM_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_.-]{1,40}")
SYSTEM_TOOLS = {
    "sw_vers": "/usr/bin/sw_vers",
    "sysctl": "/usr/sbin/sysctl",
    "uname": "/usr/bin/uname",
    "xcode-select": "/usr/bin/xcode-select",
    "pmset": "/usr/bin/pmset",
    "ioreg": "/usr/sbin/ioreg",
    "system_profiler": "/usr/sbin/system_profiler",
}


class Runner(Protocol):
    """Access to one machine: this one, or a recorded one."""

    @property
    def environ(self) -> Mapping[str, str]:
        """The environment variables of the process that asked."""

    @property
    def system(self) -> str | None:
        """ "Darwin", "Linux" or "Windows"; None where a recording does not tell."""

    @property
    def live(self) -> bool:
        """True where this very machine answers."""

    def run(
        self,
        argv: Sequence[str],
        *,
        timeout: float,
        env: Mapping[str, str] | None = None,
        label: str | None = None,
        on_line: OnLine | None = None,
    ) -> Completed:
        """Run a command. `env` is added to the environment; `label` replaces the arguments in a recording."""

    def read(self, path: str) -> str | None:
        """Return a small text file, or None where it is missing or unreadable."""

    def probe(self, name: str, function: Callable[[], Any]) -> Any:
        """Return the JSON answer of one of our own file readers; from a recording, the recorded answer or None."""


def home_folder() -> Path | None:
    """Return this user's home folder; None where nothing names one, as for a container's numeric user."""
    path = os.path.expanduser("~")  # noqa: PTH111 - Path.home raises there
    return Path(path) if os.path.isabs(path) else None  # noqa: PTH117


def expanded(path: str) -> Path:
    """Return the path with ~ and ~user resolved; as it is where there is no such user."""
    return Path(os.path.expanduser(path))  # noqa: PTH111 - Path.expanduser raises there


class LiveRunner:
    """This machine."""

    live = True

    def __init__(self, environ: Mapping[str, str] | None = None) -> None:
        self.environ: Mapping[str, str] = dict(os.environ if environ is None else environ)
        self.system: str | None = platform.system()

    def run(
        self,
        argv: Sequence[str],
        *,
        timeout: float,
        env: Mapping[str, str] | None = None,
        label: str | None = None,
        on_line: OnLine | None = None,
    ) -> Completed:
        """Run a command here; see `Runner.run`."""
        command = [self._resolve(argv[0]), *argv[1:]]
        return run_child(command, timeout=timeout, env={**self.environ, **(env or {})}, on_line=on_line)

    def _resolve(self, tool: str) -> str:
        path = SYSTEM_TOOLS.get(tool)
        return path if path and (self.system == "Darwin" or Path(path).exists()) else tool

    def read(self, path: str) -> str | None:
        """Return a small text file of this machine."""
        with contextlib.suppress(OSError, ValueError), Path(path).open("rb") as file:
            return file.read(READ_LIMIT).decode("utf-8", "replace")
        return None

    def probe(self, name: str, function: Callable[[], Any]) -> Any:
        """Call the file reader."""
        return function()
