"""Questions to Python or the shell, with the answer on the next line or behind the question."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from mpsdoctor.facts.messages import BY_PLACE
from mpsdoctor.probes.intake import apply, values
from mpsdoctor.probes.intake.collector import FORM, PROSE, Collector
from mpsdoctor.probes.intake.text import Line

_PLACE = BY_PLACE.strip(" ()")
_REMARK = re.compile(
    r"\bis_(?P<what>available|built)\(\)[^\w\n]{0,12}(?:(?:is|returns?|gives?|prints?|shows?|返回|输出|结果|显示|為|为|是|は|gibt|liefert|ist)"
    r"[^\w\n]{0,6}(?:了|的是)?\s?)?(?P<value>True|False|true|false)\b"
)
Answer = Callable[[Collector, str, int], bool]


def read_answers(into: Collector, lines: Sequence[Line]) -> set[int]:
    """Read every question that is followed by its answer; return the numbers of the answers' lines."""
    taken: set[int] = set()
    for line, following in zip(lines, [*lines[1:], None], strict=True):
        if "is_available()" in line.text or "is_built()" in line.text:
            _remark(into, line)
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
        rank = FORM if line.prompt or line.fenced else PROSE
        into.put("torch", found["what"], found["value"].lower() == "true", line.number, rank)


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
