"""Starts something where no signal is handled: an interruption inside of Popen would lose the child it has made."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future, wait
from typing import TypeVar

_PATIENCE = 0.05  # seconds; in short pieces, for a signal just before an endless wait would not end it

T = TypeVar("T")


def beside_signals(start: Callable[[], T], finish: Callable[[T], None]) -> T:
    """Return what `start` returns, from a thread of its own where this one is interrupted by signals.

    finish: ends what `start` gives after an interruption that nobody waits for any more.
    """
    if threading.current_thread() is not threading.main_thread():
        return start()
    future: Future[T] = Future()

    def run() -> None:
        try:
            future.set_result(start())
        except BaseException as error:
            future.set_exception(error)

    threading.Thread(target=run).start()
    try:
        while not wait([future], timeout=_PATIENCE).done:
            pass
    except BaseException:
        future.add_done_callback(lambda done: None if done.exception() else finish(done.result()))
        raise
    return future.result()
