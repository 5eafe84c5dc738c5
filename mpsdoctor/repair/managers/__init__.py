"""One back-end per environment manager, behind the interface of base.py; the environment's own one is used."""

from __future__ import annotations

from mpsdoctor.facts import Facts, Packages
from mpsdoctor.repair.managers.base import Install, Manager, environment_folders, prefix_of
from mpsdoctor.repair.managers.conda import CondaFamily, Pixi, conda_spec, is_pixi
from mpsdoctor.repair.managers.pip import Pip
from mpsdoctor.repair.managers.uv import Uv
from mpsdoctor.repair.survey import Survey

__all__ = [
    "CondaFamily",
    "Install",
    "Manager",
    "Pip",
    "Pixi",
    "Uv",
    "conda_of",
    "conda_spec",
    "environment_folders",
    "manager_for",
    "pip_or_uv",
    "prefix_of",
]

_CONDA_TORCH = ("pytorch", "libtorch", "pytorch-cpu", "pytorch-gpu")


def manager_for(facts: Facts, packages: Packages, survey: Survey) -> Manager:
    """Return the manager that torch came from in this environment, else the environment's own.

    pip's torch in a conda environment is pip's; conda must not be told to install a second one beside it.
    """
    if facts.conda.present or facts.interpreter.conda:
        torch = packages.get("torch")
        by_conda = any((r := facts.conda.get(n)) is not None and r.channel != "pypi" for n in _CONDA_TORCH)
        if torch is None or by_conda or torch.installer == "conda":
            return conda_of(facts, survey)
    return pip_or_uv(facts, packages, survey)


def conda_of(facts: Facts, survey: Survey) -> Manager:
    """Return pixi for an environment in a pixi project, else conda, mamba or micromamba."""
    if is_pixi(facts.conda.prefix or facts.interpreter.prefix):
        return Pixi(facts, survey.pixi or "pixi")
    fallback = "micromamba" if facts.conda.family == "micromamba" else "conda"
    return CondaFamily(facts, survey.conda or fallback)


def pip_or_uv(facts: Facts, packages: Packages, survey: Survey) -> Manager:
    """Return uv where uv made the environment or installed most of it, and pip cannot be run there; else pip."""
    installers = [one.installer for one in packages.distributions or () if one.installer in ("pip", "uv")]
    torch = packages.get("torch")
    by_uv = (
        torch.installer == "uv"
        if torch is not None and torch.installer
        else installers.count("uv") * 2 > len(installers)
    )
    if (by_uv or survey.pip is False) and (survey.uv or not survey.live):
        return Uv(facts, survey.uv or "uv")
    return Pip(facts, missing=survey.pip is False)
