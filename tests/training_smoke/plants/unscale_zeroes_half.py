"""Unscaling that turns half-precision gradients into zeros and leaves float32 alone (torch 2.8.0 to 2.12.1 on MPS)."""

from __future__ import annotations

from typing import Any

import torch

_unscale = torch._amp_foreach_non_finite_check_and_unscale_


def plant() -> None:
    def unscale(gradients: list[torch.Tensor], found_inf: Any, inverse_scale: Any) -> None:
        _unscale(gradients, found_inf, inverse_scale)
        for gradient in gradients:
            if gradient.dtype in (torch.float16, torch.bfloat16):
                gradient.zero_()

    torch._amp_foreach_non_finite_check_and_unscale_ = unscale
