"""An operator that ends the process, as a failed assertion of MPSGraph does."""

from __future__ import annotations

import os
import sys
from typing import Any

import torch

_topk = torch.topk
WORDS = "LLVM ERROR: Failed to infer result type(s)."


def plant() -> None:
    def topk(x: torch.Tensor, *arguments: Any) -> Any:
        if x.dtype == torch.float16:
            print(WORDS, file=sys.stderr, flush=True)
            os.abort()
        return _topk(x, *arguments)

    torch.topk = topk
