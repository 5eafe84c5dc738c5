"""MPS itself: built in, and a Metal device visible."""

from mpsdoctor import (
    Conda,
    Environment,
    Evidence,
    Host,
    Interpreter,
    Packages,
    Remedy,
    Torch,
    Verdict,
    check,
    fail,
    passed,
    skip,
    unknown,
)

from ._commands import CONDA_TORCH, conda_record, from_pip, reinstall
from ._torch import below_floor

_ASK_RUN = "mpsdoctor check on the Mac itself, with that environment active"
_CHAIN = ("HW101", "PY100", "PY101", "TO101", "TO103", "TO105")


@check("MP101", family="mps", cause="mps-not-built", needs=_CHAIN)
def mps_is_built(torch: Torch, interpreter: Interpreter, conda: Conda, packages: Packages) -> Verdict:
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
    package = conda_record(conda, *CONDA_TORCH)
    wheel = packages.get("torch")
    if package is not None and not (wheel is not None and from_pip(wheel, package)):
        evidence.append(Evidence("conda.pytorch", f"{package.version} {package.build}", package.channel or ""))
        remedy = Remedy(
            "Take conda-forge's build, which has MPS, or Anaconda's gpu_mps build.",
            (("conda", "install", "-c", "conda-forge", "--override-channels", "pytorch"),),
        )
    else:
        remedy = Remedy("Install the ordinary wheel.", reinstall(["torch"], conda, interpreter, packages))
    return fail("This build of torch has no MPS in it.", evidence, [remedy], gpu=False)


@check(
    "MP102",
    family="mps",
    cause="metal-device-not-visible",
    causes=("macos-too-old-for-torch",),
    needs=(*_CHAIN, "MP101"),
    explained_by=("CI201", "TO102", "OS103"),
)
def mps_is_available(host: Host, torch: Torch, packages: Packages, environment: Environment) -> Verdict:
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
    if host.is_apple_silicon is False:
        return skip("an Intel Mac's GPU is not to be relied on; see HW102")
    if torch.built is None:
        return unknown("torch.built", ask=['python -c "import torch; print(torch.backends.mps.is_built())"'])
    evidence += [Evidence.of(host, "macos_version")] if host.macos_version else []
    below = below_floor(host, torch, packages)
    if below:  # TO102 says so too; this holds where that check is left out
        return fail(
            "torch sees no Metal device, because this macOS is older than its GPU support needs.",
            evidence,
            [Remedy("See TO102: take an older torch, or update macOS.")],
            cause="macos-too-old-for-torch",
            gpu=False,
            short="torch sees no Metal device",
        )
    new_enough = "macOS is new enough, and yet this process" if below is False else "This process"
    if environment.sandbox:
        evidence.append(Evidence.of(environment, "sandbox"))
        why = "a sandbox is around it"
    else:
        why = "a sandbox, an ssh or background session hides it, or macOS fails to start it"
    return fail(
        f"{new_enough} sees no Metal device: {why}.",
        evidence,
        [
            Remedy(
                "Run the same command in an ordinary Terminal window, outside the sandbox or session; torch itself "
                "needs no repair.",
                (("python", "-c", "import torch; print(torch.backends.mps.is_available())"),),
            )
        ],
        confidence="certain" if environment.sandbox else "likely" if below is False else "possible",
        gpu=False,
        short="torch sees no Metal device",
    )
