"""Which torchvision and torchaudio belong to which torch."""

from __future__ import annotations

from . import versions
from ._table import Release, newest, release, releases

_PINNED_FROM = {"torchvision": (0, 15, 1), "torchaudio": (2, 0, 1)}
# The first versions that accept a range of torch instead of one (METADATA of the wheels): torchvision 0.29.1 asks
# for torch >= 2.14.0, torchaudio 2.11.1 for torch >= 2.11, and 2.11.0 for nothing at all, its libraries being abi3.
_RANGE_FROM = {"torchvision": (0, 29, 1), "torchaudio": (2, 11, 0)}
_RANGE_TORCH = {"torchvision": (2, 14, 0), "torchaudio": (2, 11, 0)}


def companions(version: str) -> tuple[str, str] | None:
    """``(torchvision, torchaudio)`` to install beside torch ``version``; None for builds outside the table."""
    found = release(version)
    if found is None or found.torchvision is None or found.torchaudio is None:
        return None
    return found.torchvision, found.torchaudio


def companion_matches(torch_version: str, name: str, companion_version: str) -> bool | None:
    """Does this torchvision or torchaudio belong to this torch?

    None where nothing is known: nightlies and source builds, torch before 1.12 or newer than the table, versions
    of the companion that the table does not know, and other packages.
    """
    torch, other = release(torch_version), versions.stable(companion_version)
    if torch is None or other is None or name not in _RANGE_FROM or other > _newest(name):
        return None
    if other >= _RANGE_FROM[name]:
        return torch.key >= _RANGE_TORCH[name]
    if other == _belonging(torch, name):
        return True
    if other >= _PINNED_FROM[name] and any(other == _belonging(one, name) for one in releases()):
        return False
    # Before the exact pins the wheels asked for any torch, and a number between two known ones was never
    # looked up: the generation decides, the last digit does not.
    return None if other[:2] == _generation(torch, name) else False


def _belonging(torch: Release, name: str) -> tuple[int, int, int] | None:
    version = torch.torchvision if name == "torchvision" else torch.torchaudio
    return versions.stable(version or "")


def _generation(torch: Release, name: str) -> tuple[int, int]:
    belonging = _belonging(torch, name) or (0, 0, 0)
    return belonging[:2]


def _newest(name: str) -> tuple[int, int, int]:
    return _belonging(newest(), name) or (0, 0, 0)
