"""OpenMP runtimes: one in a process."""

import posixpath
import re

from mpsdoctor import (
    Binaries,
    Binary,
    Conda,
    Environment,
    Evidence,
    Interpreter,
    Packages,
    Remedy,
    Torch,
    Verdict,
    check,
    fail,
    passed,
    unknown,
    warn,
)

from ._commands import conda_record, from_pip

_OF_TORCH = re.compile(r"-packages/(?:torch/lib|functorch/\.dylibs)/[^/]+$")  # an environment may be called torch
_TRUE = ("1", "true", "yes", "on", "t", "y")


@check(
    "PK105",
    family="packages",
    cause="duplicate-openmp",
    needs=("HW101", "PY100"),
    explained_by=("PY101", "PK106", "PK103"),
)
def one_openmp_runtime(
    binaries: Binaries,
    conda: Conda,
    environment: Environment,
    interpreter: Interpreter,
    packages: Packages,
    torch: Torch,
) -> Verdict:
    """torch and NumPy use one OpenMP runtime.

    Tested: the OpenMP library that torch links, against the one that conda's MKL or OpenBLAS under NumPy links; what a
    died import printed; KMP_DUPLICATE_LIB_OK. The copies that wheels carry for themselves alone (scikit-learn's beside
    torch's) are the normal state of a healthy Mac.

    Why: two runtimes in one process end it with "OMP: Error #15", or crash it without any text.
    KMP_DUPLICATE_LIB_OK=TRUE silences the message and leaves the crash or wrong results; its own text calls it unsafe.

    What to do: take torch and NumPy from one source, all with pip or all from conda-forge, in a new environment.

    Source: pytorch/pytorch issues 78490 and 83540; block2 issue 237; conda-forge/pytorch-cpu-feedstock issue 260.
    """
    said = (torch.import_failure.message if torch.import_failure else "") + (
        torch.end.stderr_tail or "" if torch.end else ""
    )
    if "OMP: Error #15" in said:
        line = next(line for line in said.splitlines() if "OMP: Error #15" in line)
        detail = "Two OpenMP runtimes meet when torch is imported, and the second ends the process."
        return fail(detail, [Evidence("import torch", line[:200], torch.source("*"))], [_REMEDY], gpu=False)
    if binaries.files is None:
        return unknown("binaries.files")
    runtimes = [binary for binary in binaries.by_role("openmp") if binary.is_macho]
    silenced = (environment.variables or {}).get("KMP_DUPLICATE_LIB_OK", "")
    evidence = (
        [Evidence("environment.KMP_DUPLICATE_LIB_OK", silenced, environment.source("variables"))] if silenced else []
    )
    pair = _pair(runtimes, binaries, conda, interpreter, packages)
    if pair is not None:
        evidence = [*(Evidence("binaries.files", one.path, "OpenMP runtime") for one in pair), *evidence]
        if torch.imported is not True and torch.end is not None and torch.end.how == "signal":
            detail = "torch and NumPy bring an OpenMP runtime each, and the import of torch crashes."
            return fail(detail, evidence, [_REMEDY], confidence="likely", gpu=False)
        hidden = "; KMP_DUPLICATE_LIB_OK only hides it" if silenced.lower() in _TRUE else ""
        return warn(
            f"torch and NumPy bring an OpenMP runtime each: programs that use both can crash{hidden}.",
            evidence,
            [_REMEDY],
        )
    if silenced.lower() in _TRUE and len(runtimes) > 1:
        evidence += [Evidence("binaries.files", one.path, "OpenMP runtime") for one in runtimes[:4]]
        detail = "KMP_DUPLICATE_LIB_OK allows two OpenMP runtimes in one process, which can crash or compute wrongly."
        unset = Remedy(
            "Remove the variable; where a program then stops with OMP: Error #15, its packages need one source.",
            (("unset", "KMP_DUPLICATE_LIB_OK"),),
        )
        return warn(detail, evidence, [unset, _REMEDY], confidence="likely")
    return passed(f"{len(runtimes)} copies, none beside torch's in use" if len(runtimes) > 1 else "", evidence)


_REMEDY = Remedy(
    "Take torch and NumPy from one source, in a new environment: all with pip, or all from conda-forge.",
    (("conda", "create", "-n", "torch", "-c", "conda-forge", "--override-channels", "pytorch", "numpy"),),
)


def _pair(
    runtimes: list[Binary], binaries: Binaries, conda: Conda, interpreter: Interpreter, packages: Packages
) -> tuple[Binary, Binary] | None:
    """Return the runtimes of torch and of NumPy, where both are known and are two files."""
    lib = posixpath.normpath(f"{interpreter.prefix or conda.prefix}/lib")
    shared = [runtime for runtime in runtimes if posixpath.dirname(runtime.path) == lib]
    own = next((runtime for runtime in runtimes if _OF_TORCH.search(runtime.path)), None)
    torchs = own or _named(_linked_by_torch(binaries), shared)
    numpys = _named(_linked_by_numpy(conda, packages), shared)
    if torchs is None or numpys is None or torchs.path == numpys.path:
        return None
    return torchs, numpys


def _named(name: str | None, runtimes: list[Binary]) -> Binary | None:
    """Return the runtime of that name. Of two names of one file only one is listed, and then it is the only file."""
    if name is None:
        return None
    exact = next((runtime for runtime in runtimes if posixpath.basename(runtime.path) == name), None)
    return exact or (runtimes[0] if len(runtimes) == 1 else None)


def _linked_by_torch(binaries: Binaries) -> str | None:
    links = (posixpath.basename(link) for binary in binaries.by_role("torch") for link in binary.libraries)
    return next((link for link in links if link in ("libomp.dylib", "libiomp5.dylib")), None)


def _linked_by_numpy(conda: Conda, packages: Packages) -> str | None:
    """Return the runtime of the BLAS under conda's NumPy. A wheel's NumPy has none: Accelerate, or its own OpenBLAS."""
    record, found = conda_record(conda, "numpy"), packages.get("numpy")
    if record is None or (found is not None and from_pip(found, record)):
        return None
    blas = conda_record(conda, "libblas", "blas")
    kind = (blas.build or "") if blas is not None else ""
    if "accelerate" in kind:
        return None
    if "mkl" in kind or (not kind and conda_record(conda, "mkl")):
        return "libiomp5.dylib"
    openblas = conda_record(conda, "libopenblas", "openblas")
    return None if openblas is None or (openblas.build or "").startswith("pthreads") else "libomp.dylib"
