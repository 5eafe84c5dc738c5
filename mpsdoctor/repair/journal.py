"""The journal of one run: a line of JSON before and after each step, on the disk before anything goes on."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import Any

BEGIN, SAVED, STEP, STEP_DONE, FAILED, RESTORING, PROVED, END = (
    "begin", "saved", "step", "step-done", "failed", "restoring", "proved", "end",
)  # fmt: skip


class Journal:
    """Appends entries to a file; each is flushed to the disk before `write` returns."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def write(self, event: str, **values: Any) -> None:
        """Append one entry. Raises OSError where it cannot be kept: what it speaks of must not happen then."""
        line = json.dumps({"event": event, "time": time.time(), **values}, ensure_ascii=False) + "\n"
        new = not self._path.exists()
        with self._path.open("ab") as file:
            file.write(line.encode("utf-8", "surrogateescape"))
            file.flush()
            os.fsync(file.fileno())
        if new:
            sync_folder(self._path.parent)

    def entries(self) -> list[dict[str, Any]]:
        """Return the entries. A last line that was cut off never happened."""
        try:
            data = self._path.read_bytes()
        except OSError:
            return []
        found = []
        for line in data.split(b"\n"):
            try:
                entry = json.loads(line.decode("utf-8", "surrogateescape"))
            except ValueError:
                continue
            if isinstance(entry, dict) and isinstance(entry.get("event"), str):
                found.append(entry)
        return found


def sync_folder(folder: Path) -> None:
    """Put a new name in a folder on the disk."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
