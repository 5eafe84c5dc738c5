"""A conda environment, read from its own files: the records in conda-meta, its history, and condarc files."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from mpsdoctor.facts import Conda, CondaPackage
from mpsdoctor.probes.conda_output import (
    channel_name,
    family_of_path,
    main_subdir,
    merge_conda,
    parse_conda_config,
    parse_conda_info,
    parse_conda_list,
)
from mpsdoctor.probes.condarc import read_condarcs
from mpsdoctor.probes.files import can_list, exists, is_dir, list_folder, read_head, read_text, shown

__all__ = ["merge_conda", "parse_conda_config", "parse_conda_info", "parse_conda_list", "read_conda"]

MAX_RECORD_BYTES = 64 * 1024 * 1024
WHOLE_RECORD_BYTES = 48 * 1024  # up to here parsed as JSON; the long file lists of larger ones are only searched
MAX_HISTORY_BYTES = 1024 * 1024

_VALUE = re.compile(rb'\s{0,10}:\s{0,10}"([^"\\]{0,500})"')
_HISTORY_COMMAND = re.compile(r"^# cmd: (.+?)[/\\](?:bin|condabin|Scripts)[/\\]([\w.-]+)", re.MULTILINE)
_HISTORY_VERSION = re.compile(r"^# conda version: (\S+)", re.MULTILINE)
_NO_ROOTS = ("/opt/homebrew", "/usr/local", "/usr")  # a link to conda may lie there, conda itself does not
_ANACONDA = ("anaconda", "_anaconda_depends", "anaconda-navigator")


def read_conda(prefix: Path, *, home: Path | None) -> Conda:
    """Return what the files of a prefix tell. `present` is False where it has no conda-meta folder.

    `home` is the folder of the user whose condarc files count, None for a tree of another machine. Nothing is run,
    damaged records are named in `unreadable`, and nothing is raised.
    """
    meta = prefix / "conda-meta"
    if not is_dir(meta):
        return Conda(present=False, prefix=shown(prefix), sources={"*": "no conda-meta folder"})
    if not can_list(meta):
        return Conda(present=True, prefix=shown(prefix), unreadable=("conda-meta",), sources={"*": "conda-meta"})
    packages, unreadable = _records(meta)
    origin = _Origin(prefix, packages, read_text(meta / "history", MAX_HISTORY_BYTES) or "")
    settings = read_condarcs(prefix, origin.root_folder, home)
    return Conda(
        present=True,
        prefix=shown(prefix),
        root_prefix=origin.root_prefix,
        environment_name=origin.environment_name,
        is_base=origin.is_base,
        family=origin.family,
        subdir=main_subdir(packages),
        conda_version=origin.conda_version,
        configured_subdir=settings.subdir,
        configured_channels=settings.channels,
        packages=tuple(packages),
        unreadable=tuple(unreadable) or None,
        sources={"*": "conda-meta", **origin.sources, **settings.sources},
    )


def _records(meta: Path) -> tuple[list[CondaPackage], list[str]]:
    packages: list[CondaPackage] = []
    unreadable: list[str] = []
    for entry in list_folder(meta):
        if not entry.name.endswith(".json"):
            continue
        record = _record(Path(entry.path))
        if record is None:
            unreadable.append(shown(entry.name))
        else:
            packages.append(record)
    return packages, unreadable


def _record(path: Path) -> CondaPackage | None:
    """Read one record, named name-version-build.json, or return None where it is damaged."""
    parts = path.name.removesuffix(".json").rsplit("-", 2)
    data = read_head(path, MAX_RECORD_BYTES)
    if data is None or len(parts) != 3:
        return None
    keys = _keys(data)
    if keys is None:
        return None
    channel, subdir = keys.get("channel"), keys.get("subdir")
    return CondaPackage(
        name=shown(parts[0]),
        version=shown(parts[1]),
        build=shown(parts[2]),
        channel=channel_name(channel) if channel else None,
        subdir=subdir or (_subdir_of_channel(channel) if channel else None),
    )


def _keys(data: bytes) -> Mapping[str, str] | None:
    if len(data) <= WHOLE_RECORD_BYTES:
        try:
            whole = json.loads(data)
        except (ValueError, RecursionError):
            return None
        if not isinstance(whole, dict):
            return None
        return {key: value for key in ("channel", "subdir") if isinstance(value := whole.get(key), str)}
    stripped = data.strip()
    if not stripped.startswith(b"{") or not stripped.endswith(b"}"):  # cut off, or overwritten
        return None
    return {key: value for key in ("channel", "subdir") if (value := _searched(stripped, key))}


def _searched(data: bytes, key: str) -> str | None:
    """Find a top-level value without reading the rest; a file may be called "channel", but no colon follows it."""
    quoted = f'"{key}"'.encode()
    position = data.find(quoted)
    while position >= 0:
        match = _VALUE.match(data, position + len(quoted))
        if match is not None:
            return match[1].decode("utf-8", "replace")
        position = data.find(quoted, position + 1)
    return None


def _subdir_of_channel(channel: str) -> str | None:
    last = channel.rstrip("/").rpartition("/")[2]
    return last if last == "noarch" or last.startswith(("osx-", "linux-", "win-")) else None


@dataclass
class _Origin:
    """Where a prefix belongs: its root, its name, and the distribution that made it."""

    prefix: Path
    packages: Iterable[CondaPackage]
    history: str
    root_prefix: str | None = None
    root_folder: Path | None = None  # only where the root's own files are there
    environment_name: str | None = None
    is_base: bool | None = None
    family: str | None = None
    conda_version: str | None = None
    sources: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._place()
        self._family()
        self._version()

    def _place(self) -> None:
        commands = _HISTORY_COMMAND.findall(self.history)
        roots = [root for root, tool in commands if tool in ("conda", "mamba") and root not in _NO_ROOTS]
        parent, own = self.prefix.parent, shown(self.prefix)
        if parent.name == "envs":
            self._set("environment_name", shown(self.prefix.name), "the folder envs")
            self._set("is_base", False, "the folder envs")
            if is_dir(parent.parent / "conda-meta") or any(tool == "micromamba" for _, tool in commands):
                self._set("root_prefix", shown(parent.parent), "the folder that holds envs")
        outside = parent.name != "envs" or roots[-1:] in ([], [own])
        if self.root_prefix is None and outside and self._has("conda"):
            self._set("root_prefix", own, "the package conda")
            self._set("environment_name", "base", "the package conda")
            self._set("is_base", True, "the package conda")
        if self.root_prefix is None and roots:
            self._set("root_prefix", roots[-1], "conda-meta/history")
            if self.is_base is None:
                self._set("is_base", roots[-1] == own, "conda-meta/history")
        if self.root_prefix is not None and is_dir(Path(self.root_prefix) / "conda-meta"):
            self.root_folder = Path(self.root_prefix)

    def _family(self) -> None:
        names = {parts[0] for parts in self._root_records()}
        tools = {tool for _, tool in _HISTORY_COMMAND.findall(self.history)}
        if ".pixi" in self.prefix.parts or exists(self.prefix / "conda-meta" / "pixi"):
            self._set("family", "pixi", "the folder .pixi or the file conda-meta/pixi")
        elif names.intersection(_ANACONDA) or any(self._has(name) for name in _ANACONDA):
            self._set("family", "anaconda", "the package anaconda")
        elif "miniforge_console_shortcut" in names:
            self._set("family", "miniforge", "the package miniforge_console_shortcut")
        elif family := family_of_path(self.root_prefix or shown(self.prefix)):
            self._set("family", family, "the name of its folder")
        elif "micromamba" in tools:
            self._set("family", "micromamba", "conda-meta/history")

    def _version(self) -> None:
        own = [parts[1] for parts in self._root_records() if parts[0] == "conda"]
        told = _HISTORY_VERSION.findall(self.history)
        if own:
            self._set("conda_version", own[-1], "conda-meta of the root")
        elif told:
            self._set("conda_version", told[-1], "conda-meta/history (its last change)")

    def _root_records(self) -> list[list[str]]:
        entries = list_folder(self.root_folder / "conda-meta") if self.root_folder else []
        split = [entry.name.removesuffix(".json").rsplit("-", 2) for entry in entries if entry.name.endswith(".json")]
        return [parts for parts in split if len(parts) == 3]

    def _has(self, name: str) -> bool:
        return any(package.name == name for package in self.packages)

    def _set(self, name: str, value: str | bool, source: str) -> None:
        setattr(self, name, value)
        self.sources[name] = source
