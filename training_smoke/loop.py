"""The training step and the loop around it. Nothing in the timed path reads from the device, except what the gradient
scaler itself does."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any, Callable, Sequence

import torch
from torch import nn

from .devices import Device
from .networks import Batch, loss_of
from .precision import Precision, make_scaler

WARMUP_STEPS = 10  # the learning rate grows linearly over the first steps


class Trainer:
    """A model with its optimiser and scaler on one device: ``step(batch)`` trains once and returns the loss there."""

    def __init__(
        self, model: nn.Module, device: Device, precision: Precision, rate: float, initial_scale: float = 1.0
    ) -> None:
        self.device = device
        self.precision = precision
        self.model = model.to(device.torch_device)
        self.compute: nn.Module = self.model
        if precision.mode == "half-copy":
            self.compute = _half_copy(self.model, precision.torch_dtype)
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=rate, weight_decay=0.0, betas=(0.9, 0.95))
        self.scaler = make_scaler(precision, initial_scale)
        self._rate = rate
        self._steps = 0

    def forward_backward(self, batch: Batch) -> torch.Tensor:
        """Gradients of the scaled loss in the model's float32 parameters; returns the unscaled loss, detached."""
        inputs, targets = batch
        self.optimizer.zero_grad(set_to_none=True)
        if self.compute is not self.model:
            _copy_parameters(self.model, self.compute)
        with self.precision.autocast():
            scores = self.compute(_as_input(inputs, self.precision) if self.compute is not self.model else inputs)
        loss = loss_of(scores, targets)
        self.scaler.scale(loss).backward()
        if self.compute is not self.model:
            _move_gradients(self.compute, self.model)
        return loss.detach()

    def step(self, batch: Batch) -> torch.Tensor:
        """One training step; the returned loss stays on the device."""
        self._steps += 1
        if self._steps <= WARMUP_STEPS:
            for group in self.optimizer.param_groups:
                group["lr"] = self._rate * self._steps / WARMUP_STEPS
        loss = self.forward_backward(batch)
        self.scaler.step(self.optimizer)
        self.scaler.update()
        return loss

    def predict(self, inputs: torch.Tensor) -> torch.Tensor:
        """Scores without gradients, in the training precision, with the running statistics of the norms."""
        if self.compute is not self.model:
            _copy_parameters(self.model, self.compute)
        self.compute.eval()
        with torch.no_grad(), self.precision.autocast():
            scores = self.compute(_as_input(inputs, self.precision) if self.compute is not self.model else inputs)
        self.compute.train()
        return scores  # type: ignore[no-any-return]


def _as_input(inputs: torch.Tensor, precision: Precision) -> torch.Tensor:
    return inputs.to(precision.torch_dtype) if inputs.is_floating_point() else inputs


def _half_copy(model: nn.Module, dtype: torch.dtype) -> nn.Module:
    import copy

    return copy.deepcopy(model).to(dtype)


def _copy_parameters(source: nn.Module, target: nn.Module) -> None:
    with torch.no_grad():
        for ours, theirs in zip(target.parameters(), source.parameters()):
            ours.copy_(theirs)
            ours.grad = None


def _move_gradients(source: nn.Module, target: nn.Module) -> None:
    for half, full in zip(source.parameters(), target.parameters()):
        full.grad = None if half.grad is None else half.grad.to(full.dtype)
        half.grad = None


def to_device(batch: Batch, device: Device) -> Batch:
    """Both tensors of a batch on the device."""
    return batch[0].to(device.torch_device), batch[1].to(device.torch_device)


@dataclass
class Record:
    """What a run of the loop gave: the loss of every step, and of every block the milliseconds a step, the bytes in use
    and the loss scale."""

    losses: list[float] = field(default_factory=list)
    step_ms: list[float] = field(default_factory=list)
    memory: list[int | None] = field(default_factory=list)
    scales: list[float] = field(default_factory=list)


def train(
    trainer: Trainer,
    batches: Sequence[Batch],
    block: int,
    on_block: Callable[[Record], Any] | None = None,
) -> Record:
    """Train one step for each batch, in blocks of ``block`` steps.

    The device is synchronised and read only between blocks; time spent there is not part of ``step_ms``.
    ``on_block`` is told after each block, and ends the run by returning True.
    """
    record = Record()
    trainer.device.synchronise()
    for start in range(0, len(batches), block):
        part = batches[start : start + block]
        pending: list[torch.Tensor] = []
        begun = time.perf_counter()
        for batch in part:
            pending.append(trainer.step(batch))
        trainer.device.synchronise()
        record.step_ms.append((time.perf_counter() - begun) * 1e3 / len(part))
        record.losses += [float(value) for value in torch.stack(pending).cpu().tolist()]
        del pending
        record.memory.append(trainer.device.memory_allocated())
        record.scales.append(float(trainer.scaler.get_scale()))
        if on_block is not None and on_block(record) is True:
            break
    return record
