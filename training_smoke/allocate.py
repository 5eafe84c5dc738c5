"""The allocate stage: one element, then up to 64 MB, written, read back and freed."""

from __future__ import annotations

from typing import Any, Callable

import torch

from .causes import cause_of, first_line
from .devices import Device
from .outcomes import Problem, stage_outcome

MIB = 1024 * 1024
SIZES = (4, MIB, 16 * MIB, 64 * MIB)  # bytes; the first is one float32
# What the allocator may keep for its own use after everything was freed.
LEFT_OVER = 2 * MIB


def allocate(device: Device, emit: Callable[..., None]) -> dict[str, Any]:
    """Allocate each size, check every element, free it; returns the stage's outcome with the working-set limit."""
    problems: list[Problem] = []
    before: int | None = None
    largest = 0
    for size in SIZES:
        problem = _one(device, size)
        emit("measure", stage="allocate", bytes=size, outcome="pass" if problem is None else "fail")
        if problem is not None:
            problems.append(problem)
            break
        largest = size
        if before is None:
            before = device.memory_allocated()  # after the first use, which loads what the device needs
    if not problems and not device.is_cpu:
        problems += _not_freed(device, before)
    limit = device.memory_limit()
    detail = f"{largest // MIB} MB"
    if limit is not None:
        detail += f" of {limit / 1024**3:.1f} GB that this device should use at most"
    return stage_outcome(problems, detail, largest_bytes=largest, limit_bytes=limit, device_name=device.title())


def _one(device: Device, size: int) -> Problem | None:
    subject = "one element" if size == SIZES[0] else f"{size // MIB} MB"
    count, value = size // 4, 1.5
    try:
        tensor = device.allocate(count, value)
        device.synchronise()
        place, back = tensor.device.type, tensor.cpu()
        del tensor
        device.release()
    except Exception as error:
        cause = cause_of(str(error))
        return Problem("allocation", f"allocating {subject} failed: {first_line(error)}", subject, cause)
    if place != device.torch_device.type:
        return Problem("allocation-device", f"{subject} came to lie on {place}", subject)
    right = int((back == value).sum())
    if right != count or back.dtype != torch.float32:
        text = f"of {count} elements written, {right} read back right"
        return Problem("readback", f"{subject}: {text}", subject)
    return None


def _not_freed(device: Device, before: int | None) -> list[Problem]:
    after = device.memory_allocated()
    if before is None or after is None or after - before <= LEFT_OVER:
        return []
    text = f"{(after - before) // MIB} MB are still in use after everything was freed"
    return [Problem("not-freed", text)]
