"""The two settings of condarc files that decide what gets installed: `subdir` and `channels`.

A reader of these two keys only. PyYAML would be a run-time dependency for two keys, and a condarc file that conda
itself refuses should still tell what it says.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from mpsdoctor.probes.conda_output import channel_name
from mpsdoctor.probes.files import read_text, shown

_KEY = re.compile(r"(?P<quote>['\"]?)(?P<key>subdir|channels)(?P=quote)\s*:(?:\s+(?P<value>.*))?")
_ITEM = re.compile(r"\s*-\s+(?P<value>.*)")


@dataclass
class Settings:
    """What condarc files set, None where none does; `sources` names the file of each."""

    subdir: str | None = None
    channels: tuple[str, ...] | None = None
    sources: dict[str, str] = field(default_factory=dict)


def read_condarcs(prefix: Path, root: Path | None, home: Path | None) -> Settings:
    """Join the condarc files as conda does: the environment's own first, then the user's, then the root's.

    The first `subdir` wins; channels of all files follow each other.
    """
    settings = Settings()
    channels: list[str] = []
    told_by: list[str] = []
    for path in _places(prefix, root, home):
        text = read_text(path)
        if text is None:
            continue
        own = parse_condarc(text)
        if settings.subdir is None and own.subdir is not None:
            settings.subdir, settings.sources["configured_subdir"] = own.subdir, shown(path)
        if own.channels is not None:
            channels += own.channels
            told_by.append(shown(path))
    if told_by:
        settings.channels = tuple(dict.fromkeys(channels))
        settings.sources["configured_channels"] = ", ".join(told_by)
    return settings


def _places(prefix: Path, root: Path | None, home: Path | None) -> list[Path]:
    places = [prefix / ".condarc"]
    if home is not None:
        places += [home / ".condarc", home / ".conda" / ".condarc", home / ".config" / "conda" / ".condarc"]
    if root is not None:
        places.append(root / ".condarc")
    return list(dict.fromkeys(places))


def parse_condarc(text: str) -> Settings:
    """Read the top-level keys `subdir` and `channels` of a condarc file.

    >>> parse_condarc("channels: [conda-forge]  # ours\\nsubdir: osx-64").channels
    ('conda-forge',)
    """
    found = Settings()
    lines = [stripped for line in text.splitlines() if (stripped := _without_comment(line)).strip()]
    for number, line in enumerate(lines):
        match = _KEY.fullmatch(line)
        if match is None:
            continue
        value = (match["value"] or "").strip()
        if match["key"] == "subdir":
            found.subdir = _scalar(value) or None
        elif not value:
            found.channels = _names(_items(lines[number + 1 :]))
        elif value.startswith("["):
            found.channels = _names(_flow([value, *lines[number + 1 :]]))
        else:
            found.channels = _names([value])
    return found


def _without_comment(line: str) -> str:
    return re.sub(r"(?:^|\s)#.*", "", line).rstrip()


def _items(lines: list[str]) -> Iterator[str]:
    for line in lines:
        match = _ITEM.fullmatch(line)
        if match is None:
            return
        yield match["value"]


def _flow(lines: list[str]) -> list[str]:
    return " ".join(lines).partition("]")[0].lstrip("[").split(",")


def _scalar(value: str) -> str:
    value = value.strip()
    return value[1:-1] if len(value) > 1 and value[0] == value[-1] and value[0] in "'\"" else value


def _names(values: Iterator[str] | list[str]) -> tuple[str, ...]:
    return tuple(channel_name(name) for value in values if (name := _scalar(value)))
