"""Where the parts of an environment lie: venv, conda prefix, bare prefix, or a plain site-packages folder."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from mpsdoctor.probes.binaries import INTERPRETERS
from mpsdoctor.probes.files import can_list, exists, is_dir, is_folder, list_folder, read_text, shown, unique_folders

_PYTHON_FOLDER = re.compile(r"(?P<name>python|pypy)(?P<version>3(?:\.\d{1,3})?)(?P<threads>t?)")
_EXTENSION_TAG = re.compile(
    r"\.cpython-(?P<major>3)(?P<minor>\d{1,3})(?P<threads>t?)-(?:darwin|[\w-]*linux[\w-]*)\.so$"
)
_VERSION = re.compile(r"\d+\.\d+(?:\.\d+)?(?:(?:a|b|rc)\d+)?")
_PATCHLEVEL = re.compile(r'^#define\s+PY_VERSION\s+"([^"]{1,30})"', re.MULTILINE)
_ACTIVATE = re.compile(r"""^\s*(?:export\s+)?VIRTUAL_ENV=['"]?([^'"\n]+)""", re.MULTILINE)
_SITES = ("site-packages", "dist-packages")


class NotAnEnvironment(ValueError):
    """The path holds no Python environment. The message is one plain line that says what was looked for."""


@dataclass
class Layout:
    """The parts that were found. `at_home`: the environment names this very folder as its own."""

    root: Path
    site_packages: list[Path] = field(default_factory=list)
    executable: Path | None = None
    version: str | None = None
    implementation: str | None = None
    free_threaded: bool | None = None
    venv: bool | None = None
    venv_home: str | None = None
    at_home: bool = False
    sees_base: bool = False  # include-system-site-packages
    base_unread: bool = False  # it sees packages that are not in site_packages
    conda: bool | None = None
    externally_managed: bool | None = None
    sources: dict[str, str] = field(default_factory=dict)

    @property
    def is_prefix(self) -> bool:
        """True where the folder is an environment as a whole, False for a site-packages folder."""
        return self.venv is not None

    def relative(self, path: Path) -> str:
        """Return a path inside the environment as seen from there, and another one as it is."""
        relative = os.path.relpath(shown(path), shown(self.root))
        return shown(path) if relative.startswith("..") else relative

    def learn(self, source: str, **values: str | bool | None) -> None:
        """Take values that are not known yet, with their source."""
        for name, value in values.items():
            if value is not None and getattr(self, name) is None:
                setattr(self, name, value)
                self.sources[name] = source


@dataclass(frozen=True)
class _PythonFolder:
    path: Path
    numbers: tuple[int, ...]
    pypy: bool
    threads: bool


def find_layout(root: Path) -> Layout:
    """Find the parts of the environment in a folder. Raises `NotAnEnvironment`."""
    _require_folder(root)
    layout = Layout(root)
    names = {entry.name for entry in list_folder(root)}
    if "pyvenv.cfg" in names:
        _venv(layout)
    if "conda-meta" in names and is_dir(root / "conda-meta"):
        layout.learn("conda-meta", conda=True)
        _conda_python(layout)
    _prefix(layout)
    if layout.site_packages or layout.venv or layout.conda:
        layout.learn("no pyvenv.cfg", venv=False)
        layout.learn("no conda-meta folder", conda=False)
    else:
        _plain_folder(layout, names)
    _extension_tags(layout)
    layout.executable = next((root / name for name in INTERPRETERS if os.path.lexists(root / name)), None)
    return layout


def _require_folder(root: Path) -> None:
    try:
        root.stat()
    except PermissionError:
        raise NotAnEnvironment(f"{shown(root)} may not be read by this user.") from None
    except (OSError, ValueError):
        raise NotAnEnvironment(f"There is nothing at {shown(root)}.") from None
    if not is_dir(root):
        raise NotAnEnvironment(f"{shown(root)} is a file, not the folder of an environment.")
    if not can_list(root):
        raise NotAnEnvironment(f"{shown(root)} may not be read by this user.")


def _venv(layout: Layout) -> None:
    lines = (line.partition("=") for line in (read_text(layout.root / "pyvenv.cfg") or "").splitlines())
    values = {key.strip().lower(): value.strip() for key, _, value in lines}
    version = _VERSION.match(values.get("version_info") or values.get("version") or "")
    layout.learn(
        "pyvenv.cfg",
        venv=True,
        venv_home=values.get("home") or None,
        version=version[0] if version else None,
        implementation=values.get("implementation", "").lower() or None,
    )
    named = [values.get("command", "").rpartition(" ")[2]]  # "/usr/bin/python3 -m venv /the/folder"
    named += _ACTIVATE.findall(read_text(layout.root / "bin" / "activate") or "")
    layout.sees_base = values.get("include-system-site-packages", "").lower() == "true"
    own = os.path.realpath(layout.root)
    layout.at_home = any(name.startswith("/") and os.path.realpath(name.strip()) == own for name in named)


