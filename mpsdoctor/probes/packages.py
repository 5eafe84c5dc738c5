"""Installed distributions, read from the metadata folders of site-packages (PEP 376, 427, 610 and setuptools' own)."""

from __future__ import annotations

import codecs
import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from mpsdoctor.facts import Distribution, normalize
from mpsdoctor.probes.files import (
    is_dir,
    is_folder,
    list_folder,
    load_json,
    read_head,
    read_text,
    shown,
    unique_folders,
    without_credentials,
)
from mpsdoctor.probes.packages_output import DETAILED, parse_pip_inspect, parse_pip_list_json, parse_uv_pip_list

__all__ = ["parse_pip_inspect", "parse_pip_list_json", "parse_uv_pip_list", "read_distributions"]

MAX_HEADER_BYTES = 1024 * 1024  # of METADATA, whose description can be of any length; torch's header has 6 kB
MAX_RECORD_BYTES = 16 * 1024 * 1024  # torch's has 1.4 MB
MAX_VALUE = 256  # characters of a name or version

_FIRST_READ = 4096  # name and version stand in the first lines
_LINE = re.compile(r"\r\n|\r|\n")
_FIELDS = frozenset((b"Name", b"Version", b"Requires-Dist"))
_EGG_NAME = re.compile(r"(?P<name>.+?)-(?P<version>[^-]+)(?:-py[\d.]+.*)?")
_EDITABLE = re.compile(r"__editable__\.(?P<name>.+)-(?P<version>[^-]+)\.pth")

# Files whose absence breaks nothing: caches, C++ headers, tests and documents that people delete to save space.
_SPARE = re.compile(rb"(?:^|/)(?:__pycache__|include|tests?|share|licenses)/|^\.\./")


def read_distributions(site_packages: Sequence[Path]) -> tuple[Distribution, ...]:
    """Return every distribution in these folders, in their order and then by name. Runs nothing and never raises.

    Two copies of one distribution are two entries. Where METADATA is gone or damaged, name and version are those of
    the folder's name. `requires` and `missing_files` are filled for torch, torchvision, torchaudio and numpy only;
    `missing_files` counts files that Python needs (no caches, headers or tests).
    """
    found: list[Distribution] = []
    for site in unique_folders(site_packages):
        found.extend(_site(site))
    return tuple(found)


def _site(site: Path) -> Iterable[Distribution]:
    editable: dict[str, Distribution] = {}
    found: list[Distribution] = []
    for entry in list_folder(site):
        name, path = entry.name, Path(entry.path)
        if name.startswith(("~", "-")):  # what pip leaves of an interrupted uninstall; no import finds it
            continue
        if name.endswith(".dist-info"):
            if is_folder(entry):
                found.append(_dist_info(path, site))
        elif name.endswith(".egg-info"):
            found.append(_egg_info(path, path / "PKG-INFO" if is_folder(entry) else path, site))
        elif name.endswith(".egg"):
            found.append(_egg_info(path, path / "EGG-INFO" / "PKG-INFO", path))
        elif name.endswith(".egg-link"):
            found.append(_egg_link(path, site))
        elif match := _EDITABLE.fullmatch(name):
            made = Distribution(name=match["name"], version=match["version"], location=shown(site), editable=True)
            editable[normalize(made.name)] = made
    found = [distribution for distribution in found if distribution.name]
    named = {normalize(distribution.name) for distribution in found}
    for distribution in found:
        known = distribution.editable is not None or normalize(distribution.name) not in editable
        yield distribution if known else replace(distribution, editable=True)
    yield from (made for name, made in editable.items() if name not in named)


@dataclass
class _Header:
    name: str | None = None
    version: str | None = None
    requires: list[str] = field(default_factory=list)


def _dist_info(folder: Path, site: Path) -> Distribution:
    present = {entry.name for entry in list_folder(folder)}
    stem_name, _, stem_version = folder.name.removesuffix(".dist-info").rpartition("-")
    name_guess = stem_name or stem_version
    detailed = normalize(name_guess) in DETAILED
    header = _header(folder / "METADATA", whole=detailed) if "METADATA" in present else _Header()
    name = header.name or name_guess
    made = Distribution(
        name=name,
        version=header.version or (stem_version if stem_name else None) or None,
        location=shown(site),
        installer=_first_line(folder / "INSTALLER") if "INSTALLER" in present else None,
        tags=_tags(folder / "WHEEL") if "WHEEL" in present else None,
    )
    # pip and uv mark what was asked for by name; other installers do not know the mark.
    if "REQUESTED" in present:
        made = replace(made, requested=True)
    elif made.installer in ("pip", "uv"):
        made = replace(made, requested=False)
    if "direct_url.json" in present:
        made = _with_direct_url(made, folder / "direct_url.json")
    if detailed:
        missing = _missing_files(folder / "RECORD", site) if "RECORD" in present else None
        requires = tuple(header.requires) if header.name else None
        made = replace(made, requires=requires, missing_files=missing)
    return made


