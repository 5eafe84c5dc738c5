"""uv, where the user has it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from mpsdoctor.repair.managers.base import Install, Manager
from mpsdoctor.repair.plan import Step


@dataclass(frozen=True)
class Uv(Manager):
    """An environment that uv manages. `tool` is uv's path."""

    name: ClassVar[str] = "uv"
    tool: str = "uv"

    def install(self, title: str, install: Install) -> tuple[Step, ...]:
        """One command: uv replaces the named packages and leaves the others."""
        argv = [self.tool, "pip", "install", "--python", self.python]
        for requirement in install.again:
            name = requirement.partition("==")[0].partition("<")[0]
            argv += ["--reinstall-package", name, "--refresh-package", name]
        if not install.dependencies:
            argv.append("--no-deps")
        if install.pre:
            argv += ["--prerelease", "allow"]
        if install.index:
            argv += ["--default-index", install.index]
        return (Step(title, (*argv, *dict.fromkeys((*install.again, *install.requirements))), writes=self.writes),)

    def uninstall(self, title: str, names: Sequence[str], *, copies: int = 1) -> tuple[Step, ...]:
        """uv removes every copy that it finds."""
        return (Step(title, (self.tool, "pip", "uninstall", "--python", self.python, *names), writes=self.writes),)

    def create(self, folder: str, python: str, requirements: Sequence[str]) -> tuple[Step, ...]:
        """A venv with that Python, which uv downloads where it is missing."""
        make = (self.tool, "venv", "--no-project", "--python", python, folder)
        fill = (self.tool, "pip", "install", "--python", f"{folder}/bin/python", *requirements)
        return (
            Step("make a new environment", make, writes=(folder,), undo="removed"),
            Step("install the packages into it", fill, writes=(folder,), undo="removed"),
        )
