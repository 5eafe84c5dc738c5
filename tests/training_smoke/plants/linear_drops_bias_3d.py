"""A linear layer that forgets its bias when the input has three dimensions (as on macOS 26 virtual machines)."""

from __future__ import annotations

from typing import Any

import torch
from torch.nn import functional

_linear = functional.linear


def plant() -> None:
    def linear(x: torch.Tensor, weight: torch.Tensor, bias: Any = None) -> torch.Tensor:
        broken = x.dim() == 3 and x.dtype == torch.float16
        return _linear(x, weight, None if broken or bias is None else bias) + (bias.sum() * 0.0 if broken else 0.0)

    functional.linear = linear
