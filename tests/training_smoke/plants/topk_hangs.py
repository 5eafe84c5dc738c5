"""An operator that never returns."""

from __future__ import annotations

import time
from typing import Any

import torch

_topk = torch.topk


def plant() -> None:
    def topk(x: torch.Tensor, *arguments: Any) -> Any:
        if x.dtype == torch.float16:
            time.sleep(3600)
        return _topk(x, *arguments)

    torch.topk = topk
