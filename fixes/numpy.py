"""The NumPy that torch was built for."""

from mpsdoctor.repair import Install, NoTorch, PlannedFix, Proposal, Situation, fix

from ._proposals import install_stack


@fix("numpy", causes=("numpy2-abi",))
def numpy(situation: Situation) -> list[Proposal]:
    """Install the NumPy of the generation that torch was built for.

    Steps: one command of the environment's own manager: `numpy<2` with the installed torch, or a torch that knows
    NumPy 2 where that is the better way.

    Keeps: every other package; what asks for the other NumPy is named in the plan as a pin that cannot be kept.

    Undo: the environment's folder is put back from its copy.
    """
    stack = situation.stack
    torch = situation.facts.torch.version or situation.packages.version("torch")
    if isinstance(stack, NoTorch) or (torch is None and stack.numpy is None):
        # The rule of NumPy's generation holds whatever the Mac and the release.
        steps = situation.manager.install("install NumPy 1", Install(("numpy<2",)))
        return [PlannedFix("numpy", situation.cause.cause, "Install NumPy 1, for which this torch was built", steps)]
    if stack.numpy is None:
        return install_stack(situation, "numpy", f"Install torch=={stack.torch}, which knows NumPy 2")
    return install_stack(situation, "numpy", f"Install NumPy 1, for which torch {stack.torch} was built")
