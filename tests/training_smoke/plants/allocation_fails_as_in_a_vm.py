"""A device whose every allocation fails with the words of a virtual machine's GPU (GitHub's macos-14 image)."""

from __future__ import annotations

import torch
from plant_base import PretendMps

from training_smoke import devices

WORDS = (
    "MPS backend out of memory (MPS allocated: 0 bytes, other allocations: 0 bytes, max allowed: 7.93 GB). "
    "Tried to allocate 256 bytes on private pool. Use PYTORCH_MPS_HIGH_WATERMARK_RATIO=0.0 to disable upper limit "
    "for memory allocations (may cause system failure)."
)


class OutOfMemory(PretendMps):
    def allocate(self, elements: int, value: float) -> torch.Tensor:
        raise RuntimeError(WORDS)


def plant() -> None:
    devices.REGISTRY["mps"] = OutOfMemory
