"""Conda's side of an environment as conda, mamba, micromamba and pixi print it: pure parsers, and their union."""

from __future__ import annotations

import dataclasses
import re
from collections import Counter
from collections.abc import Iterable
from pathlib import PurePosixPath
from typing import Any

from mpsdoctor.facts import Conda, CondaPackage
from mpsdoctor.probes.files import load_json, without_credentials

# Channels that conda shows by their short name. A company's mirror of one is that channel, whatever its host.
_WELL_KNOWN = re.compile(
    r"https?://.*/(pkgs/(?:main|r|free|pro|msys2)|conda-forge|pytorch|pytorch-nightly|pytorch-test|apple|bioconda|nvidia"
    r"|fastai|huggingface|intel|rapidsai|robostack-staging)"
)
_SUBDIR = re.compile(r"/(?:noarch|(?:osx|linux|win|emscripten|wasi)-[a-z0-9]+)/?$")
_FAMILIES = {
    "miniforge": "miniforge",
    "mambaforge": "miniforge",
    "miniconda": "miniconda",
    "anaconda": "anaconda",
    "micromamba": "micromamba",
    ".pixi": "pixi",
}

# What is true of one environment only, and so never joined from the facts of another one.
_OF_ONE_PREFIX = ("present", "environment_name", "is_base", "subdir", "packages", "unreadable")


def channel_name(channel: str) -> str:
    """Return a channel without subdir and credentials: a well-known one by its name, another one by its URL.

    >>> channel_name("https://conda.example.org/t/tk-123/conda-forge/osx-arm64")
    'conda-forge'
    """
    bare = _SUBDIR.sub("", without_credentials(channel)).rstrip("/")
    known = _WELL_KNOWN.fullmatch(bare)
    return known[1] if known else bare


def family_of_path(path: str) -> str | None:
    """Return the distribution that a folder name tells: ~/opt/anaconda3 is anaconda."""
    for part in PurePosixPath(path).parts:
        for start, family in _FAMILIES.items():
            if part.lower().startswith(start):
                return family
    return None


def main_subdir(packages: Iterable[CondaPackage]) -> str | None:
    """Return what the packages were built for: python's own subdir, else the most frequent one beside noarch."""
    counts: Counter[str] = Counter()
    for package in packages:
        if package.subdir and package.subdir != "noarch":
            if package.name == "python":
                return package.subdir
            counts[package.subdir] += 1
    return counts.most_common(1)[0][0] if counts else None


def parse_conda_info(text: str) -> Conda:
    """Read `info --json` of conda, mamba, micromamba or pixi. What is not in it stays unknown; nothing is raised.

    The prefix is the active one, which need not be the target: `merge_conda` keeps the two apart.
    """
    data = load_json(text)
    if not isinstance(data, dict):
        return Conda()
    if "conda_version" in data:
        return _sourced(_conda_info(data), "conda info")
    if "libmamba version" in data:
        tool = "micromamba" if "micromamba version" in data else "mamba"
        return _sourced(_mamba_info(data, tool), f"{tool} info")
    if "environments_info" in data or "global_info" in data:
        return _sourced(_pixi_info(data), "pixi info")
    return Conda()


def _conda_info(data: dict[str, Any]) -> Conda:
    root = _text(data, "root_prefix")
    prefix = _text(data, "active_prefix") or _text(data, "default_prefix")
    return Conda(
        prefix=prefix,
        root_prefix=root,
        environment_name=_text(data, "active_prefix_name") or ("base" if prefix and prefix == root else None),
        is_base=prefix == root if prefix and root else None,
        family=family_of_path(root) if root else None,
        tool_platform=_text(data, "platform"),
        conda_version=_text(data, "conda_version"),
        configured_channels=_channels(data.get("channels")),
    )


def _mamba_info(data: dict[str, Any], tool: str) -> Conda:
    root, prefix = _text(data, "base environment"), _text(data, "env location")
    name = (_text(data, "environment") or "").partition(" (")[0]
    return Conda(
        prefix=prefix,
        root_prefix=root,
        environment_name=name if name and name != "None" else None,
        is_base=prefix == root if prefix and root else None,
        family="micromamba" if tool == "micromamba" else family_of_path(root or ""),
        tool_platform=_text(data, "platform"),
        configured_channels=_channels(data.get("channels")),
    )


def _pixi_info(data: dict[str, Any]) -> Conda:
    environments = data.get("environments_info")
    first = environments[0] if isinstance(environments, list) and environments else {}
    first = first if isinstance(first, dict) else {}
    return Conda(
        prefix=_text(first, "prefix"),
        environment_name=_text(first, "name"),
        is_base=False if first else None,
        family="pixi",
        tool_platform=_text(data, "platform"),
        configured_channels=_channels(first.get("channels")),
    )


def parse_conda_config(text: str) -> Conda:
    """Read `conda config --show --json`: `configured_subdir` is the subdir in force, set by hand or not."""
    data = load_json(text)
    if not isinstance(data, dict):
        return Conda()
    found = Conda(
        root_prefix=_text(data, "root_prefix"),
        configured_subdir=_text(data, "subdir"),
        configured_channels=_channels(data.get("channels")),
    )
    return _sourced(found, "conda config --show")


def parse_conda_list(text: str) -> Conda:
    """Read `list --json` of conda, mamba, micromamba or pixi: the packages, and the subdir that most of them have."""
    data = load_json(text)
    if not isinstance(data, list):
        return Conda()
    packages = tuple(made for item in data if isinstance(item, dict) and (made := _listed(item)))
    return _sourced(Conda(packages=packages, subdir=main_subdir(packages)), "conda list")


def _listed(item: dict[str, Any]) -> CondaPackage | None:
    name = _text(item, "name")
    if name is None:
        return None
    channel = _text(item, "channel") or _text(item, "base_url") or _text(item, "source")
    if item.get("kind") == "pypi":
        channel = "pypi"
    subdir = _text(item, "platform") or _text(item, "subdir")
    return CondaPackage(
        name=name,
        version=_text(item, "version"),
        build=_text(item, "build_string") or _text(item, "build"),
        channel=channel_name(channel) if channel else None,
        subdir=None if subdir == "pypi" else subdir,
    )


def merge_conda(*parts: Conda) -> Conda:
    """Join facts from several places: for each field the first known value wins, with its source.

    A part about another prefix gives only what is true of the whole installation (root, tool, configuration).
    """
    prefix = next((part.prefix for part in parts if part.prefix), None)
    values: dict[str, Any] = {}
    sources: dict[str, str] = {}
    extra: dict[str, Any] = {}
    for part in parts:
        elsewhere = part.prefix is not None and part.prefix != prefix
        extra = {**part.extra, **extra}
        for field in dataclasses.fields(Conda):
            name, value = field.name, getattr(part, field.name)
            if name in ("sources", "extra") or value is None or name in values:
                continue
            if elsewhere and name in _OF_ONE_PREFIX:
                continue
            values[name] = value
            if part.source(name):
                sources[name] = part.source(name)
    return Conda(**values, sources=sources, extra=extra)


def _sourced(conda: Conda, source: str) -> Conda:
    return dataclasses.replace(conda, sources={"*": source})


def _channels(value: object) -> tuple[str, ...] | None:
    if not isinstance(value, list):
        return None
    return tuple(dict.fromkeys(channel_name(item) for item in value if isinstance(item, str)))


def _text(data: dict[str, Any], key: str) -> str | None:
    value = data.get(key)
    if isinstance(value, list) and len(value) == 1:  # mamba has printed single values as lists of one
        value = value[0]
    return value if isinstance(value, str) and value else None
