"""An arm64 environment in place of an x86_64 one: by an arm64 Python that is there, by uv, or by Miniforge."""

import re

from mpsdoctor.knowledge.pythons import MINIFORGE
from mpsdoctor.repair import Manual, NoTorch, PlannedFix, Proposal, Refused, Situation, Step, fix
from mpsdoctor.repair.actions import Download
from mpsdoctor.repair.managers import CondaFamily, conda_spec
from mpsdoctor.repair.names import is_conda_name
from mpsdoctor.repair.sizes import wheel_mb
from mpsdoctor.repair.wanted import fitting_python

from ._carry import OTHER_PYTHON, carried
from ._proposals import replace_environment

_MINIFORGE_MB = 60.0
# Stands for Python and torch themselves, or exists on Anaconda's own channel alone.
_NOT_CARRIED = frozenset(
    {
        *("python", "python_abi", "pip", "pytorch", "torchvision", "torchaudio", "anaconda", "numpy-base", "blas"),
        *("mkl", "mkl-service", "mkl_fft", "mkl_random", "intel-openmp", "llvm-openmp"),
    }
)
_NAME = re.compile(r"[<>=!~]")
_ROSETTA = (
    "In Finder select the terminal application, choose File > Get Info, and untick 'Open using Rosetta'; open a new "
    "window and make the environment anew there: this Python holds arm64 code too."
)


@fix("native", causes=("x86-python-under-rosetta",))
def native(situation: Situation) -> list[Proposal]:
    """Build an arm64 environment in place of the x86_64 one, with the same packages.

    Steps: for a venv as in `environment`, with an arm64 Python. For conda: Miniforge's installer for Apple silicon
    from its official address, compared with the published checksum; its installation into a new folder; the
    environment made anew for osx-arm64 from what the user once asked conda for; the packages of pip.

    Keeps: the old conda, which is not touched at all; the old venv, under another name.

    Undo: the installer and the new folder are removed, but for what was made in there since; a venv's renames go
    back.
    """
    interpreter, conda, cause = situation.facts.interpreter, situation.facts.conda, situation.cause.cause
    if interpreter.is_x86_64 is False and not conda.present:
        return []  # a variable asks for Intel Pythons
    if any(architecture.startswith("arm64") for architecture in interpreter.binary_architectures or ()):
        return [Manual(cause, _ROSETTA)]
    minor = _minor(situation)
    if minor is None:
        return [Refused(cause, f"no torch can use the GPU on macOS {situation.facts.host.macos_version}")]
    if conda.present or interpreter.conda:
        return _miniforge(situation, minor)
    if interpreter.venv:
        return replace_environment(situation, "native", minor=minor, newest=True)
    name = f"cpython-{minor}-macos-aarch64-none"
    text = f"Install an arm64 Python {minor} (uv python install {name}) and make a venv with it"
    return [Manual(cause, text)]


def _minor(situation: Situation) -> str | None:
    """The environment's own Python where the newest torch has it on arm64, else the one that fits best."""
    own = situation.minor
    best = fitting_python(situation.facts.host, situation.machine)
    if own is None or best is None:
        return best
    newest, mine = situation.stack_for(best, fresh=True), situation.stack_for(own, fresh=True)
    same = not isinstance(mine, NoTorch) and not isinstance(newest, NoTorch) and mine.torch == newest.torch
    return own if same else best


