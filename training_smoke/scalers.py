"""Stand-ins for torch.amp.GradScaler where a release has none that works on the device."""

from __future__ import annotations

import torch


class NoScaler:
    """The interface of a scaler, doing nothing: for bfloat16 and float32, whose range needs no scaling."""

    def scale(self, loss: torch.Tensor) -> torch.Tensor:
        """The loss as it is."""
        return loss

    def unscale_(self, optimizer: torch.optim.Optimizer) -> None:
        """Nothing to undo."""
        return

    def step(self, optimizer: torch.optim.Optimizer) -> None:
        """The step of the optimiser."""
        optimizer.step()

    def update(self) -> None:
        """Nothing to adapt."""
        return

    def get_scale(self) -> float:
        """Always 1."""
        return 1.0


class HandMadeScaler:
    """A loss scale kept in Python: halved when a gradient is not finite (that step is left out), doubled after
    ``growth_interval`` good steps, as torch.amp.GradScaler does with its defaults."""

    def __init__(self, initial_scale: float, growth_interval: int = 2000) -> None:
        self._scale = initial_scale
        self._growth_interval = growth_interval
        self._good_steps = 0
        self._unscaled = False
        self._finite = True

    def scale(self, loss: torch.Tensor) -> torch.Tensor:
        """The loss times the scale."""
        return loss * self._scale

    def unscale_(self, optimizer: torch.optim.Optimizer) -> None:
        """Divide the gradients by the scale, and note whether all are finite (one read from the device)."""
        if self._unscaled:
            return
        flags: list[torch.Tensor] = []
        for group in optimizer.param_groups:
            for parameter in group["params"]:
                if parameter.grad is not None:
                    parameter.grad.mul_(1.0 / self._scale)
                    flags.append(torch.isfinite(parameter.grad).all())
        self._finite = bool(torch.stack(flags).all().item()) if flags else True
        self._unscaled = True

    def step(self, optimizer: torch.optim.Optimizer) -> None:
        """The step of the optimiser, left out when a gradient is not finite."""
        self.unscale_(optimizer)
        if self._finite:
            optimizer.step()

    def update(self) -> None:
        """Adapt the scale to what the last step met."""
        if not self._finite:
            self._scale /= 2.0
            self._good_steps = 0
        else:
            self._good_steps += 1
            if self._good_steps >= self._growth_interval:
                self._scale *= 2.0
                self._good_steps = 0
        self._unscaled, self._finite = False, True

    def get_scale(self) -> float:
        """The scale now."""
        return self._scale
