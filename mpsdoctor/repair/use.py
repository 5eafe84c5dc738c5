"""Who uses an environment right now: its files must not change under a running program."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from mpsdoctor.probes.process import run_child

_SECONDS = 10.0


def users_of(folders: Sequence[str], library: str | None) -> list[str]:
    """Return the processes (other than ours and those above us) that have files of these folders loaded.

    library: torch's core library; on macOS lsof tells who has it open, as a whole tree takes it too long.
    """
    own = {str(pid) for pid in _ancestors(os.getpid())}
    found = _by_maps(folders) if sys.platform == "linux" else _by_lsof(library)
    return [f"{pid} ({command})" for pid, command in found if pid not in own]


def _ancestors(pid: int) -> Iterator[int]:
    yield pid
    yield os.getppid()
    for _ in range(32):
        try:
            pid = int(
                Path(f"/proc/{pid}/stat").read_text(encoding="ascii", errors="replace").rsplit(")", 1)[1].split()[1]
            )
        except (OSError, ValueError, IndexError):
            return
        yield pid


def _by_maps(folders: Sequence[str]) -> Iterator[tuple[str, str]]:
    roots = [f"{os.path.realpath(folder)}/".encode() for folder in folders]
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            words = (process / "cmdline").read_bytes().split(b"\0")
            mapped = (process / "maps").read_bytes()
            started = any(words[0].startswith(root) for root in roots)
            if started or any(b" " + root in mapped for root in roots):
                yield process.name, b" ".join(words).decode("utf-8", "replace").strip()[:80]


def _by_lsof(library: str | None) -> Iterator[tuple[str, str]]:
    if library is None:
        return
    done = run_child(["/usr/sbin/lsof", "-F", "pc", "--", library], timeout=_SECONDS)
    pid = ""
    for line in done.text.splitlines():
        if line.startswith("p"):
            pid = line[1:]
        elif line.startswith("c") and pid:
            yield pid, line[1:]
