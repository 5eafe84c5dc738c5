"""Who installed torch and what belongs to it: one source, one copy, and every file of it."""

import re

from mpsdoctor import (
    Conda,
    Distribution,
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
from mpsdoctor.knowledge import versions

from ._commands import CONDA_TORCH, conda_record, from_pip, pip

_CHAIN = ("HW101", "PY100")
# How the dynamic linker says that a library found is not the one that was linked.
_LINKING = re.compile(r"[Ss]ymbol not found|undefined symbol|Library not loaded|Expected in")
_STACK = ("torch", "torchvision", "torchaudio", "numpy")


@check("PK103", family="packages", cause="mixed-package-sources", needs=_CHAIN, explained_by=("PY101",))
def one_source_and_one_copy(conda: Conda, interpreter: Interpreter, packages: Packages, torch: Torch) -> Verdict:
    """torch and what belongs to it come from one source, in one copy.

    Tested: conda's records of torch, torchvision, torchaudio and NumPy against the metadata in site-packages and its
    INSTALLER; and whether one of them is there twice in different versions.

    Why: conda keeps torch's libraries in the lib folder of the environment, a wheel carries its own. Where both are
    there, one package loads the library of the other. pip's torch beside conda's NumPy alone is no fault of this
    kind (two OpenMP runtimes are PK105's).

    What to do: remove the packages of one source, and install the whole stack from the other.

    Source: public tickets, sorted by cause (torchaudio of a wheel that meets libtorch_cpu in env/lib).
    """
    if packages.distributions is None:
        return unknown("packages.distributions")
    if packages.partial and packages.get("torch") is None:
        return unknown("packages.torch")
    overlap = [name for name in _STACK if _both_own(name, conda, packages)]
    if overlap:
        return _overlapping(overlap, conda, interpreter, packages, torch)
    for name in _STACK:
        copies = packages.copies(name)
        other = next((copy for copy in copies[1:] if _collides(copies[0], copy, interpreter)), None)
        if other is not None:
            return _twice(copies[0], other, interpreter, packages)
    return passed()


def _both_own(name: str, conda: Conda, packages: Packages) -> bool:
    found = packages.get(name)
    record = conda_record(conda, *(CONDA_TORCH if name == "torch" else (name,)))
    if found is None or record is None or found.editable:
        return False
    if name == "numpy":  # within a generation NumPy's wheel takes the place of conda's without harm
        return from_pip(found, record) and _major(found.version) != _major(record.version)
    if from_pip(found, record):
        return True
    torch = packages.get("torch")
    return name != "torch" and torch is not None and from_pip(torch, conda_record(conda, *CONDA_TORCH))


def _major(version: str | None) -> int | None:
    parsed = versions.parse(version or "")
    return parsed.major if parsed is not None else None


def _overlapping(names: list[str], conda: Conda, interpreter: Interpreter, packages: Packages, torch: Torch) -> Verdict:
    evidence = []
    for name in names:
        record = conda_record(conda, *(CONDA_TORCH if name == "torch" else (name,)))
        found = packages.get(name)
        if record is not None and found is not None:
            source = f"{record.channel or 'conda'}, {conda.source('packages')}"
            evidence.append(Evidence(f"conda.{record.name}", record.version, source))
            evidence.append(Evidence(f"packages.{name}", found.version, f"installed by {found.installer or 'pip'}"))
    records = [r.name for n in (*CONDA_TORCH, *_STACK[1:3]) if (r := conda_record(conda, n)) is not None]
    remedies = [
        Remedy(
            "Remove conda's part and install the stack again with one tool; or make a new environment from one source.",
            (
                *([("conda", "remove", "--force", *records)] if records else []),
                pip(interpreter, packages, "install", "--force-reinstall", *names),
            ),
        )
    ]
    detail = f"conda and pip both own {' and '.join(names)} in this environment."
    if names != ["numpy"] and _LINKING.search(torch.import_failure.message if torch.import_failure else ""):
        return fail(detail, evidence, remedies, confidence="likely", gpu=False)
    return warn(detail, evidence, remedies)


def _collides(used: Distribution, other: Distribution, interpreter: Interpreter) -> bool:
    """Two versions of one package, and not on purpose: an environment's own copy may stand before its base's."""
    if used.version is None or other.version is None or used.version == other.version:
        return False
    if used.location == other.location or used.location is None or other.location is None:
        return used.location == other.location
    if interpreter.prefix is None:
        return True
    inside = interpreter.prefix.rstrip("/") + "/"
    return not (used.location.startswith(inside) and not other.location.startswith(inside))


def _twice(used: Distribution, other: Distribution, interpreter: Interpreter, packages: Packages) -> Verdict:
    where = "the same folder" if used.location == other.location else f"{used.location}, before {other.location}"
    return warn(
        f"{used.name} is there twice: {used.version} and {other.version}, in {where}.",
        [
            Evidence(f"packages.{one.name}", f"{one.version} in {one.location}", packages.source("*"))
            for one in (used, other)
        ],
        [
            Remedy(
                "Uninstall it until none is left, then install the wanted version once.",
                (
                    pip(interpreter, packages, "uninstall", used.name),
                    pip(interpreter, packages, "uninstall", used.name),
                    pip(interpreter, packages, "install", used.name),
                ),
            )
        ],
        confidence="likely",
    )
