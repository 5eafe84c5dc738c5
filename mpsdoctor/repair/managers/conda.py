"""The conda family: conda, mamba and micromamba share their commands; pixi has its own."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from mpsdoctor.repair.managers.base import Install, Manager
from mpsdoctor.repair.plan import Step

FORGE = ("--override-channels", "--channel", "conda-forge")
_PIXI = re.compile(r"(?P<project>.+)/\.pixi/envs/(?P<name>[^/]+)/?")
_NAME = re.compile(r"[A-Za-z0-9._-]+")
# Names on conda-forge that differ from those on the package index.
_NAMES = {"torch": "pytorch"}


@dataclass(frozen=True)
class CondaFamily(Manager):
    """A conda environment. `tool` is the path of conda, mamba or micromamba."""

    name: ClassVar[str] = "conda"
    tool: str = "conda"

    @property
    def prefix(self) -> str:
        """The environment's folder."""
        return self.facts.conda.prefix or self.facts.interpreter.prefix or ""

    def install(self, title: str, install: Install) -> tuple[Step, ...]:
        """Install from conda-forge, which has MPS builds for Apple silicon."""
        specs = tuple(dict.fromkeys(conda_spec(r) for r in (*install.again, *install.requirements)))
        force = ("--force-reinstall",) if install.again else ()
        argv = (self.tool, "install", "--yes", "--prefix", self.prefix, *force, *FORGE, *specs)
        return (Step(title, argv, writes=self.writes),)

    def uninstall(self, title: str, names: Sequence[str], *, copies: int = 1) -> tuple[Step, ...]:
        """Remove packages, and nothing that depends on them."""
        argv = (self.tool, "remove", "--yes", "--force", "--prefix", self.prefix, *map(conda_spec, names))
        return (Step(title, argv, writes=self.writes),)

    def create(self, folder: str, python: str, requirements: Sequence[str]) -> tuple[Step, ...]:
        """A new environment for Apple silicon, and its own configuration that keeps it so."""
        specs = (f"python={python}", *map(conda_spec, requirements))
        argv = (self.tool, "create", "--yes", "--prefix", folder, *FORGE, *specs)
        env = {"CONDA_SUBDIR": "osx-arm64"}
        return (Step("make a new environment for Apple silicon", argv, env, (folder,), "removed"),)


@dataclass(frozen=True)
class Pixi(Manager):
    """A pixi project, which is changed by its manifest."""

    name: ClassVar[str] = "pixi"
    tool: str = "pixi"

    @property
    def project(self) -> str:
        """The folder of the project."""
        match = _PIXI.fullmatch(self.facts.conda.prefix or self.facts.interpreter.prefix or "")
        return match["project"] if match else "."

    @property
    def writes(self) -> tuple[str, ...]:
        """The manifest, the lock file and the environment."""
        manifests = (f"{self.project}/pixi.toml", f"{self.project}/pyproject.toml", f"{self.project}/pixi.lock")
        return (*manifests, *super().writes)

    def install(self, title: str, install: Install) -> tuple[Step, ...]:
        """Add the packages to the manifest; pixi then installs what follows."""
        specs = tuple(dict.fromkeys(conda_spec(r) for r in (*install.again, *install.requirements)))
        argv = (self.tool, "add", "--manifest-path", self.project, *specs)
        return (Step(title, argv, writes=self.writes),)

    def uninstall(self, title: str, names: Sequence[str], *, copies: int = 1) -> tuple[Step, ...]:
        """Take them out of the manifest."""
        argv = (self.tool, "remove", "--manifest-path", self.project, *map(conda_spec, names))
        return (Step(title, argv, writes=self.writes),)


def is_pixi(prefix: str | None) -> bool:
    """True for an environment in a pixi project."""
    return prefix is not None and _PIXI.fullmatch(prefix) is not None


def conda_spec(requirement: str) -> str:
    """Return a requirement of the package index as conda writes it.

    >>> conda_spec("torch==2.8.0"), conda_spec("torch<=2.8.0"), conda_spec("numpy<2")
    ('pytorch=2.8.0', 'pytorch<=2.8.0', 'numpy<2')
    """
    match = _NAME.match(requirement)
    name = match[0] if match else requirement
    rest = requirement[len(name) :]
    return _NAMES.get(name, name) + (rest[1:] if rest.startswith("==") else rest)
