"""What the checks of torch share: its version, and whether this macOS meets what its GPU support needs."""

from mpsdoctor import Host, Packages, Torch
from mpsdoctor.knowledge import releases, versions


def installed_version(torch: Torch, packages: Packages) -> str | None:
    """Return the version that torch says of itself, else that of its metadata."""
    return torch.version or packages.version("torch")


def reaches(macos: str | None, floor: str) -> bool | None:
    """Is this macOS at or above `floor`? None where it is unknown, or where only its unknown minor would decide."""
    running = versions.macos(macos)
    if running is None:
        return None
    if versions.macos_in(running, floor, None):
        return True
    wanted = versions.macos(floor) or ()
    return None if len(running) < len(wanted) and running == wanted[: len(running)] else False


def below_floor(host: Host, torch: Torch, packages: Packages) -> bool | None:
    """Is this macOS older than the installed torch needs for MPS? None where either is unknown."""
    version = installed_version(torch, packages)
    floor = releases.floor_for(version) if version else None
    met = reaches(host.macos_version, floor.version) if floor else None
    return None if met is None else not met
