"""The files of the installed torch."""

from mpsdoctor import (
    Binaries,
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
    unknown,
    warn,
)

from ._commands import CONDA_TORCH, conda_record, from_pip, reinstall

_BROKEN = ("missing", "truncated", "unreadable")
_CHAIN = ("HW101", "PY100")


@check("PK104", family="packages", cause="torch-import-fails", needs=_CHAIN, explained_by=("PY101", "PK103"))
def torch_files_are_whole(
    binaries: Binaries, conda: Conda, interpreter: Interpreter, packages: Packages, torch: Torch
) -> Verdict:
    """The files of torch are all there and whole.

    Tested: the list of installed files (RECORD) of a torch that pip or uv installed, caches, headers and tests left
    out; and whether torch's core library and its module can be read to their end.

    Why: an interrupted installation, a full disk or a cleaning program leaves torch with files missing or cut off.

    What to do: install the same version again, without the cache.

    Source: the recording of installed files, PEP 376 and PEP 627.
    """
    broken = [b for b in binaries.by_role("torch", "torch-extension") if b.kind in _BROKEN]
    missing = _missing_files(conda, packages)
    if not missing and (torch.imported or not broken):
        seen = missing is not None or any(b.role == "torch" for b in binaries.files or ())
        return passed() if seen or torch.imported else unknown("packages.missing_files")
    evidence = [Evidence("packages.torch.missing_files", missing, "RECORD")] if missing else []
    evidence += [Evidence("binaries.files", b.path, b.problem or b.kind) for b in broken[:3]]
    remedies = [Remedy("Install the same torch again.", reinstall(["torch"], conda, interpreter, packages))]
    what = (
        f"{missing} of its files are missing" if missing else f"{broken[0].path}: {broken[0].problem or broken[0].kind}"
    )
    if torch.imported:
        return warn(f"torch can be imported, but {what}: parts of it will fail.", evidence, remedies)
    if broken or torch.imported is False:
        return fail(f"The installed torch is damaged: {what}.", evidence, remedies, gpu=False)
    return warn(f"The installed torch is damaged: {what}.", evidence, remedies)


def _missing_files(conda: Conda, packages: Packages) -> int | None:
    found, record = packages.get("torch"), conda_record(conda, *CONDA_TORCH)
    if found is None or (record is not None and not from_pip(found, record)):
        return None  # conda's package of torch lists files that its package of libtorch holds elsewhere
    return found.missing_files