def _miniforge(situation: Situation, minor: str) -> list[Proposal]:
    stack = situation.stack_for(minor, fresh=True)
    if isinstance(stack, NoTorch):
        return [Refused(situation.cause.cause, stack.because)]
    facts = situation.facts
    home = situation.survey.home or _home_of(facts.conda.root_prefix or facts.interpreter.prefix or "")
    root = _new_folder(home, situation)
    name = facts.conda.environment_name or "torch"
    name = "torch" if name in ("base", "root") or not is_conda_name(name.lower()) else name
    folder = f"{root}/envs/{name}"
    installer = f"{home}/.cache/mpsdoctor/Miniforge3-MacOSX-arm64.sh"
    manager = CondaFamily(facts, f"{root}/bin/conda")
    wanted, left = _conda_packages(situation, minor)
    pip_wanted, pip_left = _pip_packages(situation, versions=situation.minor == minor)
    more = [*(pair[0] for pair in stack.companions), *(("pip",) if pip_wanted else ())]
    steps = [
        Step(
            "download Miniforge for Apple silicon, and compare it with its published checksum",
            action=Download(MINIFORGE, f"{MINIFORGE}.sha256", installer),
            writes=(installer,),
            undo="removed",
        ),
        Step(
            "install Miniforge into a new folder",
            ("/bin/bash", installer, "-b", "-p", root),
            writes=(root,),
            undo="removed",
        ),
        *manager.create(folder, minor, (f"torch<={stack.torch}", *more, *wanted)),
    ]
    if pip_wanted:
        argv = (f"{folder}/bin/python", "-m", "pip", "install", *pip_wanted)
        steps.append(Step("install the packages of pip", argv, writes=(root,), undo="removed"))
    notes = [f"asked for again: {len(wanted) + len(pip_wanted)}; the old conda is not touched"]
    notes += [OTHER_PYTHON] if situation.minor != minor else []
    notes += [f"not carried over: {one}" for one in (*left, *pip_left)]
    summary = (
        f"Install Miniforge for Apple silicon into {root}, beside the Intel conda, and make {name} anew in it with "
        f"Python {minor}"
    )
    downloads = _MINIFORGE_MB + (wheel_mb(stack.torch, situation.machine) or 0)
    return [
        PlannedFix("native", situation.cause.cause, summary, tuple(steps), downloads_mb=downloads, notes=tuple(notes),
                   python=f"{folder}/bin/python")
    ]  # fmt: skip


def _new_folder(home: str, situation: Situation) -> str:
    """Return a folder that is not there yet; the installer refuses one that is."""
    taken = {*situation.survey.existing, (situation.facts.conda.root_prefix or "").rstrip("/")}
    names = ("miniforge3", "miniforge3-arm64", "miniforge3-arm64-mpsdoctor")
    return next((f"{home}/{name}" for name in names if f"{home}/{name}" not in taken), f"{home}/{names[-1]}")


def _home_of(prefix: str) -> str:
    parts = prefix.split("/")
    return "/".join(parts[:3]) if len(parts) > 3 and parts[1] in ("Users", "home") else "~"


def _conda_packages(situation: Situation, minor: str) -> tuple[list[str], list[str]]:
    """Return what to ask conda-forge for again: what the user once asked for, else the names of all packages."""
    history = situation.survey.conda_specs
    if history:
        # Versions that were chosen for another Python often have no build for the new one.
        same = situation.minor == minor
        specs = [spec if same else _NAME.split(spec)[0] for spec in history]
        return [conda_spec(spec) for spec in specs if _NAME.split(spec)[0] not in _NOT_CARRIED], []
    wanted, left = [], []
    for package in situation.facts.conda.packages or ():
        if package.channel == "pypi" or package.name in _NOT_CARRIED or package.name.startswith("_"):
            continue
        if not is_conda_name(package.name):
            left.append("a package whose name is none")
        elif not package.name.startswith(("lib", "vs2015", "openssl", "ca-certificates")):
            wanted.append(conda_spec(package.name))
    return wanted, left


def _pip_packages(situation: Situation, *, versions: bool) -> tuple[list[str], list[str]]:
    by_pip = [one for one in situation.packages.distributions or () if one.installer not in (None, "conda")]
    from dataclasses import replace

    from mpsdoctor import Packages
    from mpsdoctor.repair import Stack

    only = replace(situation, facts=replace(situation.facts, packages=Packages(distributions=tuple(by_pip))))
    found, left = carried(only, Stack("0"), versions=versions)
    return [one for one in found if not one.startswith("torch==")], list(left)