def _header(metadata: Path, *, whole: bool) -> _Header:
    """Read the fields at the head of a METADATA file: all of them, or only until name and version are known."""
    data = read_head(metadata, _FIRST_READ) or b""
    header = _fields(data, whole=whole, cut=len(data) == _FIRST_READ)
    return header or _fields(read_head(metadata, MAX_HEADER_BYTES) or b"", whole=whole, cut=False) or _Header()


def _fields(data: bytes, *, whole: bool, cut: bool) -> _Header | None:
    """Read fields until the blank line before the description; None where the data, cut off, ends before they do."""
    header = _Header()
    lines = data.removeprefix(codecs.BOM_UTF8).splitlines()
    for line in lines[:-1] if cut else lines:
        if not line:
            return header
        # What begins with a blank goes on with the field before it: setuptools folds a whole license into one. Its
        # key is none of ours.
        key, _, rest = line.partition(b":")
        if key not in _FIELDS or not (value := rest.decode("utf-8", "replace").strip()):
            continue
        if key == b"Name":
            header.name = header.name or value[:MAX_VALUE]
        elif key == b"Version":
            header.version = header.version or value[:MAX_VALUE]
        else:
            header.requires.append(value)
        if header.name and header.version and not whole:
            return header
    return None if cut else header


def _first_line(path: Path) -> str | None:
    return ((read_text(path, 1024) or "").strip().splitlines() or [""])[0][:MAX_VALUE] or None


def _tags(wheel: Path) -> tuple[str, ...] | None:
    lines = _LINE.split(read_text(wheel) or "")
    return tuple(line[4:].strip() for line in lines if line.startswith("Tag:")) or None


def _with_direct_url(made: Distribution, path: Path) -> Distribution:
    data = load_json(read_text(path) or "")
    if not isinstance(data, dict):
        return made
    url, folder = data.get("url"), data.get("dir_info")
    return replace(
        made,
        direct_url=without_credentials(url) if isinstance(url, str) else None,
        editable=isinstance(folder, dict) and folder.get("editable") is True,
    )


def _missing_files(record: Path, site: Path) -> int | None:
    data = read_head(record, MAX_RECORD_BYTES)
    if not data:
        return None
    # As sets, and four of five lines dropped at once: torch lists 14,000 files, and a loop over them took too long.
    lines = [line for line in data.splitlines() if b"/include/" not in line and b"__pycache__/" not in line]
    names = {line.rsplit(b",", 2)[0] for line in lines}
    if b'"' in data:
        names = {name.strip(b'"').replace(b'""', b'"') for name in names}
    base = os.fsencode(site) + b"/"
    # By folder, with its slash; None: what is in it may be missing.
    folders = dict.fromkeys({name[: name.rfind(b"/") + 1] for name in names})
    for folder in folders:
        if not _SPARE.search(folder):
            folders[folder] = _names(base, folder)
    missing = 0
    for name in names.difference(*(known for known in folders.values() if known)):
        if name.endswith((b"/", b".pyc")) or not name or folders[name[: name.rfind(b"/") + 1]] is None:
            continue
        # Listed in another spelling on a file system that does not tell them apart, or really gone.
        missing += b"\0" in name or not os.access(base + name, os.F_OK)
    return missing


def _names(base: bytes, folder: bytes) -> frozenset[bytes]:
    """The files in a folder, named as RECORD names them: one listing instead of a question for each of 3,000 files."""
    try:
        return frozenset([folder + name for name in os.listdir(base + folder)])  # noqa: PTH208 - bytes, as in RECORD
    except (OSError, ValueError):
        return frozenset()


def _egg_info(folder: Path, metadata: Path, location: Path) -> Distribution:
    match = _EGG_NAME.fullmatch(folder.name.removesuffix(".egg-info").removesuffix(".egg"))
    header = _header(metadata, whole=False)
    return Distribution(
        name=header.name or (match["name"] if match else folder.name.rpartition(".")[0]),
        version=header.version or (match["version"] if match else None),
        location=shown(location),
    )


def _egg_link(link: Path, site: Path) -> Distribution:
    """A project installed with the old `setup.py develop`: the link's first line is the project's folder."""
    name = link.name.removesuffix(".egg-link")
    project = _first_line(link)
    made = Distribution(name=name, location=project or shown(site), editable=True)
    if project is None or not is_dir(Path(project)):
        return made
    for entry in list_folder(Path(project)):
        stem = entry.name.removesuffix(".egg-info")
        if stem != entry.name and normalize(stem) == normalize(name):
            return replace(made, version=_header(Path(entry.path) / "PKG-INFO", whole=False).version)
    return made
