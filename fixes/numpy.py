"""The NumPy that torch was built for."""

from mpsdoctor.repair import Install, NoTorch, PlannedFix, Proposal, Situation, fix

from ._proposals import install_stack


@fix("numpy", causes=("numpy2-abi",))
def numpy(situation: Situation) -> list[Proposal]:
    """Install the NumPy of the generation that torch was built for."""
    stack = situation.stack
    if isinstance(stack, NoTorch):
        # The rule of NumPy's generation holds for this torch whatever the Mac.
        steps = situation.manager.install("install NumPy 1", Install(("numpy<2",)))
        return [PlannedFix("numpy", situation.cause.cause, "NumPy 1, for which this torch was built", steps)]
    return install_stack(situation, "numpy", f"NumPy below 2, for which torch {stack.torch} was built")
