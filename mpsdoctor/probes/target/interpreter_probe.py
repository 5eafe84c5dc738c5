"""Runs inside the target interpreter and says what it is. Standard library only, Python 3.7 syntax.

Every question is asked on its own: one that fails costs only its own answer.
"""

from __future__ import annotations

import os
import shlex
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))  # PYTHONSAFEPATH leaves it out
import _answer

_ = _answer  # before every other import; see there
import platform
import sysconfig
from typing import TYPE_CHECKING, Any

import allow_list

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

# Modules of the standard library that torch imports early and that people often give a file's name.
STANDARD_NAMES = (
    "abc ast code collections copy csv ctypes dataclasses datetime enum functools inspect io json logging math "
    "multiprocessing numbers operator os pickle platform queue random re select signal socket statistics string struct "
    "subprocess symtable tempfile threading time token tokenize types typing uuid warnings weakref"
).split()
PACKAGE_NAMES = ("torch", "torchvision", "torchaudio", "numpy")


def translated() -> bool | None:
    """Return whether this very process runs under Rosetta (sysctl.proc_translated), None where macOS does not say."""
    if str(sys.platform) != "darwin":
        return None
    import ctypes

    library = ctypes.CDLL(None)
    value = ctypes.c_int(0)
    size = ctypes.c_size_t(ctypes.sizeof(value))
    done = library.sysctlbyname(b"sysctl.proc_translated", ctypes.byref(value), ctypes.byref(size), None, 0)
    return bool(value.value) if done == 0 else False


def read_text(path: str) -> str | None:
    """Return a small text file, or None."""
    try:
        with open(path, "rb") as file:
            return file.read(65536).decode("utf-8", "replace")
    except OSError:
        return None


def site_folders() -> list[str]:
    """Return the folders where this interpreter keeps packages, those that exist."""
    import site

    folders = list(getattr(site, "getsitepackages", list)())
    folders += [path for path in _answer.CALLERS_PATH if os.path.basename(path) in ("site-packages", "dist-packages")]
    found = []
    for path in folders:
        if path and os.path.isdir(path) and path not in found:
            found.append(path)
    return found


def shadows(packages: Sequence[str]) -> list[dict[str, str]]:
    """Return the files and folders that are found before the real package or standard module of the same name."""
    found = []
    library = os.path.dirname(os.path.abspath(os.__file__))
    for entry in _answer.CALLERS_PATH:
        folder = os.path.abspath(entry)
        if os.path.realpath(folder) == os.path.realpath(library) or folder in packages or not os.path.isdir(folder):
            continue
        if folder.startswith(os.path.realpath(sys.base_prefix) + os.sep) or folder.endswith(".zip"):
            continue
        try:
            found += shadows_in(folder)
        except OSError:  # a folder that this user may not read: Python finds nothing in it either
            continue
    return found


def shadows_in(folder: str) -> list[dict[str, str]]:
    """Return what in one folder hides a package: NAME.py, or a folder NAME that is no installed package."""
    found = []
    names = set(os.listdir(folder))
    for name in PACKAGE_NAMES + tuple(STANDARD_NAMES):
        if name + ".py" in names:
            found.append({"name": name, "path": os.path.join(folder, name + ".py"), "kind": "file"})
        inner = os.path.join(folder, name)
        if name not in names or not os.path.isdir(inner):
            continue
        if not os.path.exists(os.path.join(inner, "__init__.py")):
            continue  # a folder without __init__.py never hides an installed package
        if installed(folder, name):
            continue
        checkout = name in PACKAGE_NAMES and (
            os.path.exists(os.path.join(folder, "setup.py")) or os.path.isdir(os.path.join(folder, ".git"))
        )
        found.append({"name": name, "path": inner, "kind": "checkout" if checkout else "folder"})
    return found


def installed(folder: str, name: str) -> bool:
    """Return whether the folder holds the metadata of a distribution of that name (pip --target, PYTHONPATH)."""
    start = (name + "-", name + ".")
    return any(
        entry.lower().startswith(start) and entry.endswith((".dist-info", ".egg-info")) for entry in os.listdir(folder)
    )


def moved_from() -> str | None:
    """Return the folder that the venv's activate script names, where it is not this one: the venv was moved."""
    if sys.prefix == getattr(sys, "base_prefix", sys.prefix):
        return None
    text = read_text(os.path.join(sys.prefix, "bin", "activate")) or ""
    for line in text.splitlines():
        statement = line.strip()
        if statement.startswith(("VIRTUAL_ENV=", "export VIRTUAL_ENV=")):
            try:
                path = (shlex.split(statement.split("=", 1)[1], posix=True) or [""])[0]
            except ValueError:  # a shell would not understand it, either
                continue
            if path.startswith("/") and os.path.realpath(path) != os.path.realpath(sys.prefix):
                return path
    return None


def questions() -> dict[str, Callable[[], Any]]:
    """Return every question by the name of its answer."""
    base = getattr(sys, "base_prefix", sys.prefix)
    stdlib = sysconfig.get_paths().get("stdlib", "")
    return {
        "sys.executable": lambda: sys.executable,
        "sys.version": lambda: sys.version,
        "sys.prefix": lambda: sys.prefix,
        "sys.base_prefix": lambda: base,
        "sys._base_executable": lambda: getattr(sys, "_base_executable", None),
        "sys.platform": lambda: sys.platform,
        "sys.implementation.name": lambda: sys.implementation.name,
        "sys.version_info.releaselevel": lambda: sys.version_info.releaselevel,
        "platform.python_version": platform.python_version,
        "platform.platform": platform.platform,
        "platform.machine": platform.machine,
        "platform.processor": platform.processor,
        "platform.mac_ver": lambda: [platform.mac_ver()[0], list(platform.mac_ver()[1]), platform.mac_ver()[2]],
        "sysconfig.get_platform": sysconfig.get_platform,
        "free_threaded": lambda: bool(sysconfig.get_config_var("Py_GIL_DISABLED")),
        "real_path": lambda: os.path.realpath(sys.executable),
        "base_exists": lambda: os.path.isdir(base),
        "pyvenv.cfg": lambda: read_text(os.path.join(sys.prefix, "pyvenv.cfg")),
        "moved_from": moved_from,
        "externally_managed": lambda: os.path.exists(os.path.join(stdlib, "EXTERNALLY-MANAGED")),
        "EXTERNALLY-MANAGED (base prefix)": lambda: read_text(os.path.join(stdlib, "EXTERNALLY-MANAGED")),
        "conda-meta present": lambda: os.path.isdir(os.path.join(sys.prefix, "conda-meta")),
        "sysctl.proc_translated": translated,
        "site_packages": site_folders,
        "user_site": lambda: __import__("site").getusersitepackages(),
        "user_site_enabled": lambda: __import__("site").ENABLE_USER_SITE,
        "sys.path": lambda: list(_answer.CALLERS_PATH),
        "working_directory": os.getcwd,
        "shadows": lambda: shadows(site_folders()),
        "os.environ": lambda: allow_list.keep(os.environ),
    }


def main() -> None:
    """Answer every question; the ones that fail are told under "failed"."""
    send = _answer.open_line()
    answers, failed = {}, {}
    for name, question in questions().items():
        try:
            answers[name] = question()
        except Exception as error:
            failed[name] = "%s: %s" % (type(error).__name__, error)
    if failed:
        answers["failed"] = failed
    send(answers)


if __name__ == "__main__":
    main()
