"""What the remedies of several checks share: who installed a package, and the command that installs it anew."""

from mpsdoctor import Conda, CondaPackage, Distribution, Interpreter, Packages

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
    return record is not None and public(found.version) != public(record.version)


def public(version: str | None) -> str:
    """Return a version without its local part: "2.5.1" of "2.5.1+cpu"."""
    return (version or "").partition("+")[0]
