"""The torch that a conda environment holds: its build and the channel that it came from."""

from mpsdoctor import (
    Conda,
    CondaPackage,
    Evidence,
    Host,
    Packages,
    Remedy,
    Torch,
    Verdict,
    check,
    fail,
    passed,
    skip,
    unknown,
    warn,
)
from mpsdoctor.knowledge import known_bad

from ._commands import CONDA_TORCH, conda_record, from_pip

_ENDED = ("pytorch", "pytorch-nightly", "pytorch-test")
_DEFAULTS = ("pkgs/main", "defaults", "main")
_FROM_FORGE = ("conda", "install", "-c", "conda-forge", "--override-channels", "pytorch")


def _torch_record(conda: Conda, packages: Packages) -> CondaPackage | None:
    """Return conda's record of torch, unless pip put another torch in its place."""
    record = conda_record(conda, *CONDA_TORCH)
    found = packages.get("torch")
    return None if record is not None and found is not None and from_pip(found, record) else record


@check("CO103", family="conda", cause="mps-not-built", needs=("HW101", "PY100", "PY101"))
def conda_build_has_mps(conda: Conda, packages: Packages, torch: Torch) -> Verdict:
    """conda's build of torch has MPS in it.

    Tested: channel and build string in the record of pytorch, and what torch.backends.mps.is_built() says.

    Why: Anaconda's own channel has two builds for Apple silicon, gpu_mps_* with MPS and cpu_* without it.
    (conda-forge's builds are all called cpu_generic_* and have it.)

    What to do: take Anaconda's pytorch-gpu or conda-forge's pytorch.

    Source: AnacondaRecipes/pytorch-feedstock, commit 185cae6; conda-forge/pytorch-cpu-feedstock pull request 123.
    """
    record = _torch_record(conda, packages)
    if record is None:
        return (
            unknown("conda.packages") if conda.present and conda.packages is None else skip("torch is not from conda")
        )
    build = record.build or ""
    evidence = [
        Evidence("conda.pytorch", f"{record.version} {build}".strip(), record.channel or conda.source("packages"))
    ]
    if torch.built:
        return passed(evidence=evidence)
    if record.subdir not in (None, "osx-arm64"):
        return skip(f"a build for {record.subdir}")
    if record.channel is None or record.build is None:
        return unknown("conda.packages")
    if record.channel not in _DEFAULTS or not build.startswith("cpu_"):
        return passed(evidence=evidence)
    return fail(
        f"Anaconda's build {build} of torch has no MPS in it.",
        evidence,
        [
            Remedy("Take conda-forge's build, which has MPS.", (_FROM_FORGE,)),
            Remedy("Take Anaconda's build with MPS (gpu_mps_*).", (("conda", "install", "pytorch-gpu"),)),
        ],
        confidence="certain" if torch.built is False else "likely",
        gpu=False,
    )


@check(
    "CO104",
    family="conda",
    cause="conda-package-unavailable",
    needs=("HW101", "PY100", "PY101"),
    explained_by=("TO104",),
)
def channel_still_publishes(host: Host, conda: Conda, packages: Packages) -> Verdict:
    """The channel that torch came from still publishes.

    Tested: the channel in the record of pytorch. Where it is one that ended, whether the installed release has a fault
    on this macOS that only a later one mends.

    Why: the channel pytorch ended with 2.5.1 in October 2024, pytorch-nightly a month later. What is installed goes on
    working, and `conda update` finds nothing newer.

    What to do: nothing, while the installed release does its work; for a newer one take conda-forge or a wheel.

    Source: pytorch/pytorch issues 138506 and 138696.
    """
    record = _torch_record(conda, packages)
    if record is None:
        return (
            unknown("conda.packages") if conda.present and conda.packages is None else skip("torch is not from conda")
        )
    if record.channel is None:
        return unknown("conda.packages")
    evidence = [Evidence("conda.pytorch", f"{record.version} from {record.channel}", conda.source("packages"))]
    if record.channel not in _ENDED:
        return passed(evidence=evidence)
    rows = known_bad.matching(record.version, host.macos_version, virtual=host.is_virtual, chip=host.chip)
    if not any(row.cause == "known-bad-torch-release" and row.severity in ("fail", "warn") for row in rows):
        return passed(f"the channel {record.channel} ended; newer releases are on conda-forge", evidence)
    return warn(
        f"The channel {record.channel} has ended: it will not bring the newer torch that this Mac needs.",
        evidence,
        [
            Remedy(
                "Make an environment with conda-forge alone; packages of the two channels do not mix well.",
                (
                    (
                        "conda",
                        "create",
                        "-n",
                        "torch",
                        "-c",
                        "conda-forge",
                        "--override-channels",
                        "pytorch",
                        "torchvision",
                    ),
                ),
            )
        ],
    )
