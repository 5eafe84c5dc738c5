"""Names and versions that may enter a command: what a report says is data, and only a well-formed name passes."""

from __future__ import annotations

import re

from mpsdoctor.facts import Distribution, normalize

# PEP 508 names: they begin and end with a letter or digit, so that none can pass for an option.
_NAME = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]{0,98}[A-Za-z0-9])?")
# PEP 440 versions with a local part, as far as they can be written after "==".
_VERSION = re.compile(r"[0-9][0-9A-Za-z.!+_-]{0,63}")
_CONDA = re.compile(r"[a-z0-9_](?:[a-z0-9._-]{0,98}[a-z0-9_])?")


def is_name(name: str) -> bool:
    """True for the name of a distribution (PEP 508)."""
    return _NAME.fullmatch(name) is not None


def is_conda_name(name: str) -> bool:
    """True for the name of a conda package."""
    return _CONDA.fullmatch(name) is not None


def is_version(version: str) -> bool:
    """True for text that may stand behind "==". What it means is the installer's to judge."""
    from mpsdoctor.knowledge import versions

    return _VERSION.fullmatch(version) is not None and versions.parse(version) is not None


def pinned(distribution: Distribution) -> str | None:
    """Return "name==version", "name" where the version is no version, or None where the name is none.

    The local part (+cu121) goes: no index has it for a Mac.
    """
    if not is_name(distribution.name):
        return None
    version = (distribution.version or "").partition("+")[0]
    name = normalize(distribution.name)
    return f"{name}=={version}" if is_version(version) else name


def one_line(text: str) -> str:
    """Return a name from outside in a form that can be printed: one line, no control characters, 60 at most."""
    clean = "".join(character if character.isprintable() else "\ufffd" for character in text)
    return clean if len(clean) <= 60 else f"{clean[:57]}..."
