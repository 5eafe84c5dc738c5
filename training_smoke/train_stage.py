"""The train stage: both networks learn in the asked precision, and everything about it is checked."""

from __future__ import annotations

from typing import Any, Callable

from . import judge, probes
from .apis import torch_version
from .devices import Device
from .options import Options
from .outcomes import Problem, ended, stage_outcome
from .precision import Precision, autocast_works, precision_for
from .sizes import training_runs
from .train_network import train_network

Emit = Callable[..., None]
# Unscaling zeroes half-precision gradients on MPS from 2.8.0 to 2.12.1 (pytorch #184286, read from their kernels).
UNSCALE_BROKEN_SINCE, UNSCALE_FIXED_IN = (2, 8, 0), (2, 13, 0)


def train_stage(device: Device, options: Options, emit: Emit) -> dict[str, Any]:
    """Train the convolutional network and the transformer; returns the stage's outcome with the numbers of both."""
    precision = precision_for(device, options.dtype)
    if precision.mode == "none":
        return ended("fail", precision.note, precision.cause, "precision")
    if precision.mode == "autocast" and not autocast_works(device.torch_device, precision):
        cause = "bf16-unsupported" if options.dtype == "bfloat16" else "mixed-precision-unsupported"
        text = f"autocast on {device.name} does not compute in {options.dtype} in this torch"
        return ended("fail", text, cause, "autocast")
    emit("measure", stage="train", what="precision", mode=precision.mode, scaler=precision.scaler, note=precision.note)
    problems: list[Problem] = []
    told: list[dict[str, Any]] = []
    for run in training_runs(device.is_cpu, options.quick):
        numbers, found = train_network(run, device, precision, options.seed, emit)
        told.append(numbers)
        problems += found
    problems += _half_parameters(device, precision, emit)
    words = ["{network} loss {first_loss:.2f} -> {last_loss:.2f}".format(**numbers) for numbers in told]
    detail = "{} {}; gradients agree with the CPU".format(options.dtype, ", ".join(words))
    extra = {"networks": told, "mode": precision.mode, "scaler": precision.scaler, "note": precision.note}
    return stage_outcome(problems, detail, **extra)


def _half_parameters(device: Device, precision: Precision, emit: Emit) -> list[Problem]:
    probe = probes.half_parameters(device, precision)
    emit("measure", stage="train", what="half-parameters", skip=probe.skip, survived=probe.survived, total=probe.total)
    known_bad = device.name == "mps" and UNSCALE_BROKEN_SINCE <= torch_version() < UNSCALE_FIXED_IN
    return judge.half_parameter_problems(probe, precision, known_bad)
