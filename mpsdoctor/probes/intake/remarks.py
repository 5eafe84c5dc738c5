"""What people tell in the same line as an error, before it or behind it. The tool's own words are left out."""

from __future__ import annotations

import re
from collections.abc import Iterable

from mpsdoctor.probes.intake import apply, values
from mpsdoctor.probes.intake.collector import PROSE, Collector

_LONGEST = 1_500  # characters of one line that are read
# Where a tool begins to speak.
_TOOL = re.compile(
    r"(?:\b[\w.]{1,80}\.)?\b[A-Z]\w{1,40}(?:Error|Exception|Warning)\b|\bERROR\b|\berror:|\bWARNING\b|\bTraceback \(|"
    r"× |zsh: |File \"|\bCould not find a version|\bNo matching distribution"
)
_SENTENCE = re.compile(
    r"[.!?](?=\s|$)|[;\n]|\)(?=\s*$)|(?<=[^\x00-\x7f]),|,(?= (?:on|in|with|using|my|I|(?:Apple )?M\d|[Mm]ac)\b)| - |"
    r"(?=\((?:on |my )?(?:(?:Apple )?M\d|[Mm]ac))"
)
# Sentences that tools add behind their first one.
_TOOLS_OWN = re.compile(
    r"allocat|PYTORCH_|environment variable|Current OS version|this will be slower|If you want this op|Triggered|"
    r"https?://|fall(?:ing|s)? back|^\s*(?:Please|You can|Consider|Use|Set|Did you)\b|natively|supported|requires?\b|"
    r"Requires-Python|incompatible|only has|built with|compiled|was installed|have \w+ \d",
    re.IGNORECASE,
)
_PIN = re.compile(r"[A-Za-z][\w.-]{0,60}(?:\[[\w,-]{1,40}\])?\s?[=<>~!]=\s?[\w.+*]{1,40}")
_QUOTED = re.compile(r"`[^`\n]{1,200}`|\"[^\"\n]{1,200}\"|(?<!\w)'[^'\n]{1,200}'|\(from versions:[^()]{0,20000}\)?")


def read_remarks(into: Collector, lines: Iterable[tuple[int, str, tuple[tuple[int, int], ...]]]) -> None:
    """Read lines with an error, given as (number, text, the spans of known messages in it)."""
    for number, text, spans in lines:
        for part in remarks(text[:_LONGEST], spans):
            _read(into, part, number)


def remarks(text: str, spans: Iterable[tuple[int, int]]) -> list[str]:
    """The parts of an error's line that are not the tool's: up to where it speaks, and behind its last sentence."""
    known = [span for span in spans if span[1] > span[0]]
    tool = _TOOL.search(text)
    starts = [start for start, _ in known] + ([tool.start()] if tool else [])
    if not starts:
        return [_own(text)]
    first, last = min(starts), max([end for _, end in known] or [tool.end() if tool else 0])
    parts = [text[:first]]
    end = _SENTENCE.search(text, last)
    if end is not None:
        parts += [one for one in _sentences(text[end.end() :]) if not _TOOLS_OWN.search(one)]
    return [own for part in parts if (own := _own(part))]


def _sentences(text: str) -> list[str]:
    return re.split(r"(?<=[.!?])\s|\n", text)


def _own(text: str) -> str:
    return _PIN.sub(" ", _QUOTED.sub(" ", text)).strip()


def _read(into: Collector, text: str, line: int) -> None:
    """Read a machine and its versions, and no symptoms: the error itself tells those."""
    apply.macos(into, text, line, PROSE)
    apply.hardware(into, text, line, PROSE)
    python, torch = values.PYTHON.search(text), values.TORCH.search(text)
    if python:
        apply.python(into, text[python.start() :], line, PROSE)
    if torch:
        apply.torch(into, torch["version"], line, PROSE)
