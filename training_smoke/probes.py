"""Single questions about training on a device: what do the layers return, what are the gradients, and does unscaling
keep the gradients of half-precision parameters?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import nn

from .devices import Device
from .loop import Trainer
from .networks import Batch
from .precision import COLLAPSED_SCALE, INITIAL_SCALE, Precision, make_scaler

Tensor = torch.Tensor


@dataclass(frozen=True)
class Activation:
    """What one layer returned."""

    layer: str
    dtype: torch.dtype
    device: str


def watch_activations(trainer: Trainer, batch: Batch) -> list[Activation]:
    """The outputs of every linear and convolution layer and of attention, in one forward and backward pass."""
    seen: list[Activation] = []

    def hook_for(name: str) -> Any:
        def hook(module: nn.Module, inputs: Any, output: Tensor) -> None:
            seen.append(Activation(name, output.dtype, output.device.type))

        return hook

    watched = (nn.Linear, nn.Conv2d, nn.Identity)
    handles = [
        module.register_forward_hook(hook_for(name))
        for name, module in trainer.compute.named_modules()
        if isinstance(module, watched)
    ]
    try:
        trainer.forward_backward(batch)
    finally:
        for handle in handles:
            handle.remove()
        trainer.optimizer.zero_grad(set_to_none=True)
    return seen


def gradients(trainer: Trainer, batch: Batch) -> tuple[dict[str, Tensor | None], float]:
    """The unscaled gradients of a batch in float64 on the CPU, and the scale at which they were finite.

    The loss is scaled as the trainer's scaler would, from its scale downwards until nothing overflows.
    """
    scale = float(trainer.scaler.get_scale())
    while True:
        trainer.scaler = make_scaler(trainer.precision, scale)
        trainer.forward_backward(batch)
        trainer.device.synchronise()
        found = {
            name: None if parameter.grad is None else parameter.grad.detach().cpu().double() / scale
            for name, parameter in trainer.model.named_parameters()
        }
        trainer.optimizer.zero_grad(set_to_none=True)
        finite = all(bool(torch.isfinite(value).all()) for value in found.values() if value is not None)
        if finite or trainer.precision.scaler == "none" or scale <= COLLAPSED_SCALE:
            return found, scale
        scale /= 2.0


@dataclass(frozen=True)
class HalfParameters:
    """Gradients of half-precision parameters before and after unscaling: ``skip`` says why this was not tried."""

    skip: str | None = None
    survived: int = 0
    total: int = 0


def half_parameters(device: Device, precision: Precision) -> HalfParameters:
    """Unscale known gradients of parameters held in the half-precision dtype.

    torch 2.8.0 to 2.12.1 return zeros here on MPS (pytorch #184286), without an error. A gradient of 2**k scaled by a
    power of two must come back exactly.
    """
    if precision.scaler not in ("amp", "cuda.amp"):
        return HalfParameters(skip="no torch gradient scaler in use")
    scaler = make_scaler(precision, INITIAL_SCALE)
    unscale = getattr(scaler, "_unscale_grads_", None)
    if unscale is None:
        return HalfParameters(skip="this torch has another gradient scaler")
    wanted = torch.tensor([2.0**-k for k in range(10)] * 4)
    parameter = nn.Parameter(torch.zeros(wanted.shape, dtype=precision.torch_dtype, device=device.torch_device))
    scale = 2.0**10
    parameter.grad = (wanted * scale).to(device=device.torch_device, dtype=precision.torch_dtype)
    optimizer = torch.optim.SGD([parameter], lr=0.0)
    inverse = torch.full((1,), 1.0 / scale, dtype=torch.float32, device=device.torch_device)
    found_inf = torch.zeros(1, dtype=torch.float32, device=device.torch_device)
    try:
        unscale(optimizer, inverse, found_inf, True)
        assert parameter.grad is not None
        back = parameter.grad.detach().cpu().float()
    except (RuntimeError, NotImplementedError, TypeError) as error:
        return HalfParameters(skip=f"{type(error).__name__}: {str(error).splitlines()[0][:200]}")
    return HalfParameters(survived=int((back == wanted).sum()), total=wanted.numel())
