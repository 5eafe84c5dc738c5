"""One worker process: imports torch, runs one stage, reports its outcome as an event."""

from __future__ import annotations

import contextlib
import faulthandler
import os
import sys
import threading
import time
from typing import Any, Callable

from .causes import cause_of, first_line
from .events import EventWriter
from .options import Options
from .outcomes import ended


def _leave_with_parent() -> None:
    """End this process when its parent has gone, so that nothing is left behind on the GPU."""
    parent = os.getppid()

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(1.0)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def work(options: Options, writer: EventWriter) -> int:
    """Run the stage ``options.worker`` and emit ``ready`` and ``outcome``; 0 unless torch does not import."""
    _leave_with_parent()
    # Without a usable stderr there is nowhere to tell it.
    with contextlib.suppress(OSError, ValueError, RuntimeError, AttributeError):
        faulthandler.enable()
    try:
        import torch
    except Exception as error:
        detail = "import torch failed: " + first_line(error)
        writer.emit("outcome", **ended("crash", detail, cause_of(str(error)), "torch-import"))
        return 1
    writer.emit("ready", torch=str(torch.__version__))
    try:
        result = _stage(options, writer.emit)
    except BrokenPipeError:
        return 1
    except Exception as error:
        import traceback

        traceback.print_exc(file=sys.stderr)
        result = ended("crash", first_line(error), cause_of(str(error)), "stage-error")
    writer.emit("outcome", **result)
    return 0


def _stage(options: Options, emit: Callable[..., None]) -> dict[str, Any]:
    from .devices import device_named

    device = device_named(options.device)
    if device.is_cpu:
        # The networks are too small to gain from more threads, and on a busy machine each operator would wait for the
        # slowest of them (measured: 20 times slower with two threads on two cores that others use).
        import torch

        torch.set_num_threads(1)
    available = device.availability()
    if not available.ok:
        detail = f"no {device.name} device: {available.reason}"
        absent = not available.possible_here
        return ended("skip" if absent else "fail", detail, available.cause, "device-unavailable", absent=absent)
    if options.worker == "allocate":
        from .allocate import allocate

        return allocate(device, emit)
    if options.worker == "numerics":
        from .numerics import run

        run(device, options.dtype, options.seed, options.operators, emit)
        return {"outcome": "done"}
    if options.worker == "train":
        from .train_stage import train_stage

        return train_stage(device, options, emit)
    if options.worker == "fallback":
        from .fallback import fallback

        return fallback(device, options, emit)
    from .speed import speed

    return speed(device, options, emit)
