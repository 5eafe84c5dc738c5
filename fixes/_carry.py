"""The user's packages on their way into a new environment."""

from urllib.parse import unquote

from mpsdoctor import Distribution
from mpsdoctor.repair import Situation, Stack
from mpsdoctor.repair.names import is_name, one_line, pinned

_TOOLS = frozenset({"pip", "setuptools", "wheel"})
OTHER_PYTHON = "the other Python gets the newest versions of your packages: the old ones often have no build for it"
_STACK = frozenset({"torch", "torchvision", "torchaudio", "numpy"})
# Projects that publish no macOS wheels at all; a new environment on a Mac cannot have them.
NO_MAC_BUILD = frozenset(
    {"triton", "xformers", "bitsandbytes-cuda", "flash-attn", "deepspeed-kernels", "pytorch-triton", "cupy", "decord"}
)


def carried(situation: Situation, stack: Stack, *, versions: bool = True) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the requirements for the new environment, the stack first, and what cannot be carried over, with why.

    Only what the user asked for by name, where the installer marked that; the rest follows as dependencies.
    versions False: for another Python, for which an old version often has no build.
    """
    wanted: list[str] = list(stack.requirements)
    left: list[str] = []
    for one in _asked_for(situation.packages.distributions or ()):
        name = one.name.lower()
        if name in _TOOLS or name in _STACK - {"numpy"} or (name == "numpy" and stack.numpy):
            continue
        reason = _cannot(one)
        if reason is not None:
            left.append(f"{one_line(one.name)} ({reason})")
            continue
        requirement = _requirement(one, versions)
        if requirement not in wanted:
            wanted.append(requirement)
    return tuple(wanted), tuple(left)


def _asked_for(distributions: tuple[Distribution, ...]) -> tuple[Distribution, ...]:
    marked = any(one.requested for one in distributions)
    return tuple(one for one in distributions if one.requested or not marked)


def _cannot(one: Distribution) -> str | None:
    if not is_name(one.name):
        return "its name is no package name"
    if one.name.lower().startswith("nvidia-") or one.name.lower() in NO_MAC_BUILD:
        return "it has no build for Macs"
    if one.editable and not (one.direct_url or "").startswith("file:///"):
        return "it is installed from a folder that is not known"
    if one.direct_url and not one.editable:
        return "it was installed from an address; install it again by hand"
    return None


def _requirement(one: Distribution, versions: bool) -> str:
    if one.editable and one.direct_url:
        return f"--editable={unquote(one.direct_url.removeprefix('file://'))}"
    return (pinned(one) if versions else None) or one.name
