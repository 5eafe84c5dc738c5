"""The releases that a remedy names: the newest that the reported macOS and Python can use, never simply the newest."""

import re

from mpsdoctor import Facts, Remedy
from mpsdoctor.knowledge import releases, versions

from ._reported import runs_x86, torch_version

# Words of a remedy that lead to a newer torch, or to one installed anew.
_LEADS_TO_TORCH = re.compile(
    r"\b[Uu]pgrade torch\b|--upgrade torch\b|\b(?:[Ii]nstall|[Tt]ake|[Uu]se) (?:the |a )?(?:newest|newer|stable)\b|"
    r"\bpip install (?:--[\w-]+ )*torch\b(?!==)|\bnewest torch\b"
)


def best(facts: Facts) -> releases.Release | None:
    """The newest release for this Mac; None where its macOS is not known, or where none fits."""
    if versions.macos(facts.host.macos_version) is None or facts.host.is_mac is False:
        return None
    machine = "x86_64" if runs_x86(facts) else "arm64"
    return releases.newest_for(facts.host.macos_version, facts.interpreter.minor, machine)


def packages(facts: Facts) -> tuple[str, ...]:
    """What to give to pip: torch and torchvision, with versions where the macOS bounds them."""
    release = best(facts)
    if release is None:
        return ("torch", "torchvision")
    pins = (f"torch=={release.version}",)
    return (*pins, f"torchvision=={release.torchvision}") if release.torchvision else pins


def pinned(facts: Facts, remedies: list[Remedy]) -> list[Remedy]:
    """The remedies, where the first leads to a newer torch with the versions that this Mac can use."""
    release = best(facts)
    if not remedies or release is None or remedies[0].commands or not _LEADS_TO_TORCH.search(remedies[0].text):
        return remedies
    where = f"macOS {facts.host.macos_version}"
    if facts.interpreter.minor:
        where += f" with Python {facts.interpreter.minor}"
    if versions.at_least(torch_version(facts), release.version):
        return [Remedy(f"{remedies[0].text} But {where} runs no torch above {release.version}."), *remedies[1:]]
    command = ("python", "-m", "pip", "install", *packages(facts))
    text = f"{remedies[0].text} The newest for {where}: {' '.join(packages(facts))}."
    return [Remedy(text, (command,)), *remedies[1:]]
