"""The release of torch: does it suit this macOS, is it known to be bad, how old is it."""

from datetime import date

from mpsdoctor import (
    Evidence,
    Host,
    Interpreter,
    Messages,
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
from mpsdoctor.knowledge import known_bad, releases, versions

from ._commands import pip
from ._torch import installed_version, reaches


@check(
    "TO102",
    family="torch",
    cause="macos-too-old-for-torch",
    needs=("HW101", "PY101", "TO101"),
    explained_by=("OS103",),
)
def macos_is_new_enough_for_torch(host: Host, interpreter: Interpreter, packages: Packages, torch: Torch) -> Verdict:
    """This macOS is new enough for the GPU support of the installed torch.

    Tested: the macOS version against what this release's MPS needs (not what its wheel's name says).

    Why: wheel names do not tell the macOS that MPS needs. torch 2.9 to 2.11 install on macOS 11 to 13, and 2.15 on
    macOS 14; the GPU is then switched off, or unsupported, without a word at installation.

    What to do: take the newest torch whose GPU support runs on this macOS, or update macOS.

    Source: the tests in each release's MPSDevice constructor, read from the wheels 1.12.0 to 2.15.0.
    """
    version = installed_version(torch, packages)
    if version is None:
        return unknown("torch.version")
    floor = releases.floor_for(version)
    if floor is None:
        return skip(f"torch {version} is not in the table of releases")
    met = reaches(host.macos_version, floor.version)
    if met is None:
        return unknown("host.macos_version", ask=["the output of sw_vers"])
    evidence = [
        Evidence.of(host, "macos_version"),
        Evidence("torch.version", version, torch.source("version") or packages.source("*")),
        Evidence("needed by its MPS", f"macOS {floor.version}", "table of releases"),
    ]
    if met:
        return passed(evidence=evidence)
    machine = "x86_64" if interpreter.is_x86_64 else "arm64"
    best = releases.newest_for(host.macos_version, interpreter.minor, machine)
    remedies = [*_older_torch(best, host, interpreter, packages), Remedy(f"Update macOS to {floor.version} or later.")]
    if torch.usable:  # from 2.15 on torch asks for the GPU's family only, so that it starts and is not supported
        return warn(
            f"torch {version} supports macOS {floor.version} and later; it works on {host.macos_version} by chance.",
            evidence,
            remedies,
        )
    return fail(
        f"torch {version} needs macOS {floor.version} for the GPU, and this Mac runs {host.macos_version}.",
        evidence,
        remedies,
        confidence="certain" if floor.certain else "likely",
        gpu=False,
    )


def _older_torch(
    best: releases.Release | None, host: Host, interpreter: Interpreter, packages: Packages
) -> list[Remedy]:
    if best is None:
        return []
    wanted = [f"torch=={best.version}"]
    if best.torchvision and (packages.distributions is None or packages.get("torchvision") is not None):
        wanted.append(f"torchvision=={best.torchvision}")
    return [
        Remedy(
            f"Install torch=={best.version}, the newest whose GPU support runs on macOS {host.macos_version}.",
            (pip(interpreter, packages, "install", *wanted),),
        )
    ]


@check(
    "TO104",
    family="torch",
    cause="known-bad-torch-release",
    causes=("macos-os-regression",),
    needs=("HW101", "PY101", "TO101", "TO102"),
    explained_by=("CI201",),
)
def release_is_not_known_bad(host: Host, torch: Torch, packages: Packages, messages: Messages) -> Verdict:
    """This release of torch is not known to be broken on this macOS and chip.

    Tested: a table of releases that compute wrongly, crash or refuse on certain versions of macOS, each with its
    sources.

    Why: some pairs of torch and macOS give wrong results without any error.

    What to do: take the release that the remedy names.

    Source: each row of the table names its own; mpsdoctor explain known-bad-torch-release shows them.
    """
    version = installed_version(torch, packages)
    if version is None:
        return unknown("torch.version")
    rows = known_bad.matching(version, host.macos_version, virtual=host.is_virtual, chip=host.chip)
    serious = [row for row in rows if row.severity in ("fail", "warn")]
    evidence = [Evidence("torch.version", version, torch.source("version")), Evidence.of(host, "macos_version")]
    # Whoever only shows a machine complains of nothing: the pair is told, and is no fault of this machine yet.
    complains = messages.items or messages.claims or messages.errors
    if not serious or (messages.from_ticket and not complains and serious[0].severity == "warn"):
        notes = "; ".join(row.what for row in rows)
        return passed(notes, evidence[: 1 if host.macos_version is None else 2])
    row = serious[0]
    evidence.append(Evidence("known", row.id, ", ".join(row.sources)))
    say = fail if row.severity == "fail" else warn
    # That the pair is bad is sure; that it is behind what a ticket complains of is not.
    sure = "likely" if messages.from_ticket and say is warn else "certain"
    return say(row.what, evidence, [Remedy(row.remedy)], cause=row.cause, confidence=sure)


@check("TO105", family="torch", cause="torch-too-old", needs=("HW101", "PY101", "TO101"))
def torch_has_mps(torch: Torch, packages: Packages) -> Verdict:
    """This release of torch has MPS at all.

    Tested: the version against 1.12.0, the first release with MPS.

    Why: torch before 1.12 has no torch.backends.mps; programs that ask for it stop with an AttributeError.

    What to do: install a newer torch.

    Source: the wheels' listing: torch/backends/mps appears in 1.12.0.
    """
    version = installed_version(torch, packages)
    if version is None:
        return unknown("torch.version")
    modern = versions.at_least(version, "1.12.0")
    evidence = [Evidence("torch.version", version, torch.source("version"))]
    if modern is None:
        return unknown("torch.version", detail=f"{version!r} is no version that can be compared")
    if modern:
        return passed(evidence=evidence)
    return fail(
        f"torch {version} is from before MPS; the first release that can use Apple's GPU is 1.12.",
        evidence,
        [Remedy("Install a newer torch.", (("python", "-m", "pip", "install", "--upgrade", "torch"),))],
        gpu=False,
    )


@check("TO106", family="torch", needs=("HW101", "TO101"))
def kind_of_build(torch: Torch, packages: Packages, today: date) -> Verdict:
    """Which kind of build this torch is: a release, a nightly (with its date and age) or somebody's own build.

    Tested: the version's form, and for a nightly its date against the about 60 days that the nightly index keeps.

    Why: a nightly can hold a fix before the release, and cannot be installed again once it has left the index.

    What to do: nothing is wrong; keep a nightly's wheel file where you must be able to repeat the installation.

    Source: pytorch/test-infra, s3_management/manage.py (60 versions are kept).
    """
    version = installed_version(torch, packages)
    if version is None:
        return unknown("torch.version")
    nightly = releases.nightly(version)
    if nightly is None:
        known = releases.release(version)
        return passed("a release" if known else "a build that is in no table of releases")
    age = (today - nightly.date).days
    gone = releases.nightly_left_index(nightly.date, today)
    kept = "; it has left the nightly index and cannot be installed again" if gone else ""
    return passed(f"a nightly of {nightly.date.isoformat()}, {age} days old{kept}")
