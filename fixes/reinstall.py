"""Packages with compiled files for another architecture."""

import re

from mpsdoctor import Binary, Facts
from mpsdoctor.facts import normalize
from mpsdoctor.repair import Install, Manual, PlannedFix, Proposal, Situation, Step, conda_of, fix
from mpsdoctor.repair.names import is_name, pinned

from ._proposals import install_stack, replace_environment

_MANY = 8  # from here on a new environment is less work than single packages
_STACK = ("torch", "torchvision", "torchaudio")
# Import names that differ from the name to install.
_PROJECTS = {"PIL": "pillow", "cv2": "opencv-python", "sklearn": "scikit-learn", "skimage": "scikit-image",
             "yaml": "PyYAML", "google": "protobuf", "_cffi_backend": "cffi", "functorch": "torch"}  # fmt: skip


@fix("reinstall", causes=("arch-mismatch-binaries",))
def reinstall(situation: Situation) -> list[Proposal]:
    """Install again, without the cache, the packages whose compiled files are for another architecture.

    Steps: one command for torch and what belongs to it, one for the other packages, without their dependencies; in
    conda the environment's own `subdir`. From 8 packages on a new environment as in `environment`.

    Keeps: the versions, and every package whose files are right.

    Undo: the environment's folder is put back from its copy.
    """
    settings = _native_subdir(situation) if "CO102" in situation.cause.checks else []
    names = wrong_packages(situation.facts)
    if not names and "TO103" in situation.cause.checks:
        names = ["torch"]
    if len(names) >= _MANY and situation.facts.interpreter.venv:
        return [*settings, *replace_environment(situation, "reinstall")]
    again = [one for name in names if (one := _again(situation, name)) is not None]
    others = tuple(one for one in again if normalize(one.partition("==")[0]) not in _STACK)
    proposals: list[Proposal] = [*settings]  # first: what is installed then comes for this architecture
    if any(name in _STACK for name in names):
        proposals += install_stack(
            situation, "reinstall", "Install torch and what belongs to it again, built for this Mac", again=_STACK
        )
    if others:
        title = f"install {len(others)} packages again" if len(others) > 1 else f"install {others[0]} again"
        steps = situation.manager.install(title, Install((), others, dependencies=False))
        which = ", ".join(one.partition("==")[0] for one in others)
        summary = f"Install {which} again, built for this Python's architecture"
        proposals.append(PlannedFix("reinstall", situation.cause.cause, summary, steps))
    if len(proposals) > len(settings) or (settings and not names):
        return proposals
    return [*proposals, Manual(situation.cause.cause, situation.cause.remedy)]


def _again(situation: Situation, name: str) -> str | None:
    """Return the installed version of a package as a requirement; conda's own name where conda alone lists it."""
    found = situation.packages.get(name)
    if found is not None:
        return pinned(found)
    return name if situation.facts.conda.get(name) is not None else None


def wrong_packages(facts: Facts) -> list[str]:
    """Return the packages whose files this interpreter's process cannot load, by their Mach-O headers."""
    wanted = "x86_64" if facts.interpreter.is_x86_64 else "arm64"
    names = {
        _project(binary.path)
        for binary in facts.binaries.files or ()
        if binary.role not in ("interpreter", "other") and _is_wrong(binary, wanted)
    }
    return sorted(name for name in names if is_name(name))


def _is_wrong(binary: Binary, wanted: str) -> bool:
    if binary.kind in ("elf", "pe"):
        return binary.role != "extension"
    if not binary.is_macho or not binary.architectures:
        return False
    return not any(architecture.startswith(wanted) for architecture in binary.architectures)


def _project(path: str) -> str:
    top = re.split(r"[/.]", path.rpartition("site-packages/")[2], maxsplit=1)[0]
    return normalize(_PROJECTS.get(top, top))


def _native_subdir(situation: Situation) -> list[Proposal]:
    conda = situation.facts.conda
    own = conda.subdir or "osx-arm64"
    file = f"{conda.prefix}/.condarc"
    tool = getattr(conda_of(situation.facts, situation.survey), "tool", "conda")
    argv = (tool, "config", "--file", file, "--set", "subdir", own)
    step = Step(f"write subdir {own} into the environment's own settings", argv, writes=(file,))
    summary = f"Write {own} into the configuration of this environment, so that the next installation stays with it"
    return [PlannedFix("reinstall", situation.cause.cause, summary, (step,))]
