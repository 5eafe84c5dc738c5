"""torchvision and torchaudio that belong to torch."""

from mpsdoctor.repair import NoTorch, Proposal, Situation, fix

from ._proposals import install_stack


@fix("companions", causes=("companion-version-mismatch",))
def companions(situation: Situation) -> list[Proposal]:
    """Install the torchvision and torchaudio that belong to torch, in one command with it."""
    stack = situation.stack
    if isinstance(stack, NoTorch):
        return install_stack(situation, "companions", "")
    pairs = " and ".join(f"{name}=={version}" for name, version in stack.companions)
    belong = "belong" if len(stack.companions) > 1 else "belongs"
    return install_stack(situation, "companions", f"Install {pairs}, which {belong} to torch {stack.torch}")
