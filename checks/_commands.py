"""What the remedies of several checks share: who installed a package, and the command that installs it anew."""

from collections.abc import Iterable

from mpsdoctor import Conda, CondaPackage, Distribution, Interpreter, Packages
from mpsdoctor.knowledge import versions

CONDA_TORCH = ("pytorch", "libtorch", "pytorch-cpu", "pytorch-gpu")


def pip(interpreter: Interpreter, packages: Packages, action: str, *arguments: str) -> tuple[str, ...]:
    """Return a pip command for this very interpreter; by uv where uv installed torch, as its environments lack pip."""
    python = interpreter.executable or "python"
    torch = packages.get("torch")
    if torch is not None and torch.installer == "uv":
        return ("uv", "pip", action, "--python", python, *arguments)
    return (python, "-m", "pip", action, *arguments)


def conda_record(conda: Conda, *names: str) -> CondaPackage | None:
    """Return the first package of these names that conda itself installed (its lists also show those of pip)."""
    found = (conda.get(name) for name in names)
    return next((package for package in found if package is not None and package.channel != "pypi"), None)


def from_pip(found: Distribution, record: CondaPackage | None) -> bool:
    """Did pip, uv or the like install this? Without an INSTALLER file a version other than conda's tells."""
    if found.installer is not None:
        return found.installer != "conda"
    return record is not None and not same_version(found.version, record.version)


def same_version(first: str | None, second: str | None) -> bool:
    """Compare without local parts and post-releases: conda-forge's torch 2.4.1 calls itself 2.4.1.post101."""
    if first is None or second is None:
        return first is second
    return first == second or (versions.stable(first) is not None and versions.stable(first) == versions.stable(second))


def reinstall(
    names: Iterable[str], conda: Conda, interpreter: Interpreter, packages: Packages
) -> tuple[tuple[str, ...], ...]:
    """Return the commands that install these packages again in the same versions, each by the tool that brought it."""
    by_conda, by_pip = [], []
    for name in names:
        record = conda_record(conda, *(CONDA_TORCH if name == "torch" else (name,)))
        found = packages.get(name)
        if record is not None and (found is None or not from_pip(found, record)):
            by_conda.append(record.name)
        else:
            version = (found.version or "").partition("+")[0] if found else ""
            by_pip.append(f"{name}=={version}" if version else name)
    commands = []
    if by_conda:
        commands.append(("conda", "install", "--force-reinstall", *by_conda))
    if by_pip:
        commands.append(
            pip(interpreter, packages, "install", "--force-reinstall", "--no-deps", "--no-cache-dir", *by_pip)
        )
    return tuple(commands)
