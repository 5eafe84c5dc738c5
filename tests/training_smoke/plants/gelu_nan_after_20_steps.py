"""An activation that gives NaN from the 21st training step in half precision on."""

from __future__ import annotations

import torch
from torch.nn import functional

_gelu = functional.gelu
# Two blocks: two calls in each forward pass, of which there are two before training begins (layers, gradients).
CALLS = 2 * (2 + 20)


def plant() -> None:
    calls = 0

    def gelu(x: torch.Tensor) -> torch.Tensor:
        nonlocal calls
        calls += x.dtype == torch.float16
        result = _gelu(x)
        return result * float("nan") if x.dtype == torch.float16 and calls > CALLS else result

    functional.gelu = gelu
