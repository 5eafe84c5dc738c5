"""Reads a failed import of torch: which cause its message or its death shows."""

from mpsdoctor import Evidence, Remedy, Torch, Verdict, fail
from mpsdoctor.knowledge import causes, messages

# The causes that the failure of an import can have; what else a message may mean belongs to running programs.
IMPORT_CAUSES = frozenset(
    {
        "arch-mismatch-binaries",
        "missing-libomp",
        "duplicate-openmp",
        "numpy2-abi",
        "macos-too-old-for-torch",
        "mixed-package-sources",
        "companion-version-mismatch",
        "local-file-shadows-torch",
        "source-shadows-package",
        "watermark-env-var-invalid",
        "broken-venv",
    }
)
_LAST = 600  # characters of a child's stderr that are shown


def explain_import_failure(torch: Torch, again: tuple[tuple[str, ...], ...]) -> Verdict:
    """Return the verdict on an import that raised, died, hung or ended the process silently.

    again: the commands that install torch anew, for the case that nothing more specific shows.
    """
    text = _said(torch)
    cause = _cause(text)
    evidence = [Evidence("import torch", _how(torch), torch.source("*"))]
    failure = torch.import_failure
    if failure is not None and failure.paths:
        evidence.append(Evidence("files", list(failure.paths[:3]), "the loader's message"))
    elif failure is None and text:
        evidence.append(Evidence("last words", " ".join(text[-_LAST:].split()), "stderr"))
    if cause is None:
        return fail(
            f"torch cannot be imported: {_how(torch)}.",
            evidence,
            [
                Remedy("Install torch again; where that does not help, make a fresh environment.", again),
            ],
            gpu=False,
        )
    known = causes.cause(cause)
    steps = known.what_to_do if known else ()
    means = known.means if known else cause
    return fail(f"torch cannot be imported: {means}", evidence, [Remedy(" ".join(steps[:2]))], cause=cause, gpu=False)


def _said(torch: Torch) -> str:
    failure = torch.import_failure
    if failure is not None:
        return f"{failure.type}: {failure.message}"
    return torch.end.stderr_tail or "" if torch.end is not None else ""


def _how(torch: Torch) -> str:
    failure, end = torch.import_failure, torch.end
    if failure is not None:
        first = failure.message.strip().splitlines()[0][:200] if failure.message.strip() else "no message"
        return f"{failure.type}: {first}"
    if end is None:
        return "it gave no answer"
    if end.how == "exit":
        return f"the process ended itself with status {end.code} during the import"
    if end.how == "signal":
        return f"the process was ended by {end.signal} during the import"
    return f"the import {end.describe()}"


def _cause(text: str) -> str | None:
    for match in messages.find(text):
        if match.row.level == "crash":  # how a process died, and nothing of why
            continue
        for cause in match.row.causes:
            if cause in IMPORT_CAUSES:
                return str(cause)
    return None
