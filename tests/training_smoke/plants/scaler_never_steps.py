"""A gradient scaler whose step does nothing, so that the loss does not fall."""

from __future__ import annotations

from typing import Any

import torch


def plant() -> None:
    def step(self: Any, optimizer: torch.optim.Optimizer) -> None:
        self.unscale_(optimizer)

    torch.amp.GradScaler.step = step
