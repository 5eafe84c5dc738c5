"""One stack from one source."""

from mpsdoctor.repair import Install, NoTorch, PlannedFix, Proposal, Refused, Situation, conda_of, fix, pip_or_uv

from ._proposals import numpy_requirement, stack_requirements

_STACK = ("torch", "torchvision", "torchaudio")
_CONDA = ("pytorch", "libtorch", "pytorch-cpu", "pytorch-gpu", "torchvision", "torchaudio")


@fix("sources", causes=("mixed-package-sources",))
def sources(situation: Situation) -> list[Proposal]:
    """Remove the second copy of torch and what belongs to it, and install them once, from one source.

    Steps: the copies are uninstalled until none is left (of conda and pip together: conda's part), then torch, what
    belongs to it and, where it was there twice, NumPy are installed once.

    Keeps: the installed version, where it suits this Mac; every other package.

    Undo: the environment's folder is put back from its copy, both copies with it.
    """
    stack = situation.stack
    if isinstance(stack, NoTorch):
        return [Refused(situation.cause.cause, stack.because)]
    packages, facts = situation.packages, situation.facts
    twice = [n for n in (*_STACK, "numpy") if len({c.version for c in packages.copies(n)}) > 1]
    records = [n for n in _CONDA if (r := facts.conda.get(n)) is not None and r.channel != "pypi"]
    if records:
        # The wheels hold all that they need; conda's part goes, without what depends on it.
        manager = pip_or_uv(facts, packages, situation.survey)
        steps = list(conda_of(facts, situation.survey).uninstall("remove conda's part", records))
        summary = "Remove conda's part, and install torch and what belongs to it again with pip alone"
        requirements = stack.requirements
    else:
        manager = situation.manager
        steps = list(manager.uninstall(f"remove {' and '.join(twice)}", twice, copies=2)) if twice else []
        summary = f"Uninstall {' and '.join(twice) or 'torch'} until none is left, then install the wanted version once"
        requirements = stack_requirements(situation, stack)
    if "numpy" in twice and not any(r.startswith("numpy") for r in requirements):
        requirements = (*requirements, numpy_requirement(situation, stack))
    install = Install(requirements, tuple(r for r in requirements if not r.startswith("numpy")) if records else ())
    steps += manager.install(f"install {' '.join(requirements[:3])} once", install)
    return [PlannedFix("sources", situation.cause.cause, summary, tuple(steps))]
