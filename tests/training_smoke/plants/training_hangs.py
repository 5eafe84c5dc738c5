"""A device that never finishes its work once the first network has trained for ten steps."""

from __future__ import annotations

import time
from typing import Any

import torch
from torch.nn import functional

_relu = functional.relu
FORWARD_PASSES = 2 + 10  # two before training begins (layers, gradients)


def plant() -> None:
    calls = 0

    def relu(x: torch.Tensor, **keywords: Any) -> torch.Tensor:
        nonlocal calls
        # The network calls it once in each pass on a matrix; its modules do so on images.
        calls += x.dtype == torch.float16 and x.dim() == 2
        if calls > FORWARD_PASSES:
            time.sleep(3600)
        return _relu(x, **keywords)

    functional.relu = relu
