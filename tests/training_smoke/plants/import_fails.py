"""A torch whose shared libraries do not load."""

from __future__ import annotations

import sys
from typing import Any


class Finder:
    def find_spec(self, name: str, *rest: Any) -> None:
        if name == "torch":
            raise ImportError("dlopen(libtorch_cpu.dylib): Library not loaded: @rpath/libomp.dylib")


def plant() -> None:
    sys.meta_path.insert(0, Finder())
