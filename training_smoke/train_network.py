"""One network trained on the device in the asked precision, beside the same run on the CPU in float32."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import islice
from typing import Any, Callable, Iterator

import torch

from . import judge, probes
from .devices import CpuDevice, Device
from .loop import Record, Trainer, to_device, train
from .networks import Batch, batches, build, correct_share
from .outcomes import Problem
from .precision import COLLAPSED_SCALE, INITIAL_SCALE, Precision, precision_for
from .sizes import Run

Emit = Callable[..., None]
# Steps between two looks at the device, each of which costs a GPU a fraction of a step.
BLOCK, CPU_BLOCK = 15, 5
# Room below the largest scale at which the first gradients are finite: a step that overflows is left out, and then this
# run lags behind the CPU's.
SCALE_HEADROOM = 4.0
UNSEEN = 256  # examples of the accuracy test


@dataclass(frozen=True)
class Reference:
    """The same run on the CPU in float32: its gradients at step 1, its losses, its accuracy."""

    gradients: dict[str, Any]
    losses: list[float]
    accuracy: float


def train_network(
    run: Run, device: Device, precision: Precision, seed: int, emit: Emit
) -> tuple[dict[str, Any], list[Problem]]:
    """Train one network on the CPU and on the device; the numbers for the report, and the problems."""
    source = batches(run.shape, run.batch, seed)
    data, unseen = list(islice(source, run.steps)), _unseen(source, run)
    reference = _reference(run, data, unseen, seed, emit)
    there = [to_device(batch, device) for batch in data]
    probe = _trainer(run, device, precision, seed)
    network, place = run.shape.name, device.torch_device.type
    problems = judge.activation_problems(probes.watch_activations(probe, there[0]), precision, place, network)
    actual, scale = probes.gradients(probe, there[0])
    problems += judge.gradient_problems(actual, reference.gradients, precision.dtype, network)
    del probe  # its forward passes moved the running statistics of the norms: the run starts afresh
    scale = scale if precision.scaler == "none" else max(COLLAPSED_SCALE, scale / SCALE_HEADROOM)
    trainer = _trainer(run, device, precision, seed, scale)
    record = train(trainer, there, block_for(device), lambda so_far: _progress(emit, run, device.name, so_far))
    accuracy = _accuracy(trainer, to_device(unseen, device))
    if not all(math.isfinite(loss) for loss in reference.losses):
        text = f"{network}: the loss of the float32 run on the CPU is not finite, so there is nothing to compare with"
        problems.append(Problem("cpu-reference", text, network))
    problems += _run_problems(run, record, reference, precision, accuracy, device.is_cpu)
    steady = sorted(record.step_ms[1:] or record.step_ms)
    numbers: dict[str, Any] = {
        "network": network,
        "parameters": sum(parameter.numel() for parameter in trainer.model.parameters()),
        "steps": len(record.losses),
        "first_loss": record.losses[0],
        "last_loss": judge.late_loss(record.losses),
        "cpu_last_loss": judge.late_loss(reference.losses),
        "accuracy": accuracy,
        "cpu_accuracy": reference.accuracy,
        "first_loss_difference": abs(record.losses[0] - reference.losses[0]) / reference.losses[0],
        "curve_distance": judge.curve_distance(record.losses, reference.losses),
        "first_scale": scale,
        "last_scale": record.scales[-1],
        "step_ms": steady[len(steady) // 2],
        "memory_growth_bytes": judge.memory_growth(record.memory),
        **judge.closeness(actual, reference.gradients),
    }
    emit("measure", stage="train", what="network", **numbers)
    return numbers, problems


def block_for(device: Device) -> int:
    """How many steps go by between two looks at the device."""
    return CPU_BLOCK if device.is_cpu else BLOCK


def _trainer(run: Run, device: Device, precision: Precision, seed: int, scale: float = INITIAL_SCALE) -> Trainer:
    return Trainer(build(run.shape, seed), device, precision, run.rate, scale)


def _reference(run: Run, data: list[Batch], unseen: Batch, seed: int, emit: Emit) -> Reference:
    cpu = CpuDevice()
    float32 = precision_for(cpu, "float32")
    gradients, _ = probes.gradients(_trainer(run, cpu, float32, seed), data[0])
    trainer = _trainer(run, cpu, float32, seed)
    record = train(trainer, data, block_for(cpu), lambda so_far: _progress(emit, run, "cpu float32", so_far))
    return Reference(gradients, record.losses, _accuracy(trainer, unseen))


def _unseen(source: Iterator[Batch], run: Run) -> Batch:
    parts = list(islice(source, -(-UNSEEN // run.batch)))
    return torch.cat([part[0] for part in parts]), torch.cat([part[1] for part in parts])


def _accuracy(trainer: Trainer, unseen: Batch) -> float:
    return correct_share(trainer.predict(unseen[0]), unseen[1])


def _progress(emit: Emit, run: Run, where: str, record: Record) -> bool:
    """Tell the last loss; True (stop) when a loss is not finite."""
    loss = record.losses[-1]
    step = len(record.losses)
    emit(
        "step",
        stage="train",
        network=run.shape.name,
        on=where,
        step=step,
        of=run.steps,
        loss=loss,
        step_ms=record.step_ms[-1],
        scale=record.scales[-1],
    )
    return not all(math.isfinite(value) for value in record.losses)


def _run_problems(
    run: Run, record: Record, reference: Reference, precision: Precision, accuracy: float, on_cpu: bool
) -> list[Problem]:
    network = run.shape.name
    problems = judge.loss_problems(record.losses, run, precision.dtype, reference.losses)
    finite = all(math.isfinite(loss) for loss in record.losses)
    if finite:  # the rest would only repeat that the loss was not finite
        problems += judge.agreement_problems(record.losses, reference.losses, precision.dtype, network)
        problems += judge.accuracy_problems(accuracy, run)
    problems += judge.scale_problems(record.scales, precision, network)
    return problems + judge.memory_problems(record.memory, on_cpu, network)
