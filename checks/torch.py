"""The installed torch: is it there, and does it import."""

from mpsdoctor import (
    Conda,
    Evidence,
    Facts,
    Interpreter,
    Packages,
    Remedy,
    Torch,
    Verdict,
    check,
    fail,
    passed,
    unknown,
)
from mpsdoctor.knowledge import releases

from ._commands import pip, reinstall
from ._imports import IMPORT_CAUSES, explain_import_failure
from ._torch import installed_version


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
                (pip(interpreter, packages, "install", wanted),),
            )
        ],
        gpu=False,
    )


def _other_environment(facts: Facts) -> tuple[str, str] | None:
    variables = facts.environment.variables or {}
    own = (facts.interpreter.prefix or "").rstrip("/")
    if any((variables.get(name) or "").rstrip("/") == own for name in ("VIRTUAL_ENV", "CONDA_PREFIX")):
        return None  # this is the active environment; conda's base stays named beside an active venv
    for name in ("VIRTUAL_ENV", "CONDA_PREFIX"):
        prefix = variables.get(name)
        if prefix and facts.interpreter.prefix and prefix.rstrip("/") != facts.interpreter.prefix.rstrip("/"):
            return name, prefix
    return None


@check(
    "TO103",
    family="torch",
    cause="torch-import-fails",
    causes=tuple(sorted(IMPORT_CAUSES)),
    needs=("HW101", "PY100", "PY101", "TO101"),
    explained_by=("EN101", "EN103", "EN104", "PK103", "PK105", "PK106", "PK107"),
)
def torch_imports(torch: Torch, interpreter: Interpreter, packages: Packages, conda: Conda) -> Verdict:
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
    return explain_import_failure(torch, reinstall(["torch"], conda, interpreter, packages))
