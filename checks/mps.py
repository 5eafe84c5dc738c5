"""MPS itself: built in, available, allocates, computes as the CPU does."""

from mpsdoctor import (
    Conda,
    Environment,
    Evidence,
    Host,
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

_ASK_RUN = "mpsdoctor check on the Mac itself, with that environment active"
_CHAIN = ("HW101", "PY100", "PY101", "TO101", "TO103", "TO105")


@check("MP101", family="mps", cause="mps-not-built", needs=_CHAIN)
def mps_is_built(torch: Torch, conda: Conda, packages: Packages) -> Verdict:
    """This build of torch has MPS in it.

    Tested: torch.backends.mps.is_built(), which says what was compiled in and nothing of this machine; from files, the
    Metal frameworks that libtorch links.

    Why: Linux builds, Anaconda's cpu_* builds and some builds from source have no MPS. (conda-forge's builds are
    called cpu_generic and do have it.)

    What to do: install the ordinary wheel, conda-forge's pytorch, or Anaconda's gpu_mps build.

    Source: AnacondaRecipes/pytorch-feedstock, commit 185cae6; conda-forge/pytorch-cpu-feedstock pull request 123.
    """
    if torch.built is None:
        return unknown("torch.built", ask=[_ASK_RUN])
    evidence = [Evidence.of(torch, "built")]
    if torch.built:
        return passed(evidence=evidence)
    package = conda.get("pytorch") or conda.get("libtorch")
    if package is not None:
        evidence.append(Evidence("conda.pytorch", f"{package.version} {package.build}", package.channel or ""))
        remedy = Remedy(
            "Take conda-forge's build, which has MPS, or Anaconda's gpu_mps build.",
            (("conda", "install", "-c", "conda-forge", "--override-channels", "pytorch"),),
        )
    else:
        remedy = Remedy(
            "Install the ordinary wheel.", (("python", "-m", "pip", "install", "--force-reinstall", "torch"),)
        )
    return fail("This build of torch has no MPS in it.", evidence, [remedy], gpu=False)


@check(
    "MP102",
    family="mps",
    cause="metal-device-not-visible",
    needs=(*_CHAIN, "MP101"),
    explained_by=("CI201", "TO102", "HW102", "OS103"),
)
def mps_is_available(host: Host, torch: Torch, environment: Environment) -> Verdict:
    """torch sees a Metal device.

    Tested: torch.backends.mps.is_available(), together with the macOS version by sw_vers.

    Why: torch prints "The MPS backend is supported on macOS ..." for every device that it does not see. Where macOS is
    new enough, the true reason is that this process sees no Metal device: a sandbox around it (coding agents), an ssh
    or background session, a virtual machine.

    What to do: run the same command in an ordinary Terminal window. Do not reinstall torch: it is not the fault.

    Source: openai/codex issues 9007, 10199 and 17644; pytorch/pytorch issues 167679 and 177819; the MPSDevice
    constructor of each release.
    """
    if torch.available is None:
        return unknown("torch.available", ask=[_ASK_RUN])
    evidence = [Evidence.of(torch, name) for name in ("built", "available")]
    if torch.available:
        return passed(evidence=evidence)
    evidence += [Evidence.of(host, "macos_version")] if host.macos_version else []
    if environment.sandbox:
        evidence.append(Evidence.of(environment, "sandbox"))
        why = "a sandbox is around it"
    else:
        why = "a sandbox, an ssh or background session hides it, or macOS fails to start it"
    return fail(
        f"macOS is new enough, and yet this process sees no Metal device: {why}.",
        evidence,
        [
            Remedy(
                "Run the same command in an ordinary Terminal window, outside the sandbox or session; torch itself "
                "needs no repair.",
                (("python", "-c", "import torch; print(torch.backends.mps.is_available())"),),
            )
        ],
        confidence="certain" if environment.sandbox else "likely",
        gpu=False,
        short="torch sees no Metal device",
    )


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
def mps_computes_as_the_cpu(host: Host, torch: Torch, packages: Packages) -> Verdict:
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
        [_other_release(host, torch)],
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


def _other_release(host: Host, torch: Torch) -> Remedy:
    newest = releases.newest_for(host.macos_version, None, "arm64")
    if newest is None or versions.at_least(torch.version, newest.version):
        return Remedy("Use the CPU device until a release mends this, and report it to PyTorch with this output.")
    return Remedy(
        f"Install torch=={newest.version} and check again; until then use the CPU device.",
        (("python", "-m", "pip", "install", f"torch=={newest.version}"),),
    )
