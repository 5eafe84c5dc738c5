"""A linear layer that computes in half precision and hands out float32."""

from __future__ import annotations

from typing import Any

import torch
from torch.nn import functional

_linear = functional.linear


def plant() -> None:
    def linear(*arguments: Any, **keywords: Any) -> torch.Tensor:
        result = _linear(*arguments, **keywords)
        return result.float() if result.dtype == torch.float16 else result

    functional.linear = linear
