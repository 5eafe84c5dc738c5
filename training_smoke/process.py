"""One worker process: started, listened to with a deadline, ended."""

from __future__ import annotations

import contextlib
import json
import os
import queue
import signal
import subprocess
import sys
import tempfile
import threading
import time
from typing import IO, Any, Mapping, Sequence

_TAIL_BYTES = 65536
# A process stuck inside a GPU driver does not die even of SIGKILL: wait this long, then leave it behind.
_KILL_WAIT_S = 10.0


class Stalled(Exception):
    """Nothing came from the worker before the deadline."""


class WorkerProcess:
    """A child whose stdout is a stream of JSON events. It stays in our process group, so whoever ends that group ends
    it too; its stderr goes to a temporary file, because the words of an abort are found only there."""

    def __init__(self, argv: Sequence[str], environment: Mapping[str, str] | None = None) -> None:
        self._stderr: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115  it lives as long as the process
        self._queue: queue.Queue[dict[str, Any] | None] = queue.Queue()
        self._process = subprocess.Popen(
            list(argv),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=self._stderr,
            env=None if environment is None else dict(os.environ, **environment),
        )
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        stream = self._process.stdout
        assert stream is not None
        with stream:
            for line in stream:
                try:
                    event = json.loads(line.decode("utf-8"))
                except ValueError:
                    event = None
                if isinstance(event, dict) and "event" in event:
                    self._queue.put(event)
                else:  # somebody else's print, from before the worker took its stdout away
                    sys.stderr.write(line.decode("utf-8", "replace"))
        self._queue.put(None)

    def next_event(self, deadline: float) -> dict[str, Any] | None:
        """The next event, or None at the end of the stream; raises Stalled at ``deadline`` (of time.monotonic)."""
        try:
            return self._queue.get(timeout=max(0.0, deadline - time.monotonic()))
        except queue.Empty:
            raise Stalled() from None

    def stop(self, grace: float = 0.0) -> None:
        """End the process: wait ``grace`` seconds for it to leave by itself, then kill it."""
        try:
            self._process.wait(timeout=grace)
        except subprocess.TimeoutExpired:
            self._process.kill()
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(timeout=_KILL_WAIT_S)

    def ending(self) -> str:
        """How the process ended, in words: ``SIGABRT`` or ``exit status 1``."""
        status = self._process.poll()
        if status is None:
            return "does not end"
        if status >= 0:
            return f"exit status {status}"
        try:
            return signal.Signals(-status).name
        except ValueError:
            return f"signal {-status}"

    def stderr_tail(self) -> str:
        """The last 64 KiB that the process wrote to stderr."""
        size = self._stderr.seek(0, os.SEEK_END)
        self._stderr.seek(max(0, size - _TAIL_BYTES))
        return self._stderr.read().decode("utf-8", "replace")

    def close(self) -> None:
        """Pass the worker's stderr on to ours, and let the file go."""
        text = self.stderr_tail()
        if text:
            sys.stderr.write(text)
        self._stderr.close()
