"""The scripts that the examined interpreter runs, as real files, also where mpsdoctor itself lives in one zip file."""

from __future__ import annotations

import atexit
import shutil
import tempfile
from functools import cache
from pathlib import Path
from typing import Any


def on_disk(package: str, where: Path) -> Path:
    """Return `where`, the folder of one of our packages; out of a zip file, a private copy that lasts as long as we."""
    return where if where.is_dir() else _extracted(package)


@cache
def _extracted(package: str) -> Path:
    from importlib.resources import files

    root = Path(tempfile.mkdtemp(prefix="mpsdoctor-"))  # for this user alone
    atexit.register(shutil.rmtree, root, ignore_errors=True)
    folder = root / package.rpartition(".")[2]
    _copy(files(package), folder)
    return folder


def _copy(source: Any, target: Path) -> None:  # a Traversable, whose module moved in Python 3.11
    target.mkdir()
    for item in source.iterdir():
        if item.is_dir():
            _copy(item, target / item.name)
        elif item.name.endswith((".py", ".json")):
            (target / item.name).write_bytes(item.read_bytes())
