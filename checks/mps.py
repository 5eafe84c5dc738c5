"""MPS itself: built in, and a Metal device visible."""

from mpsdoctor import (
    Conda,
    Environment,
    Evidence,
    Host,
    Packages,
    Remedy,
    Torch,
    Verdict,
    check,
    fail,
    passed,
    unknown,
)

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
