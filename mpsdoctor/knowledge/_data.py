"""Reads the JSON files of this folder."""

from __future__ import annotations

from functools import cache
from typing import Any

Row = dict[str, Any]


@cache
def document(topic: str) -> Row:
    """The whole file ``<topic>.json``, parsed once; raises FileNotFoundError for a topic that does not exist."""
    # Imported late: the standard library's readers cost more start-up time than this whole folder.
    import json
    from importlib.resources import files

    text = files(__package__).joinpath(f"{topic}.json").read_text(encoding="utf-8")
    parsed: Row = json.loads(text)
    return parsed


def rows(topic: str) -> list[Row]:
    """The list that ``<topic>.json`` holds under the topic's own name."""
    listed: list[Row] = document(topic)[topic]
    return listed


def texts(value: list[str] | None) -> tuple[str, ...]:
    """A JSON list of strings as a tuple, and an absent one as an empty tuple."""
    return tuple(value or ())