def _conda_python(layout: Layout) -> None:
    for entry in list_folder(layout.root / "conda-meta"):
        parts = entry.name.removesuffix(".json").rsplit("-", 2)
        if len(parts) == 3 and parts[0] == "python" and entry.name.endswith(".json"):
            layout.learn(
                f"conda-meta/{shown(entry.name)}",
                version=parts[1],
                implementation="pypy" if "pypy" in parts[2] else "cpython",
                free_threaded=bool(re.search(r"_cp3\d+t$", parts[2])),
            )


def _prefix(layout: Layout) -> None:
    """Find lib/pythonX.Y/site-packages: that of the known version, else the newest."""
    folders = list(_python_folders(layout.root))
    if not folders:
        return
    wanted = _wanted(layout)
    chosen = max([f for f in folders if f.numbers == wanted] or folders, key=lambda f: (f.numbers, not f.threads))
    beside = [f.path for f in folders if f.path.name == chosen.path.name]  # in lib and in lib64
    places = [folder / name for folder in beside for name in _SITES]
    layout.site_packages = unique_folders(places)
    if layout.sees_base and layout.venv_home is not None:
        base = Path(layout.venv_home).parent / "lib" / chosen.path.name
        beyond = unique_folders(base / name for name in _SITES) if layout.at_home else []
        layout.base_unread = not beyond
        layout.site_packages += beyond
    where = layout.relative(chosen.path)
    header = layout.root / "include" / chosen.path.name / "patchlevel.h"
    exact = _PATCHLEVEL.search(read_text(header) or "")
    layout.learn(layout.relative(header), version=exact[1].rstrip("+") if exact else None)
    if len(chosen.numbers) > 1:
        layout.learn(where, version=".".join(map(str, chosen.numbers)), free_threaded=chosen.threads)
    layout.learn(where, implementation="pypy" if chosen.pypy else None)
    if not layout.venv:  # pip heeds the mark of a base installation only
        layout.learn(where, externally_managed=exists(chosen.path / "EXTERNALLY-MANAGED"))


def _wanted(layout: Layout) -> tuple[int, ...]:
    link = Path(os.path.realpath(layout.root / "bin" / "python3")).name  # python3.12
    return tuple(int(part) for part in re.findall(r"\d{1,4}", layout.version or link)[:2])


def _python_folders(root: Path) -> Iterator[_PythonFolder]:
    for lib in ("lib", "lib64"):
        for entry in list_folder(root / lib):
            match = _PYTHON_FOLDER.fullmatch(entry.name)
            if match and is_folder(entry):
                numbers = tuple(int(part) for part in match["version"].split("."))
                yield _PythonFolder(Path(entry.path), numbers, match["name"] == "pypy", bool(match["threads"]))


def _plain_folder(layout: Layout, names: set[str]) -> None:
    """Take the folder itself as site-packages: wheels unpacked side by side."""
    root = layout.root
    if "site-packages" in names and is_dir(root / "site-packages"):  # lib/pythonX.Y was named
        root = root / "site-packages"
    elif not (
        any(name.endswith(".dist-info") for name in names)
        or exists(root / "torch" / "version.py")
        or (names and root.name in _SITES)
    ):
        raise NotAnEnvironment(_nothing_here(root, names))
    layout.site_packages = [root]
    match = _PYTHON_FOLDER.fullmatch(root.parent.name)
    if match and "." in match["version"]:
        layout.learn("the name of its folder", version=match["version"], free_threaded=bool(match["threads"]))


def _nothing_here(root: Path, names: set[str]) -> str:
    if not names:
        return f"{shown(root)} is empty."
    inner = [name for name in sorted(names) if exists(root / name / "pyvenv.cfg") or is_dir(root / name / "conda-meta")]
    if inner:
        return f"{shown(root)} is no Python environment itself, but {shown(root / inner[0])} is one."
    return (
        f"{shown(root)} holds no Python packages: it has no pyvenv.cfg, conda-meta, lib/pythonX.Y/site-packages "
        "or *.dist-info."
    )


def _extension_tags(layout: Layout) -> None:
    """Read the Python version from the name of torch's or numpy's extension module, where nothing else tells it."""
    for site in layout.site_packages:
        for folder in (site / "torch", site / "numpy" / "_core", site / "numpy" / "core"):
            for entry in list_folder(folder) if layout.version is None else ():
                match = _EXTENSION_TAG.search(entry.name)
                if match:
                    version = f"{match['major']}.{match['minor']}"
                    source = layout.relative(Path(entry.path))
                    layout.learn(source, version=version, free_threaded=bool(match["threads"]))
                    break
