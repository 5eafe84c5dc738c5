"""The entry points of installed packages, read from the entry_points.txt of their metadata folders.

importlib.metadata gives the same, and is asked where a package may not lie in an ordinary folder. But with what it
imports (email, socket, zipfile, csv) it takes longer to load than all of our checks: a tenth of `check --no-import`.
"""

from __future__ import annotations

import importlib
import os
import re
import sys
from collections.abc import Iterator, Sequence
from importlib.machinery import PathFinder
from pathlib import Path
from typing import NamedTuple

_METADATA = (".dist-info", ".egg-info")
_LARGEST = 1024 * 1024  # bytes; those of large packages have some kilobytes


class EntryPoint(NamedTuple):
    """One announcement: `name = value` in the metadata of a distribution."""

    name: str
    value: str  # "package.module" or "package.module:attribute"
    distribution: str  # its normalized name (PEP 503)

    def load(self) -> object:
        """Import what it names. Raises whatever the import raises."""
        module, _, attributes = self.value.partition("[")[0].strip().partition(":")
        thing: object = importlib.import_module(module.strip())
        for attribute in filter(None, attributes.strip().split(".")):
            thing = getattr(thing, attribute)
        return thing


def entry_points(group: str) -> list[EntryPoint]:
    """Return what every installed distribution announces in this group; of two copies of one, the first on sys.path."""
    # Some put a Path there, which the import system passes over.
    path = [os.fspath(entry) for entry in sys.path if isinstance(entry, (str, os.PathLike))]
    if all(_is_plain(entry) for entry in path) and not _other_finders():
        return [point for folder in _metadata_folders(path) for point in _announced(folder, group)]
    from importlib import metadata

    points = metadata.entry_points(group=group)
    return [EntryPoint(p.name, p.value, _normalized((p.dist.name if p.dist else None) or p.value)) for p in points]


def _is_plain(entry: str) -> bool:
    try:
        return not entry.rstrip(os.sep).endswith(".egg") and not Path(entry).is_file()
    except OSError:  # a name too long: nothing lies there
        return True


def _other_finders() -> bool:
    """Whether somebody finds distributions elsewhere than in the folders of sys.path."""
    return any(hasattr(finder, "find_distributions") for finder in sys.meta_path if finder is not PathFinder)


def _metadata_folders(path: Sequence[str]) -> Iterator[Path]:
    seen: set[str] = set()
    for entry in path:
        try:
            names = os.listdir(entry or ".")  # noqa: PTH208 - strings, as sys.path holds them
        except (OSError, ValueError):  # ValueError: a NUL in the name
            continue
        for name in names:
            if name.endswith(_METADATA) and (distribution := _distribution(name)) not in seen:
                seen.add(distribution)
                yield Path(entry, name)


def _announced(folder: Path, group: str) -> Iterator[EntryPoint]:
    file = folder / "entry_points.txt"
    try:
        if not file.is_file() or file.stat().st_size > _LARGEST:  # a pipe would be waited for
            return
        text = file.read_text("utf-8", "replace")
    except OSError:
        return
    section = ""
    for line in map(str.strip, text.splitlines() if group in text else ()):
        if line.startswith("[") and line.endswith("]"):
            section = line[1:-1]
        elif section == group and "=" in line and not line.startswith(("#", ";")):
            name, _, value = line.partition("=")
            yield EntryPoint(name.strip(), value.strip(), _distribution(folder.name))


def _distribution(folder_name: str) -> str:
    return _normalized(folder_name.rpartition(".")[0].partition("-")[0])


def _normalized(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()
