"""Another torch, or the same one installed anew."""

from mpsdoctor.knowledge import releases
from mpsdoctor.repair import Manual, NoTorch, PlannedFix, Proposal, Situation, fix

from ._proposals import install_stack

_ANOTHER = ("macos-too-old-for-torch", "known-bad-torch-release", "torch-too-old", "torch-not-installed")

_UPDATE = (
    "Instead: keep this torch, and update macOS{} in System Settings > General > Software Update (it needs an "
    "administrator)."
)
_WHOLE = "Install torch {} again, whole and for this Mac"
_ANEW = {
    "mps-not-built": "Install the ordinary wheel of torch {}, which has MPS in it",
    "non-mac-wheel-pin": "Install the ordinary build of torch {}, without that suffix",
}


@fix("torch", causes=_ANOTHER)
def right_torch(situation: Situation) -> list[Proposal]:
    """Install the newest torch whose GPU support runs on this macOS and Python and that is not known to be bad.

    Steps: one command with the exact version of torch and of the companions that are there. A Python that belongs
    to Homebrew, uv or the system gets a venv in the working folder instead; a Python without a fitting torch a new
    environment as in `environment`.

    Keeps: every other package; a pin of the user's that cannot be kept is named in the plan.

    Undo: the environment's folder is put back from its copy; a new one is removed.
    """
    proposals = install_stack(situation, "torch", "")
    if situation.cause.cause == "macos-too-old-for-torch":
        floor = releases.floor_for(situation.facts.torch.version or situation.packages.version("torch") or "")
        update = _UPDATE.format(f" to {floor.version} or later" if floor else "")
        proposals.append(Manual(situation.cause.cause, update))
    return proposals


@fix("torch-anew", causes=("torch-import-fails", "missing-libomp", "mps-not-built", "non-mac-wheel-pin"))
def torch_anew(situation: Situation) -> list[Proposal]:
    """Install torch again, without the cache: an ordinary macOS wheel is whole and has MPS in it.

    Steps: one command that replaces torch by force, and brings back what it depends on; in conda, for a missing
    libomp, the OpenMP runtime again.

    Keeps: torch's version, where it suits this Mac; every other package.

    Undo: the environment's folder is put back from its copy.
    """
    cause, manager = situation.cause.cause, situation.manager
    if situation.packages.get("torch") is None and situation.facts.torch.version is None:
        return []  # nothing to replace; a pin or variable is meant
    if cause == "mps-not-built" and manager.name in ("conda", "pixi"):
        return []  # conda has builds of its own
    if cause == "non-mac-wheel-pin" and "+" not in (situation.packages.version("torch") or ""):
        return []
    if cause == "missing-libomp" and manager.name in ("conda", "pixi"):
        from mpsdoctor.repair import Install

        steps = manager.install("install the OpenMP runtime again", Install(("llvm-openmp",), ("llvm-openmp",)))
        return [PlannedFix("torch-anew", cause, "Install the OpenMP runtime that torch links again", steps)]
    stack = situation.stack
    summary = "" if isinstance(stack, NoTorch) else _ANEW.get(cause, _WHOLE).format(stack.torch)
    return install_stack(situation, "torch-anew", summary, again=("torch",))
