"""Reads the JSON files of this folder."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

Row = dict[str, Any]


@cache
def document(topic: str) -> Row:
    """The whole file ``<topic>.json``, parsed once; raises FileNotFoundError for a topic that does not exist."""
    import json  # late, for the start of the program

    # From a folder or out of a zip file. Not by importlib.resources: its modules import each other in a circle, and
    # checks load in several threads.
    loader: Any = __spec__.loader if __spec__ is not None else None
    parsed: Row = json.loads(loader.get_data(str(Path(__file__).with_name(f"{topic}.json"))))
    return parsed


def rows(topic: str) -> list[Row]:
    """The list that ``<topic>.json`` holds under the topic's own name."""
    listed: list[Row] = document(topic)[topic]
    return listed


def texts(value: list[str] | None) -> tuple[str, ...]:
    """A JSON list of strings as a tuple, and an absent one as an empty tuple."""
    return tuple(value or ())
