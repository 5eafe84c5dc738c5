"""Mixed precision as each release supports it on each device.

Sources for MPS (read from the wheels, and the pull requests named): autocast float16 from 2.5.0 (#99272), bfloat16 from
2.6.0 (#139390); torch.amp.GradScaler works from 2.8.0 (#150255), before it ``unscale_`` asks for float64; bfloat16
tensors from 2.3.0. CUDA has had autocast in both and a scaler since before 1.12. The CPU's float16 autocast is tested,
not looked up.
"""

from __future__ import annotations

import contextlib
from dataclasses import dataclass, replace
from typing import Any, ContextManager

import torch

from .apis import Version, find, torch_version
from .devices import Device
from .scalers import HandMadeScaler, NoScaler

HALF = {"float16": torch.float16, "bfloat16": torch.bfloat16, "float32": torch.float32}
# torch.amp.GradScaler's own default, and the smallest scale that a sound run keeps: eight halvings below it.
INITIAL_SCALE = 2.0**16
COLLAPSED_SCALE = 2.0**8


@dataclass(frozen=True)
class Precision:
    """How to train in ``dtype`` here.

    ``mode``: ``autocast``; ``half-copy`` (a half-precision copy of the model computes, a float32 one learns) for
    releases without autocast on this device; ``float32``; ``none`` where it cannot be done, with ``cause``.
    ``scaler``: ``amp`` (torch.amp.GradScaler), ``cuda.amp`` (its old name), ``hand-made``, or ``none``.
    """

    device: str
    dtype: str
    mode: str
    scaler: str
    note: str = ""
    cause: str | None = None

    @property
    def torch_dtype(self) -> torch.dtype:
        """``dtype`` as torch knows it."""
        return HALF[self.dtype]

    def autocast(self) -> ContextManager[Any]:
        """The context in which the forward pass runs."""
        if self.mode != "autocast":
            return contextlib.nullcontext()
        return torch.autocast(self.device, dtype=self.torch_dtype)


def plan(version: Version, device: str, dtype: str) -> Precision:
    """The precision for ``dtype`` on ``device`` under the torch release ``version``."""
    if dtype == "float32":
        return Precision(device, dtype, "float32", "none")
    scaler = _scaler(version, device) if dtype == "float16" else "none"
    if device != "mps":
        return Precision(device, dtype, "autocast", scaler)
    if dtype == "bfloat16" and version < (2, 3, 0):
        return Precision(device, dtype, "none", "none", "bfloat16 on MPS came with torch 2.3", "bf16-unsupported")
    if version >= ((2, 5, 0) if dtype == "float16" else (2, 6, 0)):
        note = (
            "" if scaler != "hand-made" else "torch.amp.GradScaler works on MPS from 2.8: the loss scale is hand-made"
        )
        return Precision(device, dtype, "autocast", scaler, note)
    note = f"torch.autocast knows no {dtype} on MPS in this release: a half-precision copy computes"
    note += ", with a hand-made loss scale" if dtype == "float16" else ""
    return Precision(device, dtype, "half-copy", scaler, note)


def precision_for(device: Device, dtype: str) -> Precision:
    """The precision for ``dtype`` on a device under the torch of this process.

    The release facts go by the device's name; autocast and the scaler go by the kind of tensor it uses.
    """
    return replace(plan(torch_version(), device.name, dtype), device=device.torch_device.type)


def _scaler(version: Version, device: str) -> str:
    if device == "mps":
        return "amp" if version >= (2, 8, 0) else "hand-made"
    if version >= (2, 3, 0):
        return "amp"
    return "cuda.amp" if device == "cuda" else "hand-made"


def autocast_works(device: torch.device, precision: Precision) -> bool:
    """Whether autocast really computes in the asked dtype (some releases only warn and switch it off)."""
    matrix = torch.ones(2, 2, device=device)
    with precision.autocast():
        result = torch.mm(matrix, matrix)
    return result.dtype == precision.torch_dtype


def make_scaler(precision: Precision, initial_scale: float) -> Any:
    """A gradient scaler with the interface of torch.amp.GradScaler."""
    if precision.scaler == "none":
        return NoScaler()
    if precision.scaler == "hand-made":
        return HandMadeScaler(initial_scale)
    if precision.scaler == "amp":
        amp_scaler = find("torch.amp.GradScaler")
        if amp_scaler is not None:
            return amp_scaler(precision.device, init_scale=initial_scale)
    cuda_scaler = find("torch.cuda.amp.GradScaler")
    assert cuda_scaler is not None, "every release since 1.12 has torch.cuda.amp.GradScaler"
    return cuda_scaler(init_scale=initial_scale)
