"""A torch that never finishes importing."""

from __future__ import annotations

import sys
import time
from typing import Any


class Finder:
    def find_spec(self, name: str, *rest: Any) -> None:
        if name == "torch":
            time.sleep(3600)


def plant() -> None:
    sys.meta_path.insert(0, Finder())
