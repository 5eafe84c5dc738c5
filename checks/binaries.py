"""Compiled files: built for the architecture of the interpreter, and finding the OpenMP runtime that they link."""

import posixpath
import re

from mpsdoctor import (
    Binaries,
    Binary,
    Conda,
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

from ._commands import reinstall

_CHAIN = ("HW101", "PY100")
_TORCH = ("torch", "torch-extension")
_CORE = (*_TORCH, "numpy", "torchvision", "torchaudio")
_FOREIGN = {"elf": "Linux", "pe": "Windows"}
# What only an import of this very interpreter loads; other libraries may be one of several for several systems.
_MODULE = re.compile(r"\.(?:cpython-\w[\w.-]*|abi3|cp\d\w*-[\w-]+)\.(?:so|pyd)$")
_NAMES_ARCHITECTURE = re.compile(r"x86_?64|amd64|arm64|aarch64|i[36]86|universal", re.IGNORECASE)
# Import names that differ from the name to install.
_PROJECTS = {
    "PIL": "pillow",
    "cv2": "opencv-python",
    "sklearn": "scikit-learn",
    "skimage": "scikit-image",
    "yaml": "PyYAML",
    "google": "protobuf",
    "Crypto": "pycryptodome",
    "_cffi_backend": "cffi",
    "functorch": "torch",
}
_MANY = 8


@check("PK106", family="packages", cause="arch-mismatch-binaries", needs=_CHAIN, explained_by=("PY101",))
def compiled_files_fit_the_interpreter(
    binaries: Binaries, conda: Conda, host: Host, interpreter: Interpreter, packages: Packages, torch: Torch
) -> Verdict:
    """The compiled packages are built for the architecture of the interpreter.

    Tested: the Mach-O headers of torch, NumPy, torchvision, torchaudio and one extension module of every other
    package, against the architecture of the interpreter's process. Not what the wheels' names say.

    Why: a process loads one architecture. Packages installed while Python ran under Rosetta, copied from another Mac or
    from Linux stop with "incompatible architecture" or "not a mach-o file".

    What to do: install just the named packages again with this interpreter.

    Source: the messages of macOS's dynamic linker; Apple's <mach-o/loader.h>.
    """
    if binaries.files is None:
        return unknown("binaries.files")
    if host.is_mac is None:
        return unknown("host.system")
    wanted = _architecture(interpreter, binaries)
    if wanted is None:
        return unknown("interpreter.machine")
    strangers = [b for b in binaries.files if b.role != "interpreter" and _cannot_load(b, wanted)]
    if torch.imported:  # then those of torch are left over from another installation, and not used
        strangers = [b for b in strangers if b.role not in _TORCH]
    if not strangers:
        return passed(f"{len(binaries.files)} files for {wanted}")
    names = sorted({_project(b, packages) for b in strangers}, key=str.lower)
    built_for = sorted({_built_for(b) for b in strangers})
    shown = ", ".join(names[:_MANY]) + (f" and {len(names) - _MANY} more" if len(names) > _MANY else "")
    known = interpreter.machine or interpreter.binary_architectures
    runs = f"This Python runs as {wanted}" if known else f"torch is built for {wanted}"
    detail = f"{runs}, and these packages are built for {' and '.join(built_for)}: {shown}."
    evidence = [Evidence("interpreter" if known else "torch", wanted, interpreter.source("machine"))]
    evidence += [Evidence("binaries.files", f"{_built_for(b)}: {b.path}", "its header") for b in strangers[:_MANY]]
    say = fail if any(b.role in _CORE for b in strangers) else warn
    torch_hit = any(b.role in _TORCH for b in strangers)
    return say(detail, evidence, [_again(names, conda, interpreter, packages)], gpu=False if torch_hit else None)


def _architecture(interpreter: Interpreter, binaries: Binaries) -> str | None:
    if interpreter.is_x86_64:
        return "x86_64"
    if interpreter.machine is not None:
        return "arm64" if interpreter.machine.startswith(("arm64", "aarch64")) else interpreter.machine
    own = {_plain(name) for name in interpreter.binary_architectures or ()}
    if len(own) == 1:
        return own.pop()
    # A universal interpreter runs as what it is started as, and files alone may hold none; torch's own library tells.
    core = [b for b in binaries.by_role("torch") if b.is_macho and len(b.architectures) == 1]
    return _plain(core[0].architectures[0]) if core else None


def _plain(architecture: str) -> str:
    """Return arm64 for arm64e and x86_64 for x86_64h: a process of the one loads code of the other."""
    return next((plain for plain in ("arm64", "x86_64") if architecture.startswith(plain)), architecture)


def _cannot_load(binary: Binary, wanted: str) -> bool:
    name = posixpath.basename(binary.path)
    if binary.kind in _FOREIGN:
        return binary.role in _CORE or bool(_MODULE.search(name))
    if not binary.is_macho or not binary.architectures:
        return False
    if wanted in {_plain(architecture) for architecture in binary.architectures}:
        return False
    return binary.role in _CORE or bool(_MODULE.search(name)) or not _NAMES_ARCHITECTURE.search(name)


def _built_for(binary: Binary) -> str:
    return _FOREIGN.get(binary.kind) or "+".join(binary.architectures)


def _project(binary: Binary, packages: Packages) -> str:
    """Return the name to install for the package that a file belongs to."""
    tail = binary.path.rpartition("site-packages/")[2]
    top = tail.split("/", 1)[0].partition(".")[0]
    return _PROJECTS.get(top, top) if packages.get(top) is None else top


def _again(names: list[str], conda: Conda, interpreter: Interpreter, packages: Packages) -> Remedy:
    known = [name for name in names if packages.get(name) is not None] or names
    return Remedy(
        f"Install {'them' if len(known) > 1 else 'it'} again with this interpreter, without the cache"
        + ("; or make the environment anew, as many are affected." if len(names) > _MANY else "."),
        reinstall(known, conda, interpreter, packages),
    )
