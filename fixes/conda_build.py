"""conda's builds of torch: with MPS, and from a channel that still publishes."""

from mpsdoctor.repair import Install, NoTorch, PlannedFix, Proposal, Refused, Situation, fix

from ._proposals import stack_requirements

_DEFAULTS = ("pkgs/main", "defaults", "main")
_ANACONDAS = "Take Anaconda's build with MPS (gpu_mps_*): the packages here are from Anaconda's channel"


@fix("conda-build", causes=("mps-not-built", "conda-package-unavailable"))
def conda_build(situation: Situation) -> list[Proposal]:
    """Take Anaconda's build with MPS, or torch and what belongs to it from conda-forge.

    Steps: `conda install pytorch-gpu` where the packages come from Anaconda's channel, else `conda install` (or
    `pixi add`) of torch and what belongs to it from conda-forge, never above the newest that this macOS can use.

    Keeps: the environment and its Python; conda's solver looks after the rest. conda's explicit list of before is
    kept in the run's folder (`packages.json`).

    Undo: the prefix is put back from its copy, its conda-meta and history with it; of conda's base, other
    environments and the package cache are left out of both. With pixi, the manifest and the lock file come back,
    too.
    """
    manager = situation.manager
    if manager.name not in ("conda", "pixi"):
        return []
    stack = situation.stack
    if isinstance(stack, NoTorch):
        return [Refused(situation.cause.cause, stack.because)]
    record = situation.facts.conda.get("pytorch") or situation.facts.conda.get("libtorch")
    if record is not None and record.channel in _DEFAULTS and manager.name == "conda":
        # Anaconda's channel has both builds; its packages and conda-forge's do not mix well.
        argv = (
            getattr(manager, "tool", "conda"),
            "install",
            "--yes",
            "--prefix",
            situation.facts.conda.prefix or "",
            "pytorch-gpu",
        )
        from mpsdoctor.repair import Step

        step = Step("install Anaconda's build with MPS (gpu_mps_*)", argv, writes=manager.writes)
        return [PlannedFix("conda-build", situation.cause.cause, _ANACONDAS, (step,))]
    install = Install(stack_requirements(situation, stack))
    summary = f"Take conda-forge's build of torch, up to {stack.torch}, which has MPS"
    steps = manager.install("install torch from conda-forge, whose builds have MPS", install)
    return [PlannedFix("conda-build", situation.cause.cause, summary, steps)]
