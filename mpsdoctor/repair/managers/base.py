"""What every environment manager offers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from mpsdoctor.facts import Facts
from mpsdoctor.repair.plan import Step


@dataclass(frozen=True)
class Install:
    """An installation: requirements, those to be installed again even where they are there, and from where.

    `dependencies` False installs the named packages alone.
    """

    requirements: tuple[str, ...]
    again: tuple[str, ...] = ()
    index: str | None = None
    pre: bool = False
    dependencies: bool = True


@dataclass(frozen=True)
class Manager:
    """Makes the steps that change one environment. Subclasses say how; nothing is run here."""

    name: ClassVar[str] = ""
    facts: Facts

    @property
    def python(self) -> str:
        """The interpreter of the environment."""
        return self.facts.interpreter.executable or "python"

    @property
    def writes(self) -> tuple[str, ...]:
        """The folders that an installation changes."""
        return environment_folders(self.facts)

    def install(self, title: str, install: Install) -> tuple[Step, ...]:
        """Return the steps that install packages into the environment."""
        raise NotImplementedError

    def uninstall(self, title: str, names: Sequence[str], *, copies: int = 1) -> tuple[Step, ...]:
        """Return the steps that remove packages, each as often as there are copies of it."""
        raise NotImplementedError

    def create(self, folder: str, python: str, requirements: Sequence[str]) -> tuple[Step, ...]:
        """Return the steps that make a new environment in a folder. python: a path or a version such as 3.12."""
        raise NotImplementedError


def environment_folders(facts: Facts) -> tuple[str, ...]:
    """Return the folders that hold the environment's packages: the whole of a venv or conda environment.

    Of a Python that is no environment only site-packages and the folder of its scripts.
    """
    interpreter = facts.interpreter
    prefix = interpreter.prefix or prefix_of(interpreter.executable)
    if prefix is None:
        return ()
    if interpreter.venv or interpreter.conda or facts.conda.present:
        return (prefix,)
    root, info = prefix.rstrip("/"), interpreter.version_info
    usual = (f"{root}/lib/python{info[0]}.{info[1]}/site-packages",) if info and len(info) > 1 else ()
    inside = [site for site in interpreter.site_packages or usual if site.startswith(f"{root}/")]
    return (*inside, f"{root}/bin")


def prefix_of(executable: str | None) -> str | None:
    """Return the environment's folder, by the path of bin/python in it."""
    if executable is None or not executable.startswith("/"):
        return None
    folder, _, _ = executable.rpartition("/")
    prefix, _, last = folder.rpartition("/")
    return prefix if last == "bin" and prefix else None
