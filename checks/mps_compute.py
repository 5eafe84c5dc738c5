"""What the GPU does: it allocates, and computes as the CPU does."""

from mpsdoctor import (
    Evidence,
    Host,
    Interpreter,
    Packages,
    Remedy,
    Torch,
    Trial,
    Verdict,
    check,
    fail,
    passed,
    skip,
    unknown,
)
from mpsdoctor.knowledge import releases, versions

from ._commands import pip

_ASK_RUN = "mpsdoctor check on the Mac itself, with that environment active"
_CHAIN = ("HW101", "PY100", "PY101", "TO101", "TO103", "TO105")


@check(
    "MP103", family="mps", cause="metal-device-not-visible", needs=(*_CHAIN, "MP102"), explained_by=("CI201", "TO104")
)
def mps_allocates(torch: Torch) -> Verdict:
    """The GPU can be given memory.

    Tested: one element is allocated on the device, computed with, and read back.

    Why: is_available() promises nothing. In virtual machines it is True where every allocation fails.

    What to do: see the message; a tiny allocation that fails is never a lack of memory.

    Source: actions/runner-images issues 9918 and 11899.
    """
    if torch.allocation is None:
        return unknown("torch.allocation", ask=[_ASK_RUN])
    if torch.allocation.outcome == "pass":
        return passed()
    error = torch.allocation.error or torch.allocation.outcome
    watermark = "watermark ratio" in error
    remedies = [Remedy("Restart the Mac, then run this in an ordinary Terminal window.")]
    if watermark:
        remedies = [Remedy("Remove the PYTORCH_MPS_*_WATERMARK_RATIO variables from the environment.")]
    return fail(
        "torch says that the GPU is available, and the first allocation fails.",
        [Evidence("allocation", error, torch.source("*"))],
        remedies,
        cause="watermark-env-var-invalid" if watermark else None,
        confidence="certain" if watermark else "possible",
        gpu=False,
        short="the first allocation fails",
    )


@check(
    "MP104", family="mps", cause="known-bad-torch-release", needs=(*_CHAIN, "MP103"), explained_by=("CI201", "TO104")
)
def mps_computes_as_the_cpu(host: Host, interpreter: Interpreter, packages: Packages, torch: Torch) -> Verdict:
    """The GPU computes what the CPU computes.

    Tested: a linear layer with bias on vector-shaped and 3-D input, a matrix product and a Cholesky factorisation,
    against the same on the CPU.

    Why: on macOS 26, torch up to 2.13 drops the bias of a linear layer for some shapes, without any error; in virtual
    machines more is wrong. Training then learns nonsense.

    What to do: take another torch release; the remedy names it.

    Source: pytorch/pytorch issues 188619, 189495 and 192934; PriorLabs/TabPFN issue 1084.
    """
    if torch.comparisons is None:
        if torch.allocation is not None and torch.allocation.outcome == "pass":
            return skip("the recording holds no comparison with the CPU")
        return unknown("torch.comparisons", ask=[_ASK_RUN])
    bad = [trial for trial in torch.comparisons if trial.outcome != "pass"]
    shown = [Evidence(trial.name, _said(trial)) for trial in bad or torch.comparisons]
    if not bad:
        return passed(f"{len(torch.comparisons)} comparisons agree", shown)
    wrong = any(trial.outcome == "wrong" for trial in bad)
    return fail(
        f"The GPU {'computes wrongly' if wrong else 'fails to compute'}: {bad[0].name} ({_said(bad[0])}).",
        shown,
        [_other_release(host, interpreter, packages, torch)],
        gpu=False,
        short=f"{bad[0].name} {'is wrong' if wrong else 'fails'}",
    )


def _said(trial: Trial) -> str:
    difference = trial.max_abs_difference
    if trial.outcome == "wrong":
        return f"differs from the CPU by {difference:g}" if difference is not None else "gives NaN or infinity"
    if trial.outcome == "pass":
        return f"differs by {difference:.1g} at most" if difference is not None else "agrees"
    return trial.error or trial.outcome


def _other_release(host: Host, interpreter: Interpreter, packages: Packages, torch: Torch) -> Remedy:
    newest = releases.newest_for(host.macos_version, interpreter.minor, "arm64")
    if newest is None or versions.at_least(torch.version, newest.version):
        return Remedy("Use the CPU device until a release mends this, and report it to PyTorch with this output.")
    wanted = [f"torch=={newest.version}"]
    if packages.get("torchvision") and newest.torchvision:
        wanted.append(f"torchvision=={newest.torchvision}")
    return Remedy(
        f"Install torch=={newest.version} and check again; until then use the CPU device.",
        (pip(interpreter, packages, "install", *wanted),),
    )
