"""Settings that make an installer look for builds that no Mac has."""

import re
from collections.abc import Iterator, Mapping

from mpsdoctor import (
    Environment,
    Evidence,
    Host,
    Interpreter,
    Packages,
    Remedy,
    Torch,
    Verdict,
    check,
    fail,
    passed,
    unknown,
    warn,
)

from ._commands import pip
from ._torch import installed_version

_INDEX_VARIABLES = (
    "PIP_INDEX_URL",
    "PIP_EXTRA_INDEX_URL",
    "PIP_FIND_LINKS",
    "UV_INDEX_URL",
    "UV_EXTRA_INDEX_URL",
    "UV_DEFAULT_INDEX",
    "UV_INDEX",
    "UV_FIND_LINKS",
)
# PyTorch's own index has one folder per kind of build; macOS wheels lie in "cpu" and at the top alone.
_OTHER_INDEX = re.compile(r"download\.pytorch\.org/whl/(?:(?:nightly|test)/)?(?P<kind>(?:cu|rocm|xpu)[\w.]*)")
_OTHER_BACKEND = re.compile(r"(?:cu|rocm|xpu)[\w.]*", re.IGNORECASE)
_OTHER_PLATFORM = re.compile(r"linux|win32|win_|windows", re.IGNORECASE)
_OTHER_BUILD = re.compile(r"\+(?:cu\d|rocm|xpu)")


@check("EN103", family="environment", cause="non-mac-wheel-pin", causes=("x86-python-under-rosetta",), needs=("HW101",))
def installers_look_for_mac_builds(
    environment: Environment, host: Host, interpreter: Interpreter, packages: Packages, torch: Torch
) -> Verdict:
    """Installers look for builds of torch that a Mac can use.

    Tested: the variables that pip and uv read for their index, their torch backend and their platform; and the suffix
    of the installed version.

    Why: macOS wheels of torch carry no suffix such as +cu121 and lie in no CUDA, ROCm or XPU index: there is one macOS
    build, and MPS is in it. An installer that is sent there finds nothing, or an old version.

    What to do: remove the variable on the Mac. The ordinary index and https://download.pytorch.org/whl/cpu both have
    the macOS build.

    Source: the package index and PyTorch's own (no macOS wheel has a local version); uv's documentation of its
    variables.
    """
    version = installed_version(torch, packages)
    if host.is_mac and version and _OTHER_BUILD.search(version) and not torch.usable:
        return fail(
            f"The installed torch {version} is a build for another kind of GPU, which no Mac can use.",
            [Evidence("torch.version", version, torch.source("version") or packages.source("*"))],
            [
                Remedy(
                    "Install the ordinary build, without that suffix.",
                    (pip(interpreter, packages, "install", "--force-reinstall", "torch"),),
                )
            ],
            gpu=False,
        )
    if environment.variables is None:
        return unknown("environment.variables")
    found = list(_elsewhere(environment.variables))
    if not found:
        return _python_of_uv(environment.variables.get("UV_PYTHON", ""), environment, host)
    names = " and ".join(name for name, _ in found)
    return warn(
        f"{names} sends installers to {found[0][1]}, of which there are none for macOS.",
        [
            Evidence(f"environment.{name}", environment.variables[name], environment.source("variables"))
            for name, _ in found
        ],
        [Remedy("Remove it on this Mac.", tuple(("unset", name) for name, _ in found))],
    )


def _elsewhere(variables: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Give each variable that asks for what no Mac has, and what it asks for."""
    for name in _INDEX_VARIABLES:
        match = _OTHER_INDEX.search(variables.get(name, ""))
        if match:
            yield name, f"{match['kind']} builds"
    backend = variables.get("UV_TORCH_BACKEND", "").strip()
    if _OTHER_BACKEND.fullmatch(backend):
        yield "UV_TORCH_BACKEND", f"{backend} builds"
    for name in ("PIP_PLATFORM", "UV_PYTHON"):
        value = variables.get(name, "")
        if "/" not in value and _OTHER_PLATFORM.search(value):
            yield name, f"builds for {value}"


def _python_of_uv(value: str, environment: Environment, host: Host) -> Verdict:
    """Judge the Python that uv is to take; on Apple silicon an Intel one makes the next environment an Intel one."""
    if not (host.is_apple_silicon and "/" not in value and "x86_64" in value):
        return passed()
    return warn(
        f"UV_PYTHON={value} makes the next environment one for Intel Macs, which runs through Rosetta.",
        [Evidence("environment.UV_PYTHON", value, environment.source("variables"))],
        [Remedy("Remove it, or ask for an arm64 Python.", (("unset", "UV_PYTHON"),))],
        cause="x86-python-under-rosetta",
    )
