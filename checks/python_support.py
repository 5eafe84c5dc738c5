"""The version of Python: is there a torch for it, is it still supported."""

from datetime import date

from mpsdoctor import (
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
from mpsdoctor.knowledge import pythons, releases


@check("PY103", family="python", cause="python-version-no-wheel", needs=("HW101", "PY100", "PY101", "PY102"))
def python_has_a_torch(host: Host, interpreter: Interpreter, packages: Packages, torch: Torch) -> Verdict:
    """A torch release exists for this Python on this Mac.

    Tested: where torch is not installed, the Python versions of all releases whose MPS runs on this macOS.

    Why: each torch release is built for five or six Python versions. For a newer or older one pip finds nothing and
    says only "No matching distribution found".

    What to do: make the environment anew with a Python that the wanted torch has a build for.

    Source: the package index, torch 1.12.0 to 2.15.0.
    """
    if torch.version or packages.get("torch"):
        return skip("torch is installed")
    if interpreter.minor is None:
        return unknown("interpreter.version", ask=["python3 --version"])
    machine = "x86_64" if interpreter.is_x86_64 else "arm64"
    evidence = [Evidence.of(interpreter, "version")]
    found = releases.newest_for(host.macos_version, interpreter.minor, machine)
    if found is not None:
        return passed(f"the newest for it here is {found.version}", evidence)
    best = releases.newest_for(host.macos_version, None, machine)
    if best is None:
        return skip("no torch fits this macOS at all")
    fitting = [minor for minor in releases.pythons_for(best.version, machine) if not minor.endswith("t")]
    newest = fitting[-2] if len(fitting) > 1 else fitting[-1]
    where = f" on macOS {host.macos_version}" if host.macos_version else ""
    return fail(
        f"No torch that can use the GPU{where} has a build for Python {interpreter.minor}.",
        evidence,
        [
            Remedy(
                f"Make the environment anew with Python {newest}; torch {best.version} has builds for "
                f"{', '.join(fitting)}.",
                (("uv", "venv", "--python", newest),),
            )
        ],
        gpu=False,
    )


@check("PY104", family="python", needs=("HW101", "PY100"))
def python_is_supported(host: Host, interpreter: Interpreter, today: date) -> Verdict:
    """What is known of this Python's vendor and support.

    Tested: the version against Python's own calendar, the vendor by the version text and the path.

    Why: PyTorch drops a Python soon after its end of life, so that an old one also stops torch at an old release.

    What to do: nothing is wrong; take a newer Python when you next make an environment.

    Source: Python's release calendar; the package index.
    """
    if interpreter.version is None:
        return unknown("interpreter.version")
    evidence = [Evidence.of(interpreter, n) for n in ("version", "vendor") if getattr(interpreter, n) is not None]
    detail = ""
    if interpreter.minor and pythons.end_of_life(interpreter.version, today):
        machine = "x86_64" if interpreter.is_x86_64 else "arm64"
        last = releases.newest_for(host.macos_version, interpreter.minor, machine)
        ends = f"; the newest torch for it here is {last.version}" if last else ""
        detail = f"Python {interpreter.minor} gets no fixes any more{ends}"
    return passed(detail, evidence)
