"""What a repair is doing, line by line on stderr; on a terminal with the seconds that the step has taken so far."""

from __future__ import annotations

import contextlib
import sys
import threading
import time

import click

_AFTER = 2.0  # seconds; a quick step needs no clock


class Steps:
    """Call it with the text of each step; it counts until the next one, or until the end."""

    def __init__(self) -> None:
        self._watched = bool(sys.stderr and sys.stderr.isatty())
        self._over = threading.Event()
        self._thread: threading.Thread | None = None

    def __enter__(self) -> Steps:
        return self

    def __call__(self, text: str) -> None:
        """Begin a step."""
        self._end()
        click.echo(text, err=True, nl=not self._watched)
        if self._watched:
            self._over = threading.Event()
            self._thread = threading.Thread(target=self._count, args=(text, self._over), daemon=True)
            self._thread.start()

    def __exit__(self, *_: object) -> None:
        self._end()

    def _count(self, text: str, over: threading.Event) -> None:
        begun, wait = time.monotonic(), _AFTER
        while not over.wait(wait):
            wait = 1.0
            with contextlib.suppress(OSError, ValueError):
                click.echo(f"\r{text} ({_spent(time.monotonic() - begun)})", err=True, nl=False)

    def _end(self) -> None:
        if self._thread is not None:
            self._over.set()
            self._thread.join()
            self._thread = None
            click.echo(err=True)


def _spent(seconds: float) -> str:
    """Write a time as a person would.

    >>> _spent(9.7), _spent(75)
    ('9 s', '1 min 15 s')
    """
    minutes, rest = divmod(int(seconds), 60)
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"
