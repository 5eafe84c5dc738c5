"""JSON events, one a line, on a private copy of stdout."""

from __future__ import annotations

import contextlib
import json
import math
import os
import sys
import threading
import time
from typing import Any


def clean(value: Any) -> Any:
    """``value`` as strict JSON knows it: NaN and infinity become null, tuples lists, unknown objects their text."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, dict):
        return {str(key): clean(item) for key, item in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [clean(item) for item in value]
    return str(value)


class EventWriter:
    """Writes events to the file descriptor ``fd``, each as one line in one write where the pipe allows it."""

    def __init__(self, fd: int) -> None:
        self._fd = fd
        self._lock = threading.Lock()
        self._started = time.monotonic()

    def emit(self, event: str, **fields: Any) -> None:
        """Write one event; ``t`` is the seconds since this process began to report."""
        record: dict[str, Any] = {"event": event, "t": round(time.monotonic() - self._started, 3)}
        record.update(fields)
        data = (json.dumps(clean(record), allow_nan=False) + "\n").encode("utf-8")
        with self._lock:
            while data:
                data = data[os.write(self._fd, data) :]


def take_stdout() -> EventWriter:
    """Keep fd 1 for events alone: whatever else writes to stdout from now on (torch, C libraries, text that a
    sitecustomize left in Python's buffer) goes to stderr.

    Text written without a buffer before this program starts cannot be taken back: readers skip lines that are not JSON.
    """
    private = os.dup(1)
    try:
        os.dup2(2, 1)
    except OSError:
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, 1)
        os.close(null)
    # pythonw has no stdout, and a site customisation may have closed it
    with contextlib.suppress(AttributeError, OSError, ValueError):
        sys.stdout.flush()
    return EventWriter(private)
