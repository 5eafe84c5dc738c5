"""pip, run by the interpreter whose environment it changes, and the standard module venv."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from mpsdoctor.repair.managers.base import Install, Manager
from mpsdoctor.repair.plan import Step

_QUIET = ("--disable-pip-version-check", "--no-input")


@dataclass(frozen=True)
class Pip(Manager):
    """An environment that pip manages."""

    name: ClassVar[str] = "pip"
    missing: bool = False  # the environment has no pip; Python brings one with it

    def install(self, title: str, install: Install) -> tuple[Step, ...]:
        """Install, and replace by force what must be installed again."""
        steps = []
        if self.missing:
            bring = (self.python, "-m", "ensurepip", "--default-pip")
            steps.append(Step("bring pip into the environment", bring, writes=self.writes))
        if install.again:
            argv = (*self._pip("install"), "--force-reinstall", "--no-deps", "--no-cache-dir", *_source(install))
            steps.append(Step(title, (*argv, *install.again), writes=self.writes))
        rest = [requirement for requirement in install.requirements if requirement not in install.again]
        if install.requirements:  # also where all were installed again: what they depend on may be missing
            wanted = install.requirements if install.dependencies else tuple(rest)
            alone = () if install.dependencies else ("--no-deps",)
            if wanted:
                argv = (*self._pip("install"), *alone, *_source(install), *wanted)
                steps.append(Step(title, argv, writes=self.writes))
        return tuple(steps)

    def uninstall(self, title: str, names: Sequence[str], *, copies: int = 1) -> tuple[Step, ...]:
        """pip removes one copy at a time."""
        step = Step(title, (*self._pip("uninstall"), "--yes", *names), writes=self.writes)
        again = Step(f"{title}, the copy behind it", step.argv, writes=self.writes)
        return (step, *([again] * (copies > 1)))

    def create(self, folder: str, python: str, requirements: Sequence[str]) -> tuple[Step, ...]:
        """A venv, and what it needs."""
        made = Step("make a new environment", (python, "-m", "venv", folder), writes=(folder,), undo="removed")
        argv = (f"{folder}/bin/python", "-m", "pip", "install", *_QUIET, "--no-compile", *requirements)
        return (made, Step("install the packages into it", argv, writes=(folder,), undo="removed"))

    def _pip(self, action: str) -> tuple[str, ...]:
        return (self.python, "-m", "pip", action, *_QUIET)


def _source(install: Install) -> tuple[str, ...]:
    return (*(("--pre",) if install.pre else ()), *(("--index-url", install.index) if install.index else ()))
