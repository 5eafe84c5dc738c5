"""What checks and fixes share: both are found by entry point, ours first, and told by a docstring."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Iterable
from dataclasses import replace
from types import ModuleType
from typing import Any, TypeVar

from mpsdoctor.entry_points import entry_points

OURS = "mpsdoctor"  # the distribution whose checks and fixes come first
T = TypeVar("T", bound=Any)  # a frozen dataclass with `id` and `origin`


def load_plugins(group: str, kind: type[T], nouns: tuple[str, str]) -> tuple[dict[str, T], dict[str, str]]:
    """Return the items of every installed package by id, and the entry points that could not be loaded (name -> why).

    nouns: one item and several, for the message to a plug-in that announces something else.
    """
    found: dict[str, T] = {}
    broken: dict[str, str] = {}
    for point in sorted(entry_points(group), key=lambda p: (p.distribution != OURS, p.name)):
        try:
            items = list(_items_of(point.load(), kind, nouns))
        except Exception as error:
            if isinstance(error.__cause__, KeyboardInterrupt):  # it came while a class was made
                raise
            broken[point.name] = f"{type(error).__name__}: {error}"
            continue
        for item in items:
            if item.id in found:
                broken[point.name] = f"the id {item.id} is taken by {found[item.id].origin}"
                continue
            found[item.id] = replace(item, origin=point.distribution)
    return found, broken


def _items_of(thing: object, kind: type[T], nouns: tuple[str, str]) -> Iterable[T]:
    if isinstance(thing, kind):
        yield thing
    elif isinstance(thing, ModuleType):
        yield from (item for item in vars(thing).values() if isinstance(item, kind))
    else:
        raise TypeError(f"the entry point names neither a module with {nouns[1]} nor a {nouns[0]}")


def docstring_title(function: Callable[..., Any], otherwise: str) -> str:
    """The first line of its docstring."""
    return (inspect.getdoc(function) or otherwise).split("\n", 1)[0].strip()


def docstring_sections(function: Callable[..., Any], headings: Collection[str]) -> dict[str, str]:
    """The paragraphs of its docstring that begin with one of these headings, by heading."""
    found: dict[str, str] = {}
    for paragraph in (inspect.getdoc(function) or "").split("\n\n")[1:]:
        heading, colon, text = paragraph.strip().partition(":")
        if colon and heading in headings:
            found[heading] = " ".join(text.split())
    return found
