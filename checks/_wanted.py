"""What an installer was asked for, as its messages tell it: the release, a suffix, the tags of a wheel file."""

import re

from mpsdoctor import Facts
from mpsdoctor.knowledge import releases, versions

from ._reported import Said, part

_LOCAL = re.compile(r"\+(?:cu\d|cpu|rocm|xpu)")
TORCH_FAMILY = ("torch", "torchvision", "torchaudio", "torchtext")


def wanted_name(said: list[Said]) -> str:
    """The package that was asked for; torch where no message names one."""
    return (part(said, "name") or "torch").lower()


def wanted_release(said: list[Said]) -> str | None:
    """The release of torch that was asked for, without a suffix; the one that belongs to a companion."""
    name, version = wanted_name(said), part(said, "version")
    if version is None:
        return None
    version = version.split("+")[0].rstrip(".*")
    if name in ("torchvision", "torchaudio"):
        return next((one.version for one in releases.releases() if getattr(one, name) == version), None)
    return version if name == "torch" else None


def is_local(said: Said) -> bool:
    """A suffix such as +cu121 was asked for."""
    wanted = f"{said.part('version') or ''}{said.part('spec') or ''}"
    return bool(_LOCAL.search(wanted)) or said.row.causes == ("non-mac-wheel-pin",)


def is_foreign(said: Said) -> bool:
    """A wheel file for another system was named."""
    tag = said.part("platform_tag") or ""
    return bool(tag) and "macosx" not in tag and tag != "any"


def is_for_intel(said: Said) -> bool:
    """A wheel file for x86_64 alone was named."""
    return bool(re.fullmatch(r"macosx_\d{1,3}_\d{1,3}_(?:x86_64|intel)", said.part("platform_tag") or ""))


def other_python_tag(facts: Facts, said: Said) -> bool:
    """A wheel file for another Python than this one was named."""
    tag, minor = said.part("python_tag") or "", facts.interpreter.minor
    return tag.startswith("cp") and minor is not None and tag != f"cp{minor.replace('.', '').rstrip('t')}"


def has_wheel(minor: str, wanted: str | None, machine: str) -> bool:
    """Is there a wheel of the wanted release, or of any, for this Python on this architecture?"""
    if wanted is not None and releases.release(wanted):
        return minor in releases.pythons_for(wanted, machine)
    return any(minor in one.pythons(machine) for one in releases.releases())


def offers_older(last: str | None, wanted: str | None) -> bool:
    """The installer's list ends below the release that was asked for."""
    return wanted is None or (versions.at_least(wanted, last or "0") is not False and wanted != last)
