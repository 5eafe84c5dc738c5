"""Names of torch that not every release has, and the release that brought each.

The program reaches them only through :func:`find`, so a missing name is a value to handle and never an AttributeError.
Releases: read from the Python files of the macOS wheels 1.12.0 to 2.15.0.
"""

from __future__ import annotations

import re
from typing import Any, Tuple

import torch

Version = Tuple[int, int, int]

SINCE = {
    "torch.backends.mps.is_built": (1, 12),
    "torch.backends.mps.is_available": (1, 12),
    "torch.backends.mps.get_name": (2, 9),
    "torch.mps.synchronize": (2, 0),
    "torch.mps.empty_cache": (2, 0),
    "torch.mps.current_allocated_memory": (2, 0),
    "torch.mps.recommended_max_memory": (2, 5),
    "torch.amp.GradScaler": (2, 3),
    "torch.cuda.amp.GradScaler": (1, 12),
    "torch.set_warn_always": (1, 12),
    "torch.nn.functional.scaled_dot_product_attention": (2, 0),
    "torch.nn.functional.rms_norm": (2, 4),
}


def version_of(text: str) -> Version:
    """``2.13.0+cpu`` as (2, 13, 0); what is no number counts as 0."""
    match = re.match(r"(\d+)\.(\d+)(?:\.(\d+))?", text)
    if match is None:
        return (0, 0, 0)
    return (int(match.group(1)), int(match.group(2)), int(match.group(3) or 0))


def torch_version() -> Version:
    """The version of the torch in this process."""
    return version_of(str(torch.__version__))


def find(name: str) -> Any | None:
    """The object of that full name, or None where this torch does not have it. The name must be in ``SINCE``."""
    if name not in SINCE:
        raise KeyError(name)
    found: Any = torch
    for part in name.split(".")[1:]:
        found = getattr(found, part, None)
        if found is None:
            return None
    return found
