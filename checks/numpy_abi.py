"""NumPy, which must be of the generation that torch was built for."""

from mpsdoctor import (
    Conda,
    Evidence,
    Host,
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
from mpsdoctor.knowledge import releases, versions

from ._commands import CONDA_TORCH, conda_record, pip
from ._torch import installed_version

_CHAIN = ("HW101", "PY100")


@check("PK102", family="packages", cause="numpy2-abi", needs=_CHAIN, explained_by=("PY101",))
def numpy_suits_torch(conda: Conda, host: Host, interpreter: Interpreter, packages: Packages, torch: Torch) -> Verdict:
    """torch was built for the installed NumPy.

    Tested: the version of torch against 2.3.0, the first with NumPy 2 support, the version of NumPy, and what torch
    warned about at its import.

    Why: torch up to 2.2.2, and so every torch for Intel Macs, was built for NumPy 1. With NumPy 2 it says "Numpy is not
    available" as soon as a tensor and an array meet.

    What to do: install numpy below 2; or, on Apple silicon, a newer torch.

    Source: the wheels 1.12.0 to 2.15.0: the NumPy 2 loader is in them from 2.3.0 on.
    """
    version, numpy = installed_version(torch, packages), packages.version("numpy")
    if version is None:
        return unknown("torch.version")
    if numpy is None:
        complete = packages.distributions is not None and not packages.partial
        return skip("NumPy is not installed") if complete else unknown("packages.distributions")
    parsed = versions.parse(numpy)
    evidence = [
        Evidence("torch.version", version, torch.source("version") or packages.source("*")),
        Evidence("packages.numpy", numpy, packages.source("*")),
    ]
    if parsed is None or parsed.major < 2 or versions.at_least(version, "2.3.0") is not False:
        return passed(evidence=evidence)
    warned = [text for text in torch.warnings or () if "numpy" in text.lower()]
    if not warned and conda_record(conda, *CONDA_TORCH) and conda_record(conda, "numpy"):
        return passed("conda built the two together", evidence)
    if warned:
        evidence.append(Evidence("torch.warnings", warned[0][:200], torch.source("warnings")))
    by_conda = (found := packages.get("numpy")) is not None and found.installer == "conda"
    command = ("conda", "install", "numpy<2") if by_conda else pip(interpreter, packages, "install", "numpy<2")
    remedies = [Remedy("Install NumPy 1.", (command,))]
    best = None if interpreter.is_x86_64 else releases.newest_for(host.macos_version, interpreter.minor, "arm64")
    if best is not None:
        wanted = [f"torch=={best.version}"]
        if best.torchvision and packages.get("torchvision") is not None:
            wanted.append(f"torchvision=={best.torchvision}")
        command = pip(interpreter, packages, "install", *wanted)
        remedies.append(Remedy(f"Install torch {best.version}, which knows NumPy 2.", (command,)))
    return fail(f"torch {version} was built for NumPy 1, and NumPy {numpy} is installed.", evidence, remedies)
