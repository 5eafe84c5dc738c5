"""What people tell in their own words: machines, versions, symptoms, speeds. Weak evidence, and marked as such."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence

from mpsdoctor.facts import Claim
from mpsdoctor.knowledge import symptoms
from mpsdoctor.probes.intake import apply, speeds, values
from mpsdoctor.probes.intake.answers import read_sandbox
from mpsdoctor.probes.intake.collector import PROSE, Collector

_SHOWN = 300
_PER_SYMPTOM = 2
_MOST_LINES = 150  # at each end of a long text; nobody tells a story in the midst of a log
_LONGEST = 1_500  # characters of one paragraph that are read
# Lines of code, paths and tracebacks are no prose.
_CODE = re.compile(
    r"^\s*(?:File \"|Traceback|import \w|from \w[\w.]* import|def |class |return\b|if .*:$|else:|for .*:$|"
    r"with .*:$|print\(|raise |[a-z_][\w.]{0,40} ?= ?\S|"
    r"pip3? install|conda (?:install|create)|uv (?:pip|add|sync)|"
    r"python3? (?:-|[\w./~-]{1,80}\.py\b)|\^+$|[~^]+$|@)"
)
_ERROR = re.compile(
    r"\b[A-Z]\w{2,40}(?:Error|Exception|Warning)\b|\berror:|\bERROR\b|^\s*at /|failed assertion|Traceback"
)
_VIRTUAL = re.compile(
    r"\bgithub[- ]hosted\b|\bmacos-1[1-9](?:-\w{1,8})?\b[^\n]{0,24}\brunners?\b|\brunners?\b[^\n]{0,"
    r"24}\bmacos-(?:1[1-9]|26|latest)\b|\bruns-on: macos|"
    r"\b(?:utm|tart|parallels|vmware fusion|virtualbuddy|anka)\b[^\n]{0,30}\b(?:vm|guest|mac\s?os|virtual)"
    r"\b|\b(?:in|inside|on) an? (?:mac\s?os )?(?:vm|virtual machine)\b|虚拟机|仮想マシン|virtuellen maschine",
    re.IGNORECASE | re.ASCII,
)
_ROSETTA = re.compile(
    r"\b(?:under|through|via|with|using|in) rosetta\b|rosetta\s?(?:模式|转译|下)|转译运行|rosetta で",
    re.IGNORECASE | re.ASCII,
)
_NIGHTLY = re.compile(
    r"(?<![\w/])(?:py)?torch\b[^\n.,;，]{0,16}\bnightly\b|\bnightly\b[^\n.,;，]{0,16}\b(?:py)?torch\b",
    re.IGNORECASE | re.ASCII,
)


def is_prose(text: str) -> bool:
    """True for a line that a person wrote, and not for code, commands, paths or errors."""
    return bool(text) and not _CODE.match(text) and not _ERROR.search(text) and "site-packages" not in text


def is_error(text: str) -> bool:
    """True for a line with an error in it, which a person may have added to."""
    return not _CODE.match(text) and _ERROR.search(text) is not None and "site-packages" not in text


def read_prose(into: Collector, texts: Sequence[tuple[int, str]]) -> None:
    """Read lines of prose, given as (line number, text)."""
    counts: dict[str, int] = {}
    read = texts if len(texts) <= 2 * _MOST_LINES else [*texts[:_MOST_LINES], *texts[-_MOST_LINES:]]
    for (number, whole), (_, after) in itertools.pairwise([*read, (0, "")]):
        text = whole[:_LONGEST]
        apply.loose(into, text, number)
        _surroundings(into, text, number)
        read_sandbox(into, text, number)
        for row in symptoms.told(text, after[:_LONGEST]):
            counts[row.id] = counts.get(row.id, 0) + 1
            if counts[row.id] <= _PER_SYMPTOM:
                into.claims.append(Claim(id=row.id, text=text[:_SHOWN].strip(), line=number))


def read_speeds(into: Collector, texts: Sequence[tuple[int, str]]) -> None:
    """Read a speed of the CPU and one of the GPU, from any lines that name a device and a number."""
    named = speeds.beside([(number, text[:_LONGEST]) for number, text in texts])
    found = speeds.compare([text for _, text in named])
    if found is not None and found.ratio < 1:
        told = {"cpu": found.cpu, "gpu": found.gpu, "ratio": f"{found.ratio:.2g}"}
        place = next((n for n, text in named if found.gpu.split(" ")[0] in text), named[0][0])
        into.claims.insert(
            0, Claim(id="slower-on-mps", text=f"CPU {found.cpu}, GPU {found.gpu}", line=place, values=told)
        )


def _surroundings(into: Collector, text: str, number: int) -> None:
    if _VIRTUAL.search(text):
        into.put("host", "hypervisor_present", True, number, PROSE)
    if _ROSETTA.search(text):
        into.put("host", "shell_translated", True, number, PROSE)
    if _NIGHTLY.search(text) and into.get("torch", "version") is None and not values.TORCH.search(text):
        into.claims.append(Claim(id="nightly", text=text[:_SHOWN].strip(), line=number))
