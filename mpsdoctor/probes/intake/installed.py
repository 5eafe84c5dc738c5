"""That torch is told or shown to be installed, or to work in another place: whoever misses it looks elsewhere then."""

from __future__ import annotations

import re
from collections.abc import Sequence

from mpsdoctor.facts import Claim
from mpsdoctor.probes.intake.collector import Collector

_SHOWN, _LONGEST = 300, 1_500  # characters of one line that are kept, and that are read
_TORCH = r"\b(?:py)?torch\b"
_INSTALLED = re.compile(
    # Tools: commands, and what they answer.
    rf"\b(?:pip3?|uv|conda|mamba|poetry|pipx|brew|pixi)\b[^\n]{{0,30}}\b(?:install|add)(?:ed|s)?\b[^\n]{{0,60}}?{_TORCH}"
    r"|Requirement already satisfied: torch\b|Successfully installed\b[^\n]{0,4000}\btorch-\d"
    r"|\b(?:pip3?|conda|uv)\b[^\n]{0,12}\b(?:freeze|list|show)\b[^\n]{0,40}?\b(?:py)?torch\b[`'\"]?"
    r"(?: is there|[ =@v]{1,3}\d)"
    # What people say.
    rf"|{_TORCH}[^\n.]{{0,24}}\b(?:is|was|have|has|already|been)\b[^\n.]{{0,12}}\binstalled\b"
    rf"|\b(?:re-?)?install(?:ed|ing)\b[^\n.]{{0,16}}{_TORCH}"
    r"|(?:已经?|装了|安装了|装好了?)[^\n]{0,8}(?:py)?torch|(?:py)?torch\s?(?:已经?|装了|安装了|装好)"
    r"|torch\s?(?:は|を)インストール(?:済|した|しま)|torch[^\n.]{0,12}\binstalliert\b"
    rf"|\b(?:ré)?installée?\b[^\n.]{{0,16}}{_TORCH}|{_TORCH}[^\n.]{{0,16}}\b(?:ré)?installée?\b"
    rf"|\b(?:re)?instal(?:ado|é|amos)\b[^\n.]{{0,16}}{_TORCH}|{_TORCH}[^\n.]{{0,16}}\binstalado\b"
    rf"|\bустановил\w{{0,2}}\b[^\n.]{{0,16}}{_TORCH}|{_TORCH}[^\n.]{{0,16}}\bустановлен\w{{0,2}}\b"
    # It works in another place.
    r"|\b(?:works?|worked|fine|succeeds?|no problem)\b[^\n.]{0,24}\b(?:terminal|shell|command line|repl|ipython|"
    r"notebook|jupyter|vs ?code|pycharm)\b"
    r"|\b(?:terminal|shell|command line|notebook|jupyter|vs ?code|pycharm)\b[^\n.]{0,16}\b(?:works?|worked|is fine)\b",
    re.IGNORECASE,
)
# Before it: advice, a question or a plan. In it or before it: a denial.
_ADVISED = re.compile(
    r"\b(?:should|must|please|need to|needs to|have to|try|can|could|may|how (?:do i|to|can i)|do i|did you|want to|"
    r"will|going to|trying to|when i|before|run|use|bitte)\b[^\n.]{0,20}$|请先?[^\n]{0,6}$|怎么[^\n]{0,6}$"
    r"|\binstall(?: \w{1,12}){0,2} (?:with|by|via|using)\b[:\s`'\"]{0,4}$",
    re.IGNORECASE,
)
_DENIED = re.compile(
    r"\b(?:not|never|without|isn't|wasn't|haven't|hasn't|didn't|don't|doesn't|no|nicht|pas)\b|没有?(?:安?装)|未安装|没有",
    re.IGNORECASE,
)
_FAILED = re.compile(
    r"^[^\n.]{0,24}\b(?:fails?|failed|fehl\w{1,9}|gives?|ends with)\b|^[^\n]{0,8}(?:失败|报错)", re.IGNORECASE
)


def read_installation(into: Collector, texts: Sequence[tuple[int, str]]) -> None:
    """Read that torch is told or shown to be installed, into whichever Python it was."""
    for number, text in texts:
        if tells_installation(text[:_LONGEST]):
            into.claims.append(Claim(id="torch-install-told", text=text[:_SHOWN].strip(), line=number))
            return


def tells_installation(text: str) -> bool:
    """Does the text tell or show that torch was installed, and neither advise, plan nor deny it?"""
    for found in _INSTALLED.finditer(text):
        before = text[max(0, found.start() - 40) : found.start()]
        denied = _DENIED.search(before[-16:]) or _DENIED.search(found[0])
        if not denied and not _ADVISED.search(before) and not _FAILED.search(text[found.end() :]):
            return True
    return False
