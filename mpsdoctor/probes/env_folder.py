"""An environment read from its files alone, also one of a Mac that lies on another machine (`--env PATH`)."""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from pathlib import Path

from mpsdoctor.facts import Binaries, Binary, Conda, Facts, Host, Interpreter, Packages, Torch
from mpsdoctor.probes.binaries import find_binaries
from mpsdoctor.probes.conda import read_conda
from mpsdoctor.probes.env_layout import Layout, NotAnEnvironment, find_layout
from mpsdoctor.probes.files import exists, shown
from mpsdoctor.probes.packages import read_distributions
from mpsdoctor.probes.torch_version import read_torch_version

__all__ = ["NotAnEnvironment", "read_env"]

_SYSTEMS = {"mach-o": "Darwin", "universal": "Darwin", "elf": "Linux"}
_THIS_SYSTEM = {"darwin": "Darwin", "linux": "Linux"}.get(sys.platform)


def read_env(path: Path) -> Facts:
    """Return what the files of an environment tell: a venv, a conda prefix, a bare prefix or a site-packages folder.

    Nothing is run and nothing outside the folder is trusted: a link that leaves it may lead to a file of this machine,
    which counts only where the environment is of this machine's kind, too. `sources` gives files relative to the
    folder. Raises `NotAnEnvironment` with one plain line.
    """
    # Path.resolve would follow a link that the user named, and Path.expanduser raises for an unknown ~user.
    root = Path(os.path.abspath(os.path.expanduser(path)))  # noqa: PTH100, PTH111
    layout = find_layout(root)
    binaries = find_binaries(executable=layout.executable, site_packages=layout.site_packages, prefix=root)
    system, because = _system(layout, binaries)
    binaries = _without_strangers(layout, binaries, system)
    return Facts(
        host=Host(system=system, sources={"system": because}) if system else Host(),
        interpreter=_interpreter(layout, binaries, system),
        torch=_torch(layout, binaries),
        packages=_packages(layout),
        conda=_conda(layout),
        binaries=binaries,
        sources={"*": f"the files in {shown(root)}; nothing was run"},
    )


def _own(layout: Layout, binary: Binary) -> bool:
    """True for everything but an interpreter outside the folder. (uv may link packages from its cache.)"""
    inside = Path(os.path.realpath(binary.path)).is_relative_to(os.path.realpath(layout.root))
    return inside or binary.role != "interpreter"


def _system(layout: Layout, binaries: Binaries) -> tuple[str | None, str]:
    """Tell a Mac's tree from Linux's by its interpreter, or by what most of its own compiled files are."""
    votes: dict[str, list[Binary]] = {}
    for binary in binaries.files or ():
        system = _SYSTEMS.get(binary.kind)
        if system is None or not _own(layout, binary):
            continue
        if binary.role == "interpreter":
            votes = {system: [binary]}
            break
        votes.setdefault(system, []).append(binary)
    if not votes and layout.at_home:  # a venv without compiled packages, on the machine it was made on
        outside = [b for b in binaries.by_role("interpreter") if b.kind in _SYSTEMS]
        votes = {_SYSTEMS[outside[0].kind]: outside} if outside else {}
    counts = sorted((len(found) for found in votes.values()), reverse=True)
    if not counts or counts[1:] == counts[:1]:
        return None, ""
    system = max(votes, key=lambda name: len(votes[name]))
    kind = {"Darwin": "a Mach-O tree", "Linux": "an ELF tree"}[system]
    return system, f"{kind}, as {layout.relative(Path(votes[system][0].path))} shows"


def _without_strangers(layout: Layout, binaries: Binaries, system: str | None) -> Binaries:
    """Drop an interpreter outside the folder that need not be the environment's own.

    A venv links to its base. In a Mac's venv that lies on Linux, /usr/bin/python3 is Linux's and /opt/homebrew is not
    there; neither says anything about the venv.
    """

    def stays(binary: Binary) -> bool:
        if _own(layout, binary):
            return True
        if system not in (None, _THIS_SYSTEM):
            return False
        return layout.at_home or (system is not None and binary.kind != "missing")

    return replace(binaries, files=tuple(binary for binary in binaries.files or () if stays(binary)))


def _interpreter(layout: Layout, binaries: Binaries, system: str | None) -> Interpreter:
    sources = dict(layout.sources)
    found = next((binary for binary in binaries.by_role("interpreter") if binary.architectures), None)
    if found is not None:
        sources["binary_architectures"] = f"the header of {layout.relative(Path(found.path))}"
    base_exists = None
    # Known only on the machine and at the place that the venv was made for.
    if layout.venv_home is not None and layout.at_home and system in (None, _THIS_SYSTEM):
        base_exists = exists(Path(layout.venv_home))
        sources["base_exists"] = "whether the home of pyvenv.cfg is there"
        if layout.executable is not None and not exists(layout.executable):  # a link that leads to nothing
            base_exists = False
            sources["base_exists"] = f"where {layout.relative(layout.executable)} leads"
    return Interpreter(
        executable=shown(layout.executable) if layout.executable else None,
        version=layout.version,
        implementation=layout.implementation,
        free_threaded=layout.free_threaded,
        binary_architectures=found.architectures if found else None,
        prefix=shown(layout.root) if layout.is_prefix else None,
        venv=layout.venv,
        venv_home=layout.venv_home,
        base_exists=base_exists,
        conda=layout.conda,
        site_packages=tuple(shown(site) for site in layout.site_packages),
        externally_managed=layout.externally_managed,
        sources={"*": "the folder", **sources},
    )


def _packages(layout: Layout) -> Packages:
    source = "metadata in " + (", ".join(layout.relative(site) for site in layout.site_packages) or "no folder")
    if layout.base_unread:
        source += "; this venv also sees the packages of its base, which is not here"
    return Packages(distributions=read_distributions(layout.site_packages), sources={"distributions": source})


def _conda(layout: Layout) -> Conda:
    if not layout.is_prefix:  # a site-packages folder says nothing about the prefix around it
        return Conda()
    conda = read_conda(layout.root, home=None)
    inside = f"{shown(layout.root)}/"
    return replace(conda, sources={name: source.replace(inside, "") for name, source in conda.sources.items()})


def _torch(layout: Layout, binaries: Binaries) -> Torch:
    torch, sources = Torch(), {}
    for site in layout.site_packages:
        file = site / "torch" / "version.py"
        told = read_torch_version(file)
        if told is not None:
            torch, sources = told, {"*": layout.relative(file)}
            break
    core = next((binary for binary in binaries.by_role("torch") if "libtorch_cpu" in binary.path), None)
    if core is not None and core.is_macho:
        torch = replace(torch, built="MetalPerformanceShadersGraph" in core.metal_frameworks)
        sources["built"] = f"what {layout.relative(Path(core.path))} links"
    return replace(torch, sources=sources)
