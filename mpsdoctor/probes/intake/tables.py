"""Lists of packages as pip, uv and conda print them, and the banner lines of programs."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence

from mpsdoctor.probes.intake import apply, values
from mpsdoctor.probes.intake.collector import FORM, PRINTED, Collector
from mpsdoctor.probes.intake.conda_labels import conda_package
from mpsdoctor.probes.intake.text import Line

_PIP3 = re.compile(r"\[pip3?\] ([\w.-]{1,80})==([\w.+!]{1,60})")
_CONDA = re.compile(r"\[conda\] (\S.*)")
_PIN = re.compile(r"([A-Za-z0-9][\w.-]{0,80})==(\d[\w.+!]{0,60})")
_FREEZE_LINES = 4  # as many pins in a row are the output of pip freeze; fewer may be requirements
_WHOLE_LIST = 12
_HEADER = re.compile(r"Package\s{1,80}Version\b", re.IGNORECASE)
_CONDA_HEADER = re.compile(r"#? ?Name\s{1,60}Version\s{1,60}Build\b", re.IGNORECASE)
_ROW = re.compile(r"([A-Za-z0-9][\w.-]{0,80})\s{1,80}(\d[\w.+!]{0,60})(?:\s.*)?")
_BANNER = re.compile(
    r"Python-(?P<python>3\.\d{1,2}(?:\.\d{1,2})?) torch-(?P<torch>[\w.+]{1,40}) (?P<device>MPS|CPU|"
    r"CUDA:\d)\s?\(?(?P<chip>[^)\n]{0,40})"
)
_PYTHON_LINE = re.compile(r"^Python (3\.(?:[6-9]|1\d)\.\d{1,2}\S{0,6})(?: |$)")
_REQUIREMENT_LABEL = re.compile(r"^pip: ([\w.-]{1,80})==([\w.+!]{1,60})$")
_SHOW_NAME, _SHOW_VERSION = re.compile(r"Name: ([\w.-]{1,80})$"), re.compile(r"Version: (\d[\w.+!]{0,60})$")
_SWITCH = re.compile(r"^\S{0,4}\s{0,3}torch\s.{0,4}(\d\.\d{1,2}\.\d{1,2}\S{0,20})[>=<]=\d")


def read_tables(into: Collector, lines: Sequence[Line]) -> set[int]:
    """Read every list of packages; return the numbers of the lines that belong to one."""
    taken = _named_lists(into, lines)
    taken |= _freeze(into, lines, taken)
    taken |= _columns(into, lines, taken)
    taken |= _banners(into, lines)
    taken |= _shown(into, lines)
    return taken


def _named_lists(into: Collector, lines: Sequence[Line]) -> set[int]:
    taken = set()
    for line in lines:
        if line.text.startswith("[pip"):
            found = _PIP3.match(line.text)
            if found:
                into.package(found[1], found[2], line.number, PRINTED)
                _torch(into, found[1], found[2], line.number, FORM)
                taken.add(line.number)
        elif line.text.startswith("[conda]"):
            taken.add(line.number)
            _conda_row(into, line.text[8:], line.number)
        elif line.text.startswith("pip: ") and (pin := _REQUIREMENT_LABEL.match(line.text)):
            into.package(pin[1], pin[2], line.number, FORM)
            taken.add(line.number)
    return taken


def _conda_row(into: Collector, text: str, line: int) -> None:
    package = conda_package(text)
    if package is None:
        return
    into.put("conda", "present", True, line, PRINTED)
    into.conda_package(package)
    if package.channel == "pypi":
        into.package(package.name, package.version, line, PRINTED)
    if package.name == "pytorch":
        into.package("torch", package.version, line, PRINTED)
        _torch(into, "torch", package.version or "", line, FORM)
    if package.name in ("torchvision", "torchaudio", "numpy"):
        into.package(package.name, package.version, line, PRINTED)


def _torch(into: Collector, name: str, version: str, line: int, rank: int) -> None:
    if name == "torch":
        apply.torch(into, values.torch_version(version), line, rank)


def _freeze(into: Collector, lines: Sequence[Line], taken: set[int]) -> set[int]:
    found: set[int] = set()
    run: list[tuple[Line, re.Match[str]]] = []
    for line in (*lines, None):
        pin = _PIN.fullmatch(line.text.split(" ;")[0].rstrip(" \\")) if line and line.number not in taken else None
        if line is not None and pin is not None:
            run.append((line, pin))
            continue
        if len(run) >= _FREEZE_LINES:
            for one, match in run:
                into.package(match[1], match[2], one.number, PRINTED)
                _torch(into, match[1].lower(), match[2], one.number, FORM)
                found.add(one.number)
            into.whole_list = into.whole_list or len(run) >= _WHOLE_LIST
        run = []
    return found


def _columns(into: Collector, lines: Sequence[Line], taken: set[int]) -> set[int]:
    found: set[int] = set()
    table = ""
    rows = 0
    for line in lines:
        if _CONDA_HEADER.match(line.text):
            table, rows = "conda", 0
        elif _HEADER.match(line.text):
            table, rows = "pip", 0
        elif table and line.number not in taken:
            if not line.text or set(line.text) <= set("- #"):
                table = "" if not line.text and rows else table
                continue
            row = _ROW.fullmatch(line.text)
            if row is None:
                table = ""
                continue
            rows += 1
            found.add(line.number)
            if table == "conda":
                _conda_row(into, line.text, line.number)
            else:
                into.package(row[1], row[2], line.number, PRINTED)
                _torch(into, row[1].lower(), row[2], line.number, FORM)
            into.whole_list = into.whole_list or (table == "pip" and rows >= _WHOLE_LIST)
    return found


def _banners(into: Collector, lines: Sequence[Line]) -> set[int]:
    """Ultralytics' first line, `python --version`, and the switch lines of `yolo checks`."""
    taken = set()
    for line in lines:
        banner = _BANNER.search(line.text) if "torch-" in line.text else None
        if banner:
            apply.python(into, banner["python"], line.number, PRINTED)
            apply.torch(into, values.torch_version(banner["torch"]), line.number, PRINTED)
            apply.hardware(into, banner["chip"], line.number, PRINTED)
            if banner["device"] == "MPS":
                into.put("torch", "available", True, line.number, PRINTED, how="the program chose MPS")
            taken.add(line.number)
        elif line.text.startswith("Python 3") and _PYTHON_LINE.match(line.text):
            apply.python(into, line.text, line.number, PRINTED)
            taken.add(line.number)
        elif switch := _SWITCH.match(line.text):
            apply.torch(into, values.torch_version(switch[1]), line.number, PRINTED)
            taken.add(line.number)
    return taken


def _shown(into: Collector, lines: Sequence[Line]) -> set[int]:
    """What `pip show` prints of one package: its name, and its version on the next line."""
    taken = set()
    for line, following in itertools.pairwise(lines):
        name, version = _SHOW_NAME.match(line.text), _SHOW_VERSION.match(following.text)
        if name and version:
            into.package(name[1], version[1], line.number, PRINTED)
            _torch(into, name[1].lower(), version[1], following.number, FORM)
            taken |= {line.number, following.number}
    return taken
