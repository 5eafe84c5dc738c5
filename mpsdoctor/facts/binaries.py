"""Executable files: what their headers say of architecture, deployment target and what they link."""

from __future__ import annotations

from dataclasses import dataclass

from mpsdoctor.facts.codec import Subject

METAL_FRAMEWORKS = ("Metal", "MetalPerformanceShaders", "MetalPerformanceShadersGraph")


@dataclass(frozen=True, kw_only=True)
class Binary:
    """One file. `kind` is mach-o, universal, elf, pe, script, truncated, missing, loop, unreadable or other."""

    path: str
    role: str = "other"  # interpreter, torch, torch-extension, openmp, numpy, torchvision, torchaudio, extension
    kind: str = "other"
    architectures: tuple[str, ...] = ()
    minimum_macos: str | None = None
    sdk: str | None = None
    libraries: tuple[str, ...] = ()
    weak_libraries: tuple[str, ...] = ()
    rpaths: tuple[str, ...] = ()
    problem: str | None = None

    @property
    def is_macho(self) -> bool:
        """True for a readable Mach-O file, thin or universal."""
        return self.kind in ("mach-o", "universal")

    @property
    def metal_frameworks(self) -> tuple[str, ...]:
        """The Metal frameworks that it links, weakly or not."""
        linked = {path.rsplit("/", 1)[-1] for path in (*self.libraries, *self.weak_libraries)}
        return tuple(name for name in METAL_FRAMEWORKS if name in linked)


@dataclass(frozen=True, kw_only=True)
class Binaries(Subject):
    """The files of the target that decide: the interpreter, torch's libraries, OpenMP runtimes, key extensions."""

    files: tuple[Binary, ...] | None = None

    def by_role(self, *roles: str) -> tuple[Binary, ...]:
        """Return the files of these roles."""
        return tuple(binary for binary in self.files or () if binary.role in roles)
