"""A device called mps that computes on the CPU, for plants to break. On its own it is healthy."""

from __future__ import annotations

import torch

from training_smoke import devices


class PretendMps(devices.CpuDevice):
    name = "mps"

    @property
    def torch_device(self) -> torch.device:
        return torch.device("cpu")

    def memory_allocated(self) -> None:
        """Not told, as before torch 2.0."""


def plant() -> None:
    torch.set_num_threads(1)
    devices.REGISTRY["mps"] = PretendMps
