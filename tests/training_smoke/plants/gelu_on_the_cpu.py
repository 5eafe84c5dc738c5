"""An operator without a kernel that torch runs on the CPU, saying so in the words it uses."""

from __future__ import annotations

import warnings

import torch
from torch.nn import functional

_gelu = functional.gelu
WORDS = (
    "The operator 'aten::gelu' is not currently supported on the MPS backend and will fall back to run on the CPU. "
    "This may have performance implications."
)


def plant() -> None:
    def gelu(x: torch.Tensor) -> torch.Tensor:
        if x.dtype == torch.float16:
            warnings.warn(WORDS, stacklevel=2)
        return _gelu(x)

    functional.gelu = gelu
