"""The installed torch: is it there, does it import, does it suit this macOS."""

from datetime import date

from mpsdoctor import (
    Evidence,
    Facts,
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

from ._imports import IMPORT_CAUSES, explain_import_failure


def installed_version(torch: Torch, packages: Packages) -> str | None:
    """Return the version that torch says of itself, else that of its metadata."""
    return torch.version or packages.version("torch")


@check(
    "TO101",
    family="torch",
    cause="torch-not-installed",
    causes=("wrong-interpreter",),
    needs=("HW101", "PY100", "PY101", "PY102", "PY103"),
)
def torch_is_installed(facts: Facts) -> Verdict:
    """torch is installed for this interpreter.

    Tested: the metadata in this interpreter's site-packages, and whether the import finds it.

    Why: each interpreter has packages of its own. A terminal, a notebook and an editor often run different ones.

    What to do: install torch with this very interpreter, or examine the one that has it.

    Source: the documentation of the standard module site.
    """
    torch, packages, interpreter = facts.torch, facts.packages, facts.interpreter
    version = installed_version(torch, packages)
    if version is not None:
        return passed(version)
    missing = torch.import_failure is not None and "No module named 'torch'" in torch.import_failure.message
    if not missing and (packages.distributions is None or packages.partial):
        return unknown("packages.distributions", ask=["the output of: python -m pip list"])
    if torch.imported:
        return passed("it is imported, without metadata")
    evidence = [Evidence.of(interpreter, "executable"), Evidence("packages.torch", "not found", packages.source("*"))]
    other = _other_environment(facts)
    if other is not None:
        name, prefix = other
        return fail(
            f"torch is not installed in this interpreter, and {name} points to another environment.",
            [*evidence, Evidence(f"environment.{name}", prefix)],
            [Remedy("Examine and use the interpreter of that environment.", ((f"{prefix}/bin/python", "--version"),))],
            cause="wrong-interpreter",
            confidence="likely",
        )
    machine = "x86_64" if interpreter.is_x86_64 else "arm64"
    best = releases.newest_for(facts.host.macos_version, interpreter.minor, machine)
    wanted = f"torch=={best.version}" if best else "torch"
    return fail(
        "torch is not installed for this interpreter.",
        evidence,
        [
            Remedy(
                "Install it with this interpreter.",
                ((interpreter.executable or "python", "-m", "pip", "install", wanted),),
            )
        ],
        gpu=False,
    )


def _other_environment(facts: Facts) -> tuple[str, str] | None:
    variables = facts.environment.variables or {}
    for name in ("VIRTUAL_ENV", "CONDA_PREFIX"):
        prefix = variables.get(name)
        if prefix and facts.interpreter.prefix and prefix.rstrip("/") != facts.interpreter.prefix.rstrip("/"):
            return name, prefix
    return None


@check(
    "TO102",
    family="torch",
    cause="macos-too-old-for-torch",
    needs=("HW101", "PY101", "TO101"),
    explained_by=("OS103", "CI201"),
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
    running = versions.macos(host.macos_version)
    if running is None:
        return unknown("host.macos_version", ask=["the output of sw_vers"])
    needed = versions.macos(floor.version) or ()
    evidence = [
        Evidence.of(host, "macos_version"),
        Evidence("torch.version", version, torch.source("version") or packages.source("*")),
        Evidence("needed by its MPS", f"macOS {floor.version}", "table of releases"),
    ]
    if running >= needed:
        return passed(evidence=evidence)
    machine = "x86_64" if interpreter.is_x86_64 else "arm64"
    best = releases.newest_for(host.macos_version, interpreter.minor, machine)
    return fail(
        f"torch {version} needs macOS {floor.version} for the GPU, and this Mac runs {host.macos_version}.",
        evidence,
        [*_older_torch(best, host, interpreter), Remedy(f"Update macOS to {floor.version} or later.")],
        confidence="certain" if floor.certain else "likely",
        gpu=False,
    )


def _older_torch(best: releases.Release | None, host: Host, interpreter: Interpreter) -> list[Remedy]:
    if best is None:
        return []
    wanted = [f"torch=={best.version}", *([f"torchvision=={best.torchvision}"] if best.torchvision else [])]
    return [
        Remedy(
            f"Install torch=={best.version}, the newest whose GPU support runs on macOS {host.macos_version}.",
            ((interpreter.executable or "python", "-m", "pip", "install", *wanted),),
        )
    ]


@check(
    "TO103",
    family="torch",
    cause="torch-import-fails",
    causes=tuple(sorted(IMPORT_CAUSES)),
    needs=("HW101", "PY100", "PY101", "TO101"),
    explained_by=("EN101", "EN103", "EN104", "PK103", "PK105", "PK106", "PK107"),
)
def torch_imports(torch: Torch) -> Verdict:
    """torch can be imported.

    Tested: `import torch` in a process of its own, with a time limit; the exception, the loader's message, the signal
    or the silence with which it ended.

    Why: an import fails where a library is missing, built for another architecture or for another release, where two
    OpenMP runtimes meet, or where a file of the user's hides a module.

    What to do: see the remedy; where nothing more specific shows, install torch anew in a fresh environment.

    Source: dyld's and CPython's messages; pytorch/pytorch issues 39640, 78490 and 157648.
    """
    if torch.imported:
        return passed(f"in {torch.import_seconds:.1f} s" if torch.import_seconds is not None else "")
    if torch.imported is None and torch.end is None:
        return unknown("torch.imported", ask=['python -c "import torch; print(torch.__version__)"'])
    return explain_import_failure(torch)


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
    return say(row.what, evidence, [Remedy(row.remedy)], cause=row.cause)


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
