"""Tells the commands in a text from its words: a command that is wrapped runs something else when it is pasted."""

from __future__ import annotations

import re
from dataclasses import dataclass

_PROGRAM = (
    r"(?:[\w.~/-]{1,60}/)?(?:python3?(?:\.\d{1,2})?|pip3?|uv|conda|mamba|brew|poetry|arch|sysctl|sw_vers|softwareupdate"
    r"|mpsdoctor|export|unset|source|lipo|otool)"
)
_SHELL = rf"(?:[A-Z][A-Z0-9_]{{3,60}}=\S+ ){{0,4}}{_PROGRAM}(?= [\w./~'\"<-])"
_CODE = (
    r"(?:import \w+; |from \w+ import |[a-z_]\w{0,30} = \S|torch\.[\w.]{1,40}\([^\n]{1,80}\)$"
    r"|[a-z_]\w{0,30}(?:\.\w{1,30}){1,3}\([^\n]{0,80}\)(?:$|;)|del \w+;|if __name__ ==|DataLoader\(\.\.\.|print\(\w"
    r"|(?:sw_vers|sysctl)(?:$|;))"
)
_STARTS = re.compile(rf"{_SHELL}|{_CODE}")
_WIDE = re.compile(r" {2,}")
_LED_TO = re.compile(rf"(?<=:) (?={_SHELL})")
_QUOTED = re.compile(r"\"[^\"]{0,400}\"|'[^']{0,400}'")
# Where the words begin again: "pip install torch; or ask ...", "pip install x, then ...", behind a quoted script.
_WORDS_AGAIN = re.compile(
    r"[;,] (?=(?:or|and|then|but|else)\b)|(?<!\.)\.(?= |$)|(?<=\w): (?=\w)|(?<=\x00) (?=[a-z]{2,})"
)


@dataclass(frozen=True)
class Part:
    """One part of a text: words, which may be wrapped, or a command, which stands on a line of its own."""

    text: str
    command: bool


def parts(text: str) -> list[Part]:
    """Split a text into words and commands, in its order. Two blanks or more set a command apart from words."""
    found: list[Part] = []
    for wide in _WIDE.split(text.strip()):
        for piece in _LED_TO.split(wide):
            found += _piece(piece)
    return [part for part in _merged(found) if part.text]


def _piece(text: str) -> list[Part]:
    if not _STARTS.match(text):
        return [Part(text.strip(), command=False)]
    masked = _QUOTED.sub(lambda quoted: "\x00" * len(quoted[0]), text)
    end = _WORDS_AGAIN.search(masked)
    if end is None:
        return [Part(text.strip(), command=True)]
    return [Part(text[: end.start()].strip(), command=True), Part(text[end.end() :].strip(), command=False)]


def _merged(found: list[Part]) -> list[Part]:
    merged: list[Part] = []
    for part in found:
        if merged and not merged[-1].command and not part.command:
            stop = "." if merged[-1].text[-1:].isalnum() and part.text[:1].isupper() else ""
            merged[-1] = Part(f"{merged[-1].text}{stop} {part.text}".strip(), command=False)
        else:
            merged.append(part)
    return merged
