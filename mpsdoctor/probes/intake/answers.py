"""Questions to Python or the shell, with the answer on the next line or behind the question."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Sequence

from mpsdoctor.facts import Claim
from mpsdoctor.facts.messages import BY_PLACE
from mpsdoctor.knowledge import versions
from mpsdoctor.probes.intake import apply, values
from mpsdoctor.probes.intake.collector import FORM, PROSE, Collector
from mpsdoctor.probes.intake.text import Line

_PLACE = BY_PLACE.strip(" ()")
# How people say what something answers, in the languages of tickets.
_WORDS = (
    "is|are|was|were|still|also|both|too|just|says?|said|returns?|returned|gives?|gave|prints?|printed|shows?|showed|reports?"
    "|reported|outputs?|answers?|yields?|equals?|ist|sind|auch|gibt|liefert|zeigt|sagt|est|renvoie|affiche|donne|es|devuelve"
    "|返回|输出|结果|显示|打印|得到|为|為|是|也|都|了|的|均|は|が|も|と"
)
_MARKS = r"[\s:=>,`'\"()→-]{0,4}"
_LINK = rf"(?:{_MARKS}(?:{_WORDS})){{0,4}}{_MARKS}"
_VALUE = r"(?P<value>True|False|true|false)(?![A-Za-z0-9_]|\.[A-Za-z0-9])"
_CALL = (
    r"(?:torch\.|backends\.|mps\.){{0,3}}(?<!cuda\.)(?<!xpu\.)(?<!hip\.)(?<![A-Za-z0-9_])"
    r"is_(?P<{}>available|built)\b(?:\(\))?[`'\"]?"
)
_BOTH = r"(?:\s?(?:and|&|/|,|和|与|跟|und|et|y|と|or|nor)\s?[`'\"]?"
_REMARK = re.compile(rf"{_CALL.format('what')}{_BOTH}{_CALL.format('second')})?{_LINK}{_VALUE}")
_ARCHITECTURE = r"(?<![A-Za-z0-9_/.-])(?P<machine>x86[_-]64|arm64|aarch64|i386|amd64)(?![A-Za-z0-9_-])"
_ASKED = r"(?:(?<![A-Za-z0-9_.])(?:platform\.machine(?:\(\))?|uname -[mp]))"
# What platform.machine() or `uname -m` said: the value behind the question, or before it.
_OF_PYTHON = r"(?<!need )(?<!install )(?<!want )(?<!use )(?<!an )\b(?:python|interpreter|解释器)(?: \d[\d.]{0,6})? ?"
_MACHINE = {
    re.compile(rf"{_ASKED}[`'\"]?{_LINK}{_ARCHITECTURE}", re.IGNORECASE): (FORM, _PLACE),
    re.compile(
        rf"(?<!must )(?<!should )\b(?:{_WORDS}) ?[`'\"(]?{_ARCHITECTURE}[`'\")]?,? "
        rf"(?:for|from|by|in|at|with|when I run) (?:the )?[`'\"]?(?:import platform; ?)?(?:print\()?{_ASKED}",
        re.IGNORECASE,
    ): (FORM, _PLACE),
    re.compile(rf"{_OF_PYTHON}(?:{_WORDS}){_LINK}{_ARCHITECTURE}", re.IGNORECASE): (FORM, _PLACE),
    re.compile(rf"{_OF_PYTHON}{_LINK}{_ARCHITECTURE}", re.IGNORECASE): (PROSE, ""),
}
_VERSION_ANSWER = re.compile(
    rf"\b(?:py)?torch[ =:v]{{1,4}}(?P<version>{values.TORCH_VERSION})(?![\d.]*\d)[^\n;]{{0,40}}?"
    rf"is_available\b(?:\(\))?{_LINK}(?P<value>True|False)\b"
)
_LONGEST = 1_500  # characters of one line that are read
_SANDBOX = re.compile(
    r"\b(?:(?:inside|in|from|under|within|through|via|by|using) (?:the |an? |my )?(?:openai )?"
    r"(?:codex|sandbox-exec|sandbox(?:ed \w{1,12})?|seatbelt|claude code)|(?:over|via|through|by) ssh|ssh session"
    r"|sandboxed)\b|(?:通过|用|在)\s?(?:ssh|codex|沙箱|沙盒)|(?:ssh|codex|サンドボックス)\s?(?:経由|の中|越し|里|中)",
    re.IGNORECASE,
)
_DENIED = re.compile(
    r"\b(?:not|no|without|outside|never)\b[^.\n]{0,24}$|(?:没有?|不)(?:用|在|是)?[^\n]{0,4}$", re.IGNORECASE
)
Answer = Callable[[Collector, str, int], bool]


def read_answers(into: Collector, lines: Sequence[Line]) -> set[int]:
    """Read every question that is followed by its answer; return the numbers of the answers' lines."""
    taken: set[int] = set()
    for line, following in itertools.zip_longest(lines, lines[1:]):
        if "is_available" in line.text or "is_built" in line.text:
            _remark(into, line)
        if "64" in line.text or "i386" in line.text:
            _told_machine(into, line)
        if following is None or not following.text or following.prompt:
            continue
        for question, read in _QUESTIONS:
            if question.search(line.text):
                if read(into, following.text, following.number):
                    taken.add(following.number)
                break
    return taken


