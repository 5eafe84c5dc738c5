"""Requirement files that ask for builds which no Mac has: finds the lines and rewrites them for Macs alone.

Other systems go on getting what they got: a pin is split by an environment marker, never replaced. Pure: text in,
text out; comments, order and line ends stay.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

_NOT_MAC, _MAC = 'sys_platform != "darwin"', 'sys_platform == "darwin"'
_LOCAL = re.compile(r"\+(?:cu\d+|rocm[\d.]*|xpu|cpu)[\w.]*", re.IGNORECASE)
_INDEX = re.compile(
    r"(?:--index-url|-i)(?P<between>[=\s]+)(?P<url>\S*/whl/(?:nightly/|test/)?(?:cu|rocm|xpu)[\w.]*\S*)"
)
_FOREIGN_WHEEL = re.compile(r"(?:linux_|manylinux\w*_|win_)[\w]+\.whl")
_WHEEL_VERSION = re.compile(r"/(?P<name>[A-Za-z0-9_.]+)-(?P<version>\d[\w.]*)(?:(?:%2B|\+)[\w.]+)?-")
_STACK = ("torch", "torchvision", "torchaudio", "torchtext")
# Projects without any macOS wheel; nvidia-* are CUDA's libraries for Linux and Windows.
_NO_MAC = re.compile(
    r"nvidia-[\w-]+|triton|pytorch-triton(?:-rocm)?|xformers|flash[-_]attn|bitsandbytes-cuda\w*|cupy-cuda\w*"
)
_REQUIREMENT = re.compile(
    r"(?P<lead>\s*)(?P<name>[A-Za-z0-9][A-Za-z0-9._-]*)(?P<extras>\[[^\]]*\])?(?P<rest>[^#]*?)(?P<comment>\s+#.*)?"
)


@dataclass(frozen=True)
class Change:
    """One requirement that no Mac can meet, and what takes its place (one or two requirements)."""

    old: str
    new: tuple[str, ...]


def rewrite_requirements(text: str) -> tuple[str, tuple[Change, ...]]:
    """Return the text of a requirements file for all systems, Macs included, and what changed in it."""
    changes: list[Change] = []
    lines = []
    for line in text.splitlines(keepends=True):
        body = line.rstrip("\r\n")
        change = _line_change(body)
        if change is None:
            lines.append(line)
            continue
        changes.append(change)
        end = line[len(body) :] or "\n"
        lines.append("".join(part + end for part in change.new))
    new = "".join(lines)
    if changes and not text.endswith(("\n", "\r")):
        new = new.rstrip("\r\n")
    return new, tuple(changes)


def foreign_indexes(text: str) -> tuple[str, ...]:
    """Return the lines that make an index without any wheel for Macs the only one.

    No rewriting serves both: a file has one index for all systems, and beside another one a name would be taken from
    whichever has the higher version.
    """
    lines = [line.strip() for line in text.splitlines()]
    return tuple(line for line in lines if not line.startswith("#") and _INDEX.search(line))


def _line_change(line: str) -> Change | None:
    if line.lstrip().startswith(("#", "-")):
        return None
    match = _REQUIREMENT.fullmatch(line)
    if match is None:
        return None
    change = split_requirement(match["name"] + (match["extras"] or "") + match["rest"])
    if change is None:
        return None
    comment = match["comment"] or ""
    new = tuple(match["lead"] + part + (comment if number == 0 else "") for number, part in enumerate(change.new))
    return Change(line, new)


def split_requirement(text: str) -> Change | None:
    """Return the requirement split into one for Macs and one for the others, or None where a Mac can meet it.

    >>> split_requirement("torch==2.1.0+cu118").new
    ('torch==2.1.0+cu118 ; sys_platform != "darwin"', 'torch==2.1.0 ; sys_platform == "darwin"')
    """
    from packaging.requirements import InvalidRequirement, Requirement

    try:
        requirement = Requirement(text.strip())
    except InvalidRequirement:
        return None
    if requirement.marker is not None and not _meant_for_macs(requirement):
        return None
    name = requirement.name.lower().replace("_", "-")
    plain = text.partition(";")[0].rstrip() if requirement.url is None else text.rstrip()
    if _NO_MAC.fullmatch(name) and (requirement.marker is None):
        return Change(text, (f"{plain} ; {_NOT_MAC}",))
    if name not in _STACK or requirement.marker is not None:
        return None
    if requirement.url is not None and _FOREIGN_WHEEL.search(requirement.url):
        version = _WHEEL_VERSION.search(requirement.url)
        mac = f"{name}=={version['version']}" if version else name
        return Change(text, (f"{plain} ; {_NOT_MAC}", f"{mac} ; {_MAC}"))
    if requirement.url is None and _LOCAL.search(str(requirement.specifier)):
        return Change(text, (f"{plain} ; {_NOT_MAC}", f"{_LOCAL.sub('', plain)} ; {_MAC}"))
    return None


def _meant_for_macs(requirement: object) -> bool:
    marker = getattr(requirement, "marker")  # noqa: B009 - packaging's Requirement, imported late
    environment = {
        "sys_platform": "darwin",
        "platform_system": "Darwin",
        "platform_machine": "arm64",
        "os_name": "posix",
    }
    try:
        return bool(marker.evaluate({**environment, "extra": ""}))
    except Exception:  # a marker that names what packaging does not know
        return False


def without_local(version: str) -> str:
    """Return a version or specifier without +cu118 and the like.

    >>> without_local("==2.1.0+cu118")
    '==2.1.0'
    """
    return _LOCAL.sub("", version)


def is_foreign(value: str) -> bool:
    """True for a version with a local part, an index or a wheel that no Mac can use."""
    return bool(
        _LOCAL.search(value)
        or re.search(r"/whl/(?:nightly/|test/)?(?:cu|rocm|xpu)", value)
        or _FOREIGN_WHEEL.search(value)
    )


Rewrite = Callable[[str], "tuple[str, tuple[Change, ...]]"]


def rewriter(name: str) -> Rewrite | None:
    """Return what rewrites a file of this name, or None for a file that holds no requirements."""
    from mpsdoctor.repair.pins_toml import rewrite_pixi, rewrite_pyproject

    if name == "pyproject.toml":
        return rewrite_pyproject
    if name == "pixi.toml":
        return rewrite_pixi
    return rewrite_requirements if name.endswith((".txt", ".in")) else None
