"""Short plain words for a machine, an interpreter and a torch: the first lines of every format."""

from __future__ import annotations

from collections.abc import Mapping

from mpsdoctor.facts import Facts, Host, Interpreter
from mpsdoctor.facts.secrets import hide
from mpsdoctor.facts.torch import Torch

_MODELS = {
    "MacBookAir": "MacBook Air",
    "MacBookPro": "MacBook Pro",
    "MacBook": "MacBook",
    "Macmini": "Mac mini",
    "MacPro": "Mac Pro",
    "iMacPro": "iMac Pro",
    "iMac": "iMac",
    "VirtualMac": "virtual Mac",
}
_VENDORS = {
    "python.org": "python.org",
    "homebrew": "Homebrew",
    "apple": "Apple's own",
    "anaconda": "Anaconda",
    "unknown": "",
}
_GIB = 1024**3
# The kinds of redaction as one and as many.
_REMOVED = {
    "e-mail": ("e-mail address", "e-mail addresses"),
    "home": ("home folder", "home folders"),
    "host": ("host name", "host names"),
    "network-address": ("network address", "network addresses"),
    "private-host": ("private host", "private hosts"),
    "private-path": ("path on a private host", "paths on private hosts"),
    "volume": ("name of a disk", "names of disks"),
    "secret": ("secret", "secrets"),
    "serial-number": ("serial number", "serial numbers"),
    "temporary-folder": ("temporary folder", "temporary folders"),
    "token": ("token", "tokens"),
    "url-credentials": ("password in an address", "passwords in addresses"),
    "user": ("user name", "user names"),
    "uuid": ("UUID", "UUIDs"),
}


def machine_line(host: Host) -> str:
    """One line: model, chip, memory, operating system."""
    parts = []
    if host.is_mac:
        parts.append(_model(host.model))
    chip = host.chip or ""
    cores = f" ({host.gpu_cores} GPU cores)" if host.gpu_cores else ""
    parts.append(f"{chip}{cores}" if chip else "")
    if host.memory_bytes:
        parts.append(f"{host.memory_bytes / _GIB:.0f} GB")
    parts.append(_system(host))
    return ", ".join(part for part in parts if part) or "not known"


def _model(model: str | None) -> str:
    if model is None:
        return ""
    name = model.rstrip("0123456789,")
    return _MODELS.get(name, "Mac")


def _system(host: Host) -> str:
    if host.macos_version:
        return f"macOS {host.macos_version}"
    if host.is_mac:
        return "macOS (version not known)"
    where = f" in a {host.container} container" if host.container in ("docker", "podman") else ""
    where = " in a container" if host.container == "container" else where
    where = " (WSL)" if host.wsl else where
    return f"{host.system} {host.machine or ''}".strip() + where if host.system else ""


def python_line(interpreter: Interpreter, home: str | None) -> tuple[str, str]:
    """The interpreter's path, shortened by the home folder, and its version, vendor and architecture."""
    path = shorten(interpreter.executable or interpreter.prefix or "", home)
    vendor = interpreter.vendor or ""
    machine = interpreter.machine or " ".join(interpreter.binary_architectures or ())
    words = (interpreter.version or "", _VENDORS.get(vendor, vendor), machine)
    return path, ", ".join(word for word in words if word)


def torch_line(facts: Facts) -> str:
    """The torch of the target: version, kind, and whether it is installed at all."""
    torch = facts.torch
    version = torch.version or facts.packages.version("torch")
    if version is None:
        listed = facts.packages.distributions is not None and not facts.packages.partial
        known = listed or torch.imported is False
        return "not installed" if known and torch.end is None else "not known"
    return f"{version} ({torch_kind(version, torch)})"


def torch_kind(version: str, torch: Torch | None = None) -> str:
    """ "release", "nightly" or "own build", by the version's form."""
    if ".dev" in version:
        return "nightly"
    if "a0" in version or "+git" in version or (torch is not None and torch.debug):
        return "own build"
    return "release"


def shorten(path: str, home: str | None) -> str:
    """Return the path with the home folder as ~; also the neutral /Users/user of recordings."""
    for folder in (home, "/Users/user"):
        if folder and folder != "/" and (path == folder or path.startswith(folder.rstrip("/") + "/")):
            return "~" + path[len(folder.rstrip("/")) :]
    return path


def in_words(counts: Mapping[str, int]) -> str:
    """How much was removed of each kind: "3 home folders, 1 token"."""
    found = sorted((kind, count) for kind, count in counts.items() if count)
    named = ((count, _REMOVED.get(kind, (kind, kind))) for kind, count in found)
    return ", ".join(f"{count} {one if count == 1 else many}" for count, (one, many) in named) or "nothing"


def printable(text: str) -> str:
    """Return the text fit to be shown and pasted elsewhere: without the control characters and the secrets of logs."""
    return "".join(c if c.isprintable() or c == " " else _BLANKS.get(c, "\ufffd") for c in hide(text))


_BLANKS = {"\n": " ", "\t": " ", "\r": " "}
