"""The three kinds of device, and all that differs between them."""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Iterator

import torch

from .apis import find


@dataclass(frozen=True)
class Availability:
    """Whether the device can be used; if not, why, which cause that proves, and whether this platform can have it."""

    ok: bool
    reason: str = ""
    cause: str | None = None
    possible_here: bool = True


class Device:
    """One device as the stages see it. ``name`` decides which release facts apply to it."""

    name = "cpu"

    @property
    def torch_device(self) -> torch.device:
        """The device as torch names it."""
        return torch.device(self.name)

    @property
    def is_cpu(self) -> bool:
        """Nothing to compare with: this device is the CPU."""
        return self.name == "cpu"

    def availability(self) -> Availability:
        """Whether torch can use the device here (tried in earnest by the allocate stage only)."""
        return Availability(True)

    def title(self) -> str | None:
        """The device's own name, or None where torch does not tell it."""
        return None

    def allocate(self, elements: int, value: float) -> torch.Tensor:
        """A float32 tensor of that many elements, each ``value``, on the device."""
        return torch.full((elements,), value, dtype=torch.float32, device=self.torch_device)

    def synchronise(self) -> None:
        """Return when all work queued so far is done."""

    def release(self) -> None:
        """Give cached memory back."""

    def memory_allocated(self) -> int | None:
        """Bytes in use now (the CPU: resident memory of this process), None where unknown."""
        return _resident_bytes()

    def memory_limit(self) -> int | None:
        """Bytes that should be used at most (MPS: the recommended working set), None where unknown."""
        try:
            return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
        except (AttributeError, OSError, ValueError):
            return None

    @contextmanager
    def exact_float32(self) -> Iterator[None]:
        """Full float32 arithmetic inside the block, the settings as before after it."""
        yield


def _resident_bytes() -> int | None:
    try:
        return int(Path("/proc/self/statm").read_bytes().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        return _peak_resident_bytes()


def _peak_resident_bytes() -> int | None:
    """All that macOS tells without a native call: the peak, in which growth shows as well."""
    try:
        import resource
    except ImportError:  # Windows
        return None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


class CpuDevice(Device):
    """The CPU: the device of the reference, and a device to test like the others."""

    name = "cpu"


class MpsDevice(Device):
    """A Mac's GPU."""

    name = "mps"

    def availability(self) -> Availability:
        """Built into torch, and visible to this process."""
        is_built, is_available = find("torch.backends.mps.is_built"), find("torch.backends.mps.is_available")
        mac = sys.platform == "darwin"
        if is_built is None or is_available is None:
            return Availability(
                False, "this torch is older than 1.12 and knows no MPS", "torch-too-old" if mac else None, mac
            )
        if not is_built():
            cause = "mps-not-built" if mac else "not-a-mac"
            return Availability(False, "this build of torch has no MPS in it", cause, mac)
        if not is_available():
            return Availability(
                False, "torch has MPS built in, but torch.backends.mps.is_available() is False", None, mac
            )
        return Availability(True)

    def title(self) -> str | None:
        """The name of the GPU, from torch 2.9 on."""
        get_name = find("torch.backends.mps.get_name")
        return None if get_name is None else str(get_name())

    def synchronise(self) -> None:
        """Wait for the MPS stream."""
        synchronize = find("torch.mps.synchronize")
        if synchronize is not None:
            synchronize()
        else:  # before 2.0: the queue works in order, so reading a new element waits for all before it
            torch.zeros(1, device=self.torch_device).cpu()

    def release(self) -> None:
        """Give cached buffers back to Metal (from torch 2.0 on)."""
        empty_cache = find("torch.mps.empty_cache")
        if empty_cache is not None:
            empty_cache()

    def memory_allocated(self) -> int | None:
        """Bytes in live tensors (from torch 2.0 on)."""
        current = find("torch.mps.current_allocated_memory")
        return None if current is None else int(current())

    def memory_limit(self) -> int | None:
        """Metal's recommended working set (from torch 2.5 on)."""
        recommended = find("torch.mps.recommended_max_memory")
        return None if recommended is None else int(recommended())


class CudaDevice(Device):
    """An NVIDIA GPU (or an AMD one, through ROCm)."""

    name = "cuda"

    def availability(self) -> Availability:
        """Built into torch, and a GPU present."""
        possible = sys.platform != "darwin"
        if torch.version.cuda is None and getattr(torch.version, "hip", None) is None:
            return Availability(False, "this build of torch has no CUDA in it", None, False)
        if not torch.cuda.is_available():
            return Availability(False, "torch.cuda.is_available() is False", None, possible)
        return Availability(True)

    def title(self) -> str | None:
        """The name of the GPU."""
        return str(torch.cuda.get_device_name())

    def synchronise(self) -> None:
        """Wait for all streams of the current GPU."""
        torch.cuda.synchronize()

    def release(self) -> None:
        """Give cached blocks back to the driver."""
        torch.cuda.empty_cache()

    def memory_allocated(self) -> int | None:
        """Bytes in live tensors."""
        return int(torch.cuda.memory_allocated())

    def memory_limit(self) -> int | None:
        """All of the GPU's memory."""
        return int(torch.cuda.mem_get_info()[1])

    @contextmanager
    def exact_float32(self) -> Iterator[None]:
        """TF32 off inside the block."""
        # cuDNN convolutions use TF32 (10 bits of mantissa) for float32 unless told otherwise.
        matmul, cudnn = torch.backends.cuda.matmul, torch.backends.cudnn
        before = (matmul.allow_tf32, cudnn.allow_tf32)
        matmul.allow_tf32, cudnn.allow_tf32 = False, False
        try:
            yield
        finally:
            matmul.allow_tf32, cudnn.allow_tf32 = before


REGISTRY: dict[str, type[Device]] = {"cpu": CpuDevice, "mps": MpsDevice, "cuda": CudaDevice}


def device_named(name: str) -> Device:
    """The device object for ``cpu``, ``mps`` or ``cuda``."""
    return REGISTRY[name]()
