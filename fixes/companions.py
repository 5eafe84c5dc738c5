"""torchvision and torchaudio that belong to torch."""

from mpsdoctor.repair import NoTorch, Proposal, Situation, fix

from ._proposals import install_stack


@fix("companions", causes=("companion-version-mismatch",))
def companions(situation: Situation) -> list[Proposal]:
    """Install the torchvision and torchaudio that belong to torch, in one command with it.

    Steps: one command of the environment's own manager, which names torch and each companion that is there with its
    exact version.

    Keeps: the torch that is installed, where nothing speaks against it; a companion that is not there is not
    brought in; every other package.

    Undo: the environment's folder is put back from its copy, bit for bit.
    """
    stack = situation.stack
    if isinstance(stack, NoTorch):
        return install_stack(situation, "companions", "")
    pairs = " and ".join(f"{name}=={version}" for name, version in stack.companions)
    belong = "belong" if len(stack.companions) > 1 else "belongs"
    return install_stack(situation, "companions", f"Install {pairs}, which {belong} to torch {stack.torch}")
