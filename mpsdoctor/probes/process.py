"""Children with a time limit: closed stdin, streams apart and capped, the whole process group ended.

This is the only module of the engine that starts processes.
"""

from __future__ import annotations

import contextlib
import os
import selectors
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from mpsdoctor.probes.starting import beside_signals
from mpsdoctor.probes.stream import Stream

if TYPE_CHECKING:  # the facts load while the first child runs; see target_child.py
    from mpsdoctor.facts.process import ProcessEnd

STDERR_TAIL = 4000  # characters of stderr that a fact carries
DRAIN_SECONDS = 0.25  # how long a stream may stay silent after the child's own end before it is cut
_POLL_SECONDS = 0.05
_CHUNK = 1 << 16

OnLine = Callable[[bytes], "float | None"]


@dataclass(frozen=True)
class Completed:
    """What a child left behind. `stdout` and `stderr` hold begin and end of each stream, CAPTURE_LIMIT bytes."""

    argv: tuple[str, ...]
    end: ProcessEnd
    stdout: bytes = b""
    stderr: bytes = b""

    @property
    def ok(self) -> bool:
        """True for an exit with status 0."""
        return self.end.normal

    @property
    def text(self) -> str:
        """Standard output as text; bytes that are no UTF-8 are replaced, never fatal."""
        return self.stdout.decode("utf-8", "replace")

    @property
    def error_text(self) -> str:
        """Standard error as text."""
        return self.stderr.decode("utf-8", "replace")


_live: set[int] = set()
_live_lock = threading.Lock()
_ended = 0  # how often all children were ended: one that was just being started then is ended, too


def end_all_children() -> None:
    """End every child that is still running, with its group. For the interrupt handler of the command line."""
    global _ended
    with _live_lock:
        _ended += 1
        groups = list(_live)
    for group in groups:
        _kill_group(group)


def run_child(
    argv: Sequence[str],
    *,
    timeout: float,
    env: Mapping[str, str] | None = None,
    cwd: str | None = None,
    on_line: OnLine | None = None,
    keep: Sequence[int] = (),
) -> Completed:
    """Run `argv` and return how it went; never raises for anything that the child does.

    timeout: seconds for the whole child. on_line: called with each line of stdout; a number that it returns is a new,
    shorter limit in seconds for the stage that begins with that line (the whole limit stays). keep: descriptors that
    the child inherits, such as a lock that must outlive us.
    """
    started, ended_before = time.monotonic(), _ended

    def start() -> subprocess.Popen[bytes]:
        process = subprocess.Popen(
            list(argv),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=None if env is None else dict(env),
            cwd=cwd,
            start_new_session=True,
            pass_fds=tuple(keep),
        )
        with _live_lock:
            _live.add(process.pid)
            too_late = _ended != ended_before
        if too_late:
            _kill_group(process.pid)
        return process

    try:
        process = beside_signals(start, _finish)
    except (OSError, ValueError) as error:  # ValueError: a NUL byte in a path
        reason = os.strerror(error.errno) if isinstance(error, OSError) and error.errno else str(error)
        return Completed(tuple(argv), _end(how="not-started", error=reason))
    try:
        return _watch(process, tuple(argv), started, timeout, on_line)
    finally:
        _finish(process)


def _finish(process: subprocess.Popen[bytes]) -> None:
    _kill_group(process.pid)
    with _live_lock:
        _live.discard(process.pid)
    for stream in (process.stdout, process.stderr):
        if stream is not None:
            stream.close()
    process.wait()


@dataclass
class _Watch:
    """One child while it runs: its two streams, its limit, and how it came to its end."""

    process: subprocess.Popen[bytes]
    limit: float
    on_line: OnLine | None
    out: Stream = field(default_factory=Stream)
    err: Stream = field(default_factory=Stream)
    ended_at: float | None = None
    timed_out: bool = False
    held_open: bool = False  # a grandchild keeps a stream open after the child's own end

    def __post_init__(self) -> None:
        self.deadline = self.limit

    def until_end(self) -> None:
        """Read both streams until they end, the time is over, or the child is gone and a stream stays silent."""
        with selectors.DefaultSelector() as selector:
            for pipe, stream in ((self.process.stdout, self.out), (self.process.stderr, self.err)):
                assert pipe is not None
                os.set_blocking(pipe.fileno(), False)
                selector.register(pipe, selectors.EVENT_READ, stream)
            while selector.get_map() and not self._over():
                for key, _ in selector.select(_POLL_SECONDS):
                    data = _read(key.fd)
                    if data:
                        self._feed(key.data, data)
                    elif data is not None:
                        selector.unregister(key.fileobj)
        if not self.timed_out and self.ended_at is None:  # it closed its streams and goes on
            self.timed_out = not _wait(self.process, self.deadline)

    def _over(self) -> bool:
        now = time.monotonic()
        if self.ended_at is None and self.process.poll() is not None:
            self.ended_at = now
        if self.ended_at is None:
            self.timed_out = now > self.deadline
        else:
            self.held_open = now - self.ended_at > DRAIN_SECONDS
        return self.timed_out or self.held_open

    def _feed(self, stream: Stream, data: bytes) -> None:
        for line in stream.feed(data):
            if stream is self.out and self.on_line is not None:
                stage_limit = self.on_line(line)
                if stage_limit is not None:
                    self.deadline = min(self.limit, time.monotonic() + stage_limit)


def _watch(
    process: subprocess.Popen[bytes], argv: tuple[str, ...], started: float, timeout: float, on_line: OnLine | None
) -> Completed:
    watch = _Watch(process, started + timeout, on_line)
    watch.until_end()
    left = _kill_group(process.pid) and not watch.timed_out
    process.wait()
    seconds = time.monotonic() - started
    out, err = watch.out, watch.err
    end = _describe(process.returncode, watch.timed_out, seconds, out, err, watch.held_open or left)
    return Completed(argv, end, out.kept, err.kept)


def _read(descriptor: int) -> bytes | None:
    try:
        return os.read(descriptor, _CHUNK)
    except BlockingIOError:
        return None
    except OSError:
        return b""


def _wait(process: subprocess.Popen[bytes], deadline: float) -> bool:
    try:
        process.wait(max(0.0, deadline - time.monotonic()))
    except subprocess.TimeoutExpired:
        return False
    return True


def _kill_group(group: int) -> bool:
    """End what is left of the process group; return whether anything was."""
    if not hasattr(os, "killpg"):  # Windows: MPS cannot exist there, only a short probe runs
        return False
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(group, signal.SIGKILL)
        return True
    return False


def _describe(code: int, timed_out: bool, seconds: float, out: Stream, err: Stream, left: bool) -> ProcessEnd:
    tail = err.kept.decode("utf-8", "replace")[-STDERR_TAIL:] or None
    how, exit_code, name = "exit", code, None
    if timed_out:
        how, exit_code = "timeout", 0
    elif code < 0:
        how, exit_code, name = "signal", 0, _signal_name(-code)
    return _end(
        how=how,
        code=exit_code if how == "exit" else None,
        signal=name,
        seconds=round(seconds, 3),
        output_bytes=out.total + err.total,
        stderr_tail=tail,
        left_processes=left or None,
    )


def _end(**values: Any) -> ProcessEnd:
    from mpsdoctor.facts.process import ProcessEnd

    return ProcessEnd(**values)


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
