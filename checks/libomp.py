"""The OpenMP runtime that torch links: is it there."""

import posixpath

from mpsdoctor import (
    Binaries,
    Binary,
    Conda,
    Evidence,
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

from ._commands import CONDA_TORCH, conda_record, reinstall

_CHAIN = ("HW101", "PY100")


@check("PK107", family="packages", cause="missing-libomp", needs=_CHAIN, explained_by=("PY101", "PK106"))
def openmp_runtime_is_there(
    binaries: Binaries, conda: Conda, interpreter: Interpreter, packages: Packages, torch: Torch
) -> Verdict:
    """The OpenMP runtime that torch links is there.

    Tested: what libtorch_cpu links, and the OpenMP libraries beside it, on its rpaths and in the environment's lib
    folder. A torch that was imported has found its own.

    Why: torch's library does not load without it. The downloads for C++ and some builds from source do not bring it;
    wheels do since 2.2.

    What to do: install torch's wheel again, or the package llvm-openmp in a conda environment.

    Source: pytorch/pytorch issue 123833; the wheels 1.12.0 to 2.15.0.
    """
    if torch.imported:
        return passed("torch was imported")
    if binaries.files is None:
        return unknown("binaries.files")
    libraries = [b for b in binaries.by_role("torch") if b.is_macho]
    if not libraries:
        return skip("no library of torch was found")
    links = [(b, link) for b in libraries for link in b.libraries if _is_openmp(link)]
    if not links:
        return passed("torch links no OpenMP runtime")
    folders = {folder for binary, _ in links for folder in _searched(binary)}
    if interpreter.prefix:
        folders.add(posixpath.normpath(f"{interpreter.prefix}/lib"))
    runtimes = [b for b in binaries.by_role("openmp") if b.is_macho]
    found = next((b for b in runtimes if _folder(b) in folders or "/functorch/.dylibs/" in b.path), None)
    if found is not None:
        return passed(evidence=[Evidence("binaries.files", found.path, "found beside torch")])
    binary, link = links[0]
    remedy = Remedy(
        "Install torch again; its wheel brings the runtime.", reinstall(["torch"], conda, interpreter, packages)
    )
    if conda_record(conda, *CONDA_TORCH):
        remedy = Remedy("Install the runtime again.", (("conda", "install", "--force-reinstall", "llvm-openmp"),))
    elsewhere = link.startswith("/") or any(not rpath.startswith("@") for rpath in binary.rpaths)
    return fail(
        f"torch needs {posixpath.basename(link)}, the OpenMP runtime, and it is not there.",
        [Evidence("binaries.files", f"{binary.path} links {link}", "its header")],
        [remedy],
        confidence="likely" if elsewhere else "certain",
        gpu=False,
    )


def _is_openmp(link: str) -> bool:
    return posixpath.basename(link) in ("libomp.dylib", "libiomp5.dylib", "libgomp.1.dylib")


def _folder(binary: Binary) -> str:
    return posixpath.normpath(posixpath.dirname(binary.path))


def _searched(binary: Binary) -> set[str]:
    """Return the folders in which the linker looks for what this library links by @rpath or @loader_path."""
    here = posixpath.dirname(binary.path)
    paths = [here, *(rpath.replace("@loader_path", here) for rpath in binary.rpaths)]
    return {posixpath.normpath(path) for path in paths}
