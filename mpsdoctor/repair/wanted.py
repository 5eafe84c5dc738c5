"""The right torch for a Mac: the newest that its macOS and Python can use on the GPU, and what belongs to it."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from mpsdoctor.facts import Facts, Host
from mpsdoctor.knowledge import companions, known_bad, releases, versions
from mpsdoctor.knowledge._table import Release

COMPANIONS = ("torchvision", "torchaudio")
STACK = ("torch", *COMPANIONS)
# Causes that go only with another torch, or with torch installed anew in the right version.
NEED_ANOTHER_TORCH = frozenset(
    {
        "macos-too-old-for-torch",
        "known-bad-torch-release",
        "torch-too-old",
        "torch-not-installed",
        "conda-package-unavailable",
    }
)
# One more digit than Python's own: a wheel for the newest Python often lacks what stands around torch.
_SERIOUS = ("fail", "warn")


@dataclass(frozen=True)
class Stack:
    """What to install together. `why` says in a few words why this torch; `index` and `pre` are for nightlies."""

    torch: str
    companions: tuple[tuple[str, str], ...] = ()
    numpy: str | None = None
    why: str = ""
    index: str | None = None
    pre: bool = False

    @property
    def requirements(self) -> tuple[str, ...]:
        """The requirements, torch first, each with its exact version (NumPy by its generation)."""
        pairs = [("torch", self.torch), *self.companions]
        return (*(f"{name}=={version}" for name, version in pairs), *((self.numpy,) if self.numpy else ()))


@dataclass(frozen=True)
class NoTorch:
    """No torch fits, `because` of what; `python` is the newest Python that would do, if any."""

    because: str
    python: str | None = None


def best_release(host: Host, python: str | None, machine: str) -> Release | None:
    """Return the newest release that serves this Mac and Python and is not known to be bad here.

    On an Intel Mac the faults of the GPU do not count: torch is for the CPU there.
    """
    excluded: list[str] = []
    while (found := releases.newest_for(host.macos_version, python, machine, exclude=excluded)) is not None:
        if machine == "x86_64" or not is_bad(found.version, host):
            return found
        excluded.append(found.version)
    return None


def is_bad(version: str, host: Host) -> bool:
    """True where this torch is known to compute wrongly, crash or hide the GPU on this Mac."""
    rows = known_bad.matching(version, host.macos_version, virtual=host.is_virtual, chip=host.chip)
    return any(row.severity in _SERIOUS and row.cause != "virtual-machine-gpu" for row in rows)


def machine_of(facts: Facts) -> str:
    """Return the architecture that packages must have: that of the hardware where it is known."""
    if facts.host.is_apple_silicon is False:
        return "x86_64"
    return "arm64"


def choose_stack(
    facts: Facts, causes: Collection[str], *, python: str | None, machine: str, fresh: bool = False
) -> Stack | NoTorch:
    """Return what to install for these causes. The installed torch stays where nothing speaks against it.

    python: the minor version that it is for ("3.12"). fresh: a new environment, for which the newest is taken.
    """
    if facts.host.macos_version is None:
        return NoTorch(
            "the version of macOS is not known (sw_vers tells it), and it decides which torch can use the GPU"
        )
    kept = None if fresh or NEED_ANOTHER_TORCH & set(causes) else _installed_and_good(facts, python, machine)
    release = kept or best_release(facts.host, python, machine)
    if release is None:
        return _none(facts.host, python, machine)
    return Stack(
        release.version,
        _companions(facts, release, causes),
        _numpy(facts, release),
        _why(facts.host, release, kept, machine, python),
    )


def _installed_and_good(facts: Facts, python: str | None, machine: str) -> Release | None:
    version = facts.torch.version or facts.packages.version("torch") or ""
    found = releases.release(version)
    if found is None or versions.stable(version) is None or is_bad(version, facts.host):
        return None
    running = versions.macos(facts.host.macos_version)
    if machine == "arm64" and (running is None or not versions.macos_in(running, found.mps_floor, None)):
        return None
    return found if python in found.pythons(machine) else None


def _companions(facts: Facts, release: Release, causes: Collection[str]) -> tuple[tuple[str, str], ...]:
    found = companions.companions(release.version)
    if found is None:
        return ()
    pairs = zip(COMPANIONS, found, strict=True)
    return tuple((name, version) for name, version in pairs if _is_wanted(facts, name, causes))


def _is_wanted(facts: Facts, name: str, causes: Collection[str]) -> bool:
    """Installed, by whatever tool; or the one that a mismatch is nearly always about, where no list tells."""
    if facts.packages.get(name) is not None or facts.conda.get(name) is not None:
        return True
    listed = facts.packages.distributions is not None or facts.conda.packages is not None
    return name == "torchvision" and "companion-version-mismatch" in causes and not listed


def _numpy(facts: Facts, release: Release) -> str | None:
    """torch up to 2.2.2 needs NumPy 1; NumPy is no dependency of torch, so that nothing else would see to it."""
    if release.numpy2_abi is not False:
        return None
    wanted = facts.packages.get("numpy") is not None or facts.packages.get("torchvision") is not None
    return "numpy<2" if wanted or facts.packages.distributions is None else None


def _why(host: Host, release: Release, kept: Release | None, machine: str, python: str | None) -> str:
    if kept is not None:
        return "the installed release, which suits this Mac"
    if machine == "x86_64":
        return "the newest that Intel Macs have; its GPU support is not to be relied on there"
    newest = releases.newest()
    if release.version == newest.version:
        return f"the newest; its GPU support needs macOS {release.mps_floor}"
    why = f"the newest whose GPU support runs on macOS {host.macos_version}"
    best, any_newest = best_release(host, None, machine), releases.newest_for(host.macos_version, None, machine)
    if best is not None and best.version != release.version:
        return f"{why} and that has a build for Python {python}"
    sound = any_newest is None or any_newest.version == release.version
    return why if sound else f"{why} and that is not known to be bad there"


def _none(host: Host, python: str | None, machine: str) -> NoTorch:
    other = fitting_python(host, machine)
    if other is None:
        return NoTorch(f"no torch has GPU support that runs on macOS {host.macos_version}")
    best = best_release(host, other, machine)
    which = f"torch {best.version}, the newest for macOS {host.macos_version}" if best else "torch"
    return NoTorch(f"{which}, has no build for Python {python}; Python {other} would do", other)


def fitting_python(host: Host, machine: str) -> str | None:
    """Return the Python to take for the newest torch that this Mac can use: the last but one that it has builds for.

    The very newest Python often lacks wheels of other packages.
    """
    best = best_release(host, None, machine)
    if best is None:
        return None
    minors = sorted((m for m in best.pythons(machine) if not m.endswith("t")), key=lambda m: int(m.split(".")[1]))
    usable = [minor for minor in minors if best_release(host, minor, machine) is not None]
    return usable[-2] if len(usable) > 1 else (usable[-1] if usable else None)
