"""One OpenMP runtime in a process."""

from mpsdoctor.repair import Install, NoTorch, PlannedFix, Proposal, Situation, fix

from ._proposals import bare_name, install_stack, numpy_requirement, stack_requirements


@fix("openmp", causes=("duplicate-openmp",))
def openmp(situation: Situation) -> list[Proposal]:
    """Take torch and NumPy from one source, so that one OpenMP runtime is left.

    Steps: one or two commands that install torch, what belongs to it and NumPy again, both by the same manager.

    Keeps: their versions, where torch's binary interface allows it; every other package.

    Undo: the environment's folder is put back from its copy.
    """
    stack = situation.stack
    if isinstance(stack, NoTorch):
        return install_stack(situation, "openmp", "")
    manager = situation.manager
    numpy = numpy_requirement(situation, stack)
    others = [r for r in stack_requirements(situation, stack) if bare_name(r) != "numpy"]
    requirements = (*others, numpy)
    again = tuple(r for r in requirements if bare_name(r) in ("torch", "numpy"))
    steps = manager.install("install torch and NumPy again from one source", Install(requirements, again))
    return [
        PlannedFix(
            "openmp",
            situation.cause.cause,
            f"Take torch {stack.torch} and NumPy from one source, both by {manager.name}: one OpenMP runtime",
            steps,
        )
    ]
