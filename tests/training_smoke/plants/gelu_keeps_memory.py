"""An operator that never lets go of 4 MB at every call in half precision."""

from __future__ import annotations

import torch
from torch.nn import functional

_gelu = functional.gelu
KEPT: list[torch.Tensor] = []


def plant() -> None:
    def gelu(x: torch.Tensor) -> torch.Tensor:
        if x.dtype == torch.float16:
            KEPT.append(torch.ones(1024 * 1024))
        return _gelu(x)

    functional.gelu = gelu
