"""The fallback stage inside a worker: what runs on the CPU although it was sent to the device.

The process runs with PYTORCH_ENABLE_MPS_FALLBACK=1, so that an operator without a kernel does not stop the search, and
with PYTORCH_MPS_LOG_PROFILE_INFO=4 (from torch 2.1), by which MPS logs each such operator to stderr; the supervisor
reads that. Here the warnings are caught, one for each call.
"""

from __future__ import annotations

import contextlib
import os
import warnings
from itertools import islice
from typing import Any, Callable, Sequence

from . import fallback_judge
from .apis import find
from .causes import fallback_operator
from .devices import Device
from .loop import Trainer, to_device, train
from .networks import batches, build
from .numerics import evaluate, selected
from .options import Options
from .precision import INITIAL_SCALE, autocast_works, precision_for
from .probes import watch_activations
from .sizes import Run, training_runs

STEPS = 2


def fallback(device: Device, options: Options, emit: Callable[..., None]) -> dict[str, Any]:
    """Train both networks for two steps and run every operator once, catching what is said to run on the CPU."""
    warn_always = find("torch.set_warn_always")
    if warn_always is not None:
        warn_always(True)
    in_training: dict[str, list[str]] = {}
    for run in training_runs(device.is_cpu, True):
        emit("step", stage="fallback", network=run.shape.name)
        _mark(run.shape.name)
        in_training[run.shape.name] = sorted(_network(run, device, options))
    _mark("operators")
    in_operators: dict[str, list[str]] = {}
    for case in selected(options.operators).values():
        emit("step", stage="fallback", operator=case.name)
        measured = evaluate(case, device, options.dtype, options.seed)
        if measured.outcome == "fallback":
            in_operators[case.name] = [measured.detail]
    return fallback_judge.outcome(in_training, in_operators, device.name)


def _mark(part: str) -> None:
    """Divide stderr, where MPS logs, into parts."""
    with contextlib.suppress(OSError):
        os.write(2, f"{fallback_judge.PART}{part}\n".encode())


def _network(run: Run, device: Device, options: Options) -> set[str]:
    precision = precision_for(device, options.dtype)
    if precision.mode == "none" or (
        precision.mode == "autocast" and not autocast_works(device.torch_device, precision)
    ):
        precision = precision_for(device, "float32")
    data = [to_device(batch, device) for batch in islice(batches(run.shape, run.batch, options.seed), STEPS)]
    with warnings.catch_warnings(record=True) as records:
        warnings.simplefilter("always")
        trainer = Trainer(build(run.shape, options.seed), device, precision, run.rate, INITIAL_SCALE)
        layers = _elsewhere(trainer, data[0], device)
        train(trainer, data, STEPS)
        trainer.predict(data[0][0])
    return {name for name in (fallback_operator(str(record.message)) for record in records) if name} | layers


def _elsewhere(trainer: Trainer, batch: Any, device: Device) -> set[str]:
    seen: Sequence[Any] = watch_activations(trainer, batch)
    return {"the layer " + each.layer for each in seen if each.device != device.torch_device.type}
