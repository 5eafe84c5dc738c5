"""An operator that ends the process only when another one ran before it in the same process."""

from __future__ import annotations

import os
from typing import Any

import torch

_sort, _gather = torch.sort, torch.gather


def plant() -> None:
    damaged = False

    def gather(x: torch.Tensor, *arguments: Any) -> torch.Tensor:
        nonlocal damaged
        damaged = damaged or x.dtype == torch.float16
        return _gather(x, *arguments)

    def sort(x: torch.Tensor, *arguments: Any, **keywords: Any) -> Any:
        if damaged and x.dtype == torch.float16:
            os.abort()
        return _sort(x, *arguments, **keywords)

    torch.gather, torch.sort = gather, sort
