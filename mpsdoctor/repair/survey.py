"""What a repair must know of this machine beyond the facts: tools, other Pythons, files that could be changed.

A plan for somebody else's Mac has an empty survey.
"""

from __future__ import annotations

from dataclasses import dataclass

from mpsdoctor.facts import Facts


@dataclass(frozen=True)
class FoundPython:
    """Another interpreter on this machine: its path, minor version ("3.12") and architecture."""

    path: str
    minor: str
    machine: str


@dataclass(frozen=True)
class TextFile:
    """A text file that a fix may change, as it was read."""

    path: str
    text: str


@dataclass(frozen=True)
class Survey:
    """Tools by absolute path (None: not found), and files. `live`: this machine is the one that is repaired."""

    live: bool = False
    uv: str | None = None
    conda: str | None = None  # conda, mamba or micromamba
    pixi: str | None = None
    pip: bool | None = None  # the target can run pip
    pythons: tuple[FoundPython, ...] = ()
    requirements: tuple[TextFile, ...] = ()
    projects: tuple[TextFile, ...] = ()  # pyproject.toml, pixi.toml
    startup: tuple[TextFile, ...] = ()  # shell profiles, activate scripts, conda's state file
    project_folder: str | None = None
    home: str | None = None
    files: Facts | None = None  # what the environment's files tell, where its interpreter does not answer
    conda_specs: tuple[str, ...] = ()  # what the user asked conda for, by the environment's history
    existing: tuple[str, ...] = ()  # folders that a fix might have made, and that are there
    size_mb: float | None = None  # of the environment
    free_mb: float | None = None
