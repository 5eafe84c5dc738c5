"""A conda environment: its architecture and its records."""

from dataclasses import replace

from mpsdoctor import (
    Conda,
    Environment,
    Evidence,
    Host,
    Interpreter,
    Remedy,
    Verdict,
    check,
    fail,
    passed,
    skip,
    unknown,
    warn,
)

_CHAIN = ("HW101", "PY100")
_NATIVE = "osx-arm64"
_INTEL = "osx-64"
_SHOWN = 5


@check(
    "CO101",
    family="conda",
    cause="x86-python-under-rosetta",
    causes=("arch-mismatch-binaries",),
    needs=_CHAIN,
    explained_by=("PY101",),
)
def conda_packages_are_native(host: Host, conda: Conda, interpreter: Interpreter) -> Verdict:
    """The conda packages are built for Apple silicon.

    Tested: the subdir in each record of conda-meta: osx-arm64 is native, osx-64 is for Intel.

    Why: a conda for Intel Macs works on Apple silicon through Rosetta and installs Intel packages without a word.
    PyTorch cannot use the GPU well there, and single Intel packages do not load into a native Python.

    What to do: install Miniforge for Apple silicon and make the environment anew; a single wrong package is replaced.

    Source: the records in conda-meta; conda-forge/miniforge issue 165.
    """
    if not conda.present and conda.packages is None:
        return _not_seen(conda, interpreter)
    if conda.packages is None and conda.subdir is None:
        return unknown("conda.packages")
    if host.is_apple_silicon is None:
        return unknown("host.arm64_capable")
    if not host.is_apple_silicon:
        return skip("an Intel Mac needs osx-64 packages")
    wrong = [package.name for package in conda.packages or () if package.subdir == _INTEL]
    if conda.subdir == _INTEL:
        return fail(
            "This conda environment holds packages for Intel Macs (osx-64), which run through Rosetta.",
            [Evidence.of(conda, "subdir"), Evidence.of(host, "arm64_capable")],
            [
                Remedy(
                    "Install Miniforge for Apple silicon (Miniforge3-MacOSX-arm64.sh) and make the environment anew.",
                    (("conda", "create", "-n", "torch-arm64", "--platform", _NATIVE, "python=3.12", "pytorch"),),
                )
            ],
            gpu=False,
        )
    if wrong:
        names = ", ".join(wrong[:_SHOWN])
        return warn(
            f"{len(wrong)} packages of this native environment are for Intel Macs: {names}.",
            [Evidence("conda.packages", wrong[:_SHOWN], conda.source("packages"))],
            [
                Remedy(
                    "Install them again for Apple silicon.",
                    (("env", f"CONDA_SUBDIR={_NATIVE}", "conda", "install", "--force-reinstall", *wrong[:_SHOWN]),),
                )
            ],
            cause="arch-mismatch-binaries",
        )
    return passed(evidence=[Evidence.of(conda, "subdir")] if conda.subdir else [])


@check("CO102", family="conda", cause="arch-mismatch-binaries", needs=_CHAIN, explained_by=("PY101", "CO101"))
def conda_installs_the_same_architecture(conda: Conda, environment: Environment, interpreter: Interpreter) -> Verdict:
    """The next `conda install` stays with the architecture of this environment.

    Tested: CONDA_SUBDIR, the subdir that conda is configured for here, and what conda itself runs as, in this order,
    against the subdir of the environment.

    Why: an Intel conda can hold a native environment, when it was made with CONDA_SUBDIR=osx-arm64. Without a setting
    of its own the next installation there mixes Intel packages in.

    What to do: write the subdir into the environment's own configuration.

    Source: conda's documentation of subdir; lucadiliello/pytorch-apple-silicon-benchmarks on CONDA_SUBDIR.
    """
    if not conda.present and conda.packages is None:
        return _not_seen(conda, interpreter)
    own = conda.subdir or _subdir_of(interpreter)
    if own is None:
        return unknown("conda.subdir")
    variable = (environment.variables or {}).get("CONDA_SUBDIR")
    settings = (
        ("environment.CONDA_SUBDIR", variable, environment.source("variables")),
        ("conda.configured_subdir", conda.configured_subdir, conda.source("configured_subdir")),
        ("conda.tool_platform", conda.tool_platform, conda.source("tool_platform")),
    )
    decides = next((Evidence(*setting) for setting in settings if setting[1]), None)
    if decides is None:
        return unknown("conda.configured_subdir")
    if decides.value == own:
        return passed(evidence=[decides])
    return warn(
        f"This environment is {own}, and conda would install {decides.value} packages into it.",
        [Evidence("conda.subdir", own, conda.source("subdir")), decides],
        [
            Remedy(
                f"Write {own} into the configuration of this environment, while it is active"
                + (", and remove CONDA_SUBDIR." if variable else "."),
                (
                    ("conda", "config", "--env", "--set", "subdir", own),
                    *((("unset", "CONDA_SUBDIR"),) if variable else ()),
                ),
            )
        ],
    )


def _not_seen(conda: Conda, interpreter: Interpreter) -> Verdict:
    if interpreter.conda and conda.present is None:
        return unknown("conda.packages")
    return skip("nothing shows a conda environment" if conda.present is None else "no conda environment")


def _subdir_of(interpreter: Interpreter) -> str | None:
    if interpreter.is_x86_64 is None:
        return None
    return _INTEL if interpreter.is_x86_64 else _NATIVE


@check("CO105", family="conda", needs=_CHAIN)
def conda_records_can_be_read(conda: Conda, interpreter: Interpreter) -> Verdict:
    """conda's records of this environment can be read.

    Tested: every file in conda-meta.

    Why: a record that an interrupted installation left damaged makes conda itself fail or forget the package, and
    hides from this program what is installed.

    What to do: install the named packages again, or make the environment anew.

    Source: conda's documentation of conda-meta.
    """
    if not conda.present and conda.packages is None:
        return _not_seen(conda, interpreter)
    if not conda.unreadable:
        return passed(f"{len(conda.packages)} records" if conda.packages is not None else "")
    names = [name.removesuffix(".json").rsplit("-", 2)[0] for name in conda.unreadable[:_SHOWN]]
    verdict = unknown(
        "conda.packages",
        detail=f"{len(conda.unreadable)} of conda's records cannot be read, so what they stand for is not known: "
        f"{', '.join(conda.unreadable[:_SHOWN])}",
    )
    command = ("conda", "install", "--force-reinstall", *names)
    remedy = Remedy(
        "Move these files out of conda-meta and install the packages again, or make the environment anew.", (command,)
    )
    return replace(verdict, evidence=(Evidence.of(conda, "unreadable"),), remedies=(remedy,))