def _remark(into: Collector, line: Line) -> None:
    for found in _REMARK.finditer(line.text):
        # Who names the function quotes its answer: that is more than a story, and no tool's own output.
        for name in filter(None, (found["what"], found["second"])):
            into.put("torch", name, found["value"].lower() == "true", line.number, FORM, how=_PLACE)


def _told_machine(into: Collector, line: Line) -> None:
    for pattern, (rank, how) in _MACHINE.items():
        found = pattern.search(line.text)
        if found is not None:
            machine = apply.architecture(found["machine"])
            into.put("interpreter", "machine", machine, line.number, rank, how=how)
            if machine == "arm64":
                into.put("host", "arm64_capable", True, line.number, rank, how=how)
            return


def read_versions(into: Collector, lines: Sequence[tuple[int, str]]) -> None:
    """Read is_available() beside several versions of torch: an older one that has it and a newer one that has not."""
    told = [
        (found["version"], found["value"] == "True", number, text)
        for number, text in lines
        if "is_available" in text
        for found in _VERSION_ANSWER.finditer(text[:_LONGEST])
    ]
    have = [version for version, available, _, _ in told if available]
    for version, available, number, text in told:
        older = next((one for one in have if versions.at_least(version, one) and one != version), None)
        if not available and older is not None:
            parts = {"older": older, "newer": version}
            into.claims.insert(0, Claim(id="mps-lost-by-upgrade", text=text[:300].strip(), line=number, values=parts))
            return


def read_sandbox(into: Collector, text: str, line: int) -> None:
    """Read that a program runs inside of a sandbox or over ssh, which can hide the GPU from it."""
    found = _SANDBOX.search(text)
    if found is not None and not _DENIED.search(text[: found.start()]):
        into.put("environment", "sandbox", found[0][:40].strip(), line, PROSE)


def _boolean(name: str) -> Answer:
    def read(into: Collector, text: str, line: int) -> bool:
        if text in ("True", "False"):
            into.put("torch", name, text == "True", line, FORM, how=_PLACE)
            return True
        return False

    return read


def _number(subject: str, name: str) -> Answer:
    def read(into: Collector, text: str, line: int) -> bool:
        if text in ("0", "1"):
            into.put(subject, name, text == "1", line, FORM, how=_PLACE)
            return True
        return False

    return read


def _machine(subject: str) -> Answer:
    def read(into: Collector, text: str, line: int) -> bool:
        machine = apply.architecture(text) if re.fullmatch(r"['\"]?\w{4,8}['\"]?", text) else None
        into.put(subject, "machine", machine, line, FORM, how=_PLACE)
        return machine is not None

    return read


def _torch(into: Collector, text: str, line: int) -> bool:
    version = values.torch_version(text) if re.fullmatch(r"['\"]?[012]\.[\w.+]{2,40}['\"]?", text) else None
    into.put("torch", "version", version, line, FORM, how=_PLACE)
    return version is not None


def _macos(into: Collector, text: str, line: int) -> bool:
    found = re.fullmatch(r"['\"]?(\d{2}\.\d{1,2}(?:\.\d{1,2})?)['\"]?", text)
    if found:
        apply.macos(into, found[1], line, FORM, bare=True)
    return found is not None


def _uname(into: Collector, text: str, line: int) -> bool:
    if text in ("arm64", "x86_64"):
        into.put("host", "machine", text, line, FORM, how=_PLACE)
        if text == "arm64":
            into.put("host", "arm64_capable", True, line, FORM, how=_PLACE)
        return True
    return False


_QUESTIONS: tuple[tuple[re.Pattern[str], Answer], ...] = (
    (re.compile(r"mps\.is_available\(\)\W{0,3}$"), _boolean("available")),
    (re.compile(r"mps\.is_built\(\)\W{0,3}$"), _boolean("built")),
    (re.compile(r"torch\.__version__\W{0,3}$"), _torch),
    (re.compile(r"platform\.machine\(\)\W{0,3}$"), _machine("interpreter")),
    (re.compile(r"sw_vers -productVersion$"), _macos),
    (re.compile(r"(?:^|\s)(?:uname -m|arch)$"), _uname),
    (re.compile(r"sysctl (?:-n|-in) hw\.optional\.arm64$"), _number("host", "arm64_capable")),
    (re.compile(r"sysctl (?:-n|-in) sysctl\.proc_translated$"), _number("host", "shell_translated")),
)
