"""What the checks of torch share."""

from mpsdoctor import Packages, Torch


def installed_version(torch: Torch, packages: Packages) -> str | None:
    """Return the version that torch says of itself, else that of its metadata."""
    return torch.version or packages.version("torch")
