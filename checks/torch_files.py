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

from ._commands import CONDA_TORCH, conda_record, from_pip, pip, public

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
    broken = [
        b for b in binaries.by_role("torch", "torch-extension") if b.kind in ("missing", "truncated", "unreadable")
    ]
    found = packages.get("torch")
    # conda's package of torch lists files that its package of libtorch holds elsewhere.
    by_conda = found is not None and not from_pip(found, conda_record(conda, *CONDA_TORCH)) and bool(conda.packages)
    missing = found.missing_files if found is not None and not by_conda else None
    if not broken and missing is None:
        return passed() if any(b.role == "torch" for b in binaries.files or ()) else unknown("packages.missing_files")
    if torch.imported and not missing:
        return passed()
    if not broken and not missing:
        return passed(evidence=[Evidence("packages.torch.missing_files", 0, "RECORD")])
    evidence = [Evidence("packages.torch.missing_files", missing, "RECORD")] if missing else []
    evidence += [Evidence("binaries.files", b.path, b.problem or b.kind) for b in broken[:3]]
    version = public(found.version) if found is not None else ""
    wanted = f"torch=={version}" if version else "torch"
    command = pip(interpreter, packages, "install", "--force-reinstall", "--no-deps", "--no-cache-dir", wanted)
    remedies = [Remedy("Install the same torch again.", (command,))]
    what = (
        f"{missing} files of torch are missing"
        if missing
        else f"{broken[0].path}: {broken[0].problem or broken[0].kind}"
    )
    if torch.imported:
        return warn(f"{what}; it can be imported, and parts of it will fail.", evidence, remedies)
    hurts = bool(broken) or torch.imported is False
    if hurts:
        return fail(f"The installed torch is damaged: {what}.", evidence, remedies, gpu=False)
    return warn(f"The installed torch is damaged: {what}.", evidence, remedies)
