"""Texts that are hard for a regular expression, made from the expression itself, and how its time grows with them."""

from __future__ import annotations

import ast
import importlib
import inspect
import pkgutil
import re
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from types import ModuleType
from typing import Any

try:
    from re import _parser as sre
except ImportError:  # Python 3.10
    import sre_parse as sre  # type: ignore[no-redef]

SPAN = 3_000  # characters; a search that looks at each pair of places needs tenths of a second for as many
QUICK = 0.004  # seconds; what is done in less at SPAN cannot grow with the square of the length
RUNAWAY = 0.2  # seconds for at most SPAN characters; beyond any doubt, so that a test fails and does not hang
# An expression that doubles its time with each character shows itself by small steps, long before it hangs.
LADDER = (12, 16, 20, 24, 30, 60, 200, 800)
_ANCHORED = {"match", "fullmatch"}
_CATEGORIES = {"CATEGORY_DIGIT": "7", "CATEGORY_SPACE": " ", "CATEGORY_WORD": "a", "CATEGORY_NOT_SPACE": "a",
               "CATEGORY_NOT_DIGIT": "a", "CATEGORY_NOT_WORD": "-"}  # fmt: skip


@dataclass(frozen=True)
class Written:
    """An expression, where it stands, and whether it is only ever tried at the beginning of a text."""

    pattern: re.Pattern[str]
    place: str
    anchored: bool = False

    def run(self, text: str) -> None:
        """Look for it everywhere in the text, or at the beginning alone."""
        if self.anchored:
            self.pattern.match(text)
            return
        for _ in self.pattern.finditer(text):
            pass


def patterns_of(value: object) -> Iterator[re.Pattern[str]]:
    """Every compiled expression in a value: alone, in a list, among the keys and values of a dictionary."""
    if isinstance(value, re.Pattern) and isinstance(value.pattern, str):
        yield value
    elif isinstance(value, dict):
        yield from patterns_of([*value.keys(), *value.values()])
    elif isinstance(value, (list, tuple, set, frozenset)):
        for one in value:
            yield from patterns_of(one)


def modules(package: ModuleType) -> Iterator[ModuleType]:
    """A package and the modules in it."""
    yield package
    for found in pkgutil.iter_modules(package.__path__):
        yield importlib.import_module(f"{package.__name__}.{found.name}")


def written_in(module: ModuleType) -> Iterator[Written]:
    """The expressions of a module: those that it keeps, and those that stand in calls like re.search(r"...", text)."""
    tree = ast.parse(inspect.getsource(module))
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)]
    used: dict[str, set[str]] = {}
    for call in calls:
        assert isinstance(call.func, ast.Attribute)
        owner = call.func.value.id if isinstance(call.func.value, ast.Name) else ""
        used.setdefault(owner, set()).add(call.func.attr)
        first = call.args[0] if call.args else None
        constant = isinstance(first, ast.Constant) and isinstance(first.value, str)
        if (
            owner == "re"
            and call.func.attr not in ("compile", "escape")
            and constant
            and isinstance(first, ast.Constant)
        ):
            yield Written(re.compile(first.value), f"{module.__name__}:{call.lineno}", call.func.attr in _ANCHORED)
    for name, value in vars(module).items():
        for pattern in patterns_of(value) if not name.startswith("__") else ():
            anchored = bool(used.get(name)) and used[name] <= _ANCHORED
            yield Written(pattern, f"{module.__name__}.{name}", anchored)


def hostile(pattern: re.Pattern[str]) -> list[tuple[str, str, str]]:
    """Texts as (before, unit, behind): the unit is repeated, at will, where the expression itself repeats.

    The expression's own beginning comes before, so that the search gets that far, and something that does not fit
    behind: a near miss. Also the beginning itself again and again.
    """
    found = {("", "a", "\x00"), ("", " ", "\x00"), ("", "7", "\x00"), ("", "-", "\x00"), ("", "aA1._- ", "\x00")}
    whole = sre.parse(pattern.pattern, pattern.flags)
    for before, unit in _repeats(whole, ""):
        found |= {("", unit, "\x00"), (before, unit, "\x00"), ("", before + unit, "\x00"), (before, unit, "\n")}
    sample = _sample(whole)
    if sample:
        found |= {("", sample[:-1] + "\x01", ""), ("", sample[: len(sample) // 2 + 1], "\x00"), ("", sample, "\x00")}
    return sorted(one for one in found if one[1])


def growth(written: Written, before: str, unit: str, behind: str) -> float:
    """How many times as long twice the text takes; about 2 where the time grows with the length, 4 with its square."""
    for size in LADDER:
        if seconds(written, before, unit, behind, size, 1) > RUNAWAY:
            return float("inf")
    first = seconds(written, before, unit, behind, SPAN, 1)
    if first < QUICK or first > RUNAWAY:
        return 1.0 if first < QUICK else float("inf")
    once = seconds(written, before, unit, behind, SPAN, 3)
    return seconds(written, before, unit, behind, 2 * SPAN, 3) / max(once, 1e-9)


def seconds(written: Written, before: str, unit: str, behind: str, size: int, rounds: int) -> float:
    """The shortest time of this thread alone: what else runs on the machine does not count."""
    text = before + unit * (size // len(unit) + 1) + behind
    taken = []
    for _ in range(rounds):
        started = time.thread_time()
        written.run(text)
        taken.append(time.thread_time() - started)
    return min(taken)


def _repeats(parsed: Iterable[tuple[Any, Any]], before: str) -> Iterator[tuple[str, str]]:
    """Each repetition: a text that leads to it, and one that it accepts."""
    for operator, argument in parsed:
        name = str(operator)
        if name in ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"):
            _, most, body = argument
            if most > 1:
                yield from ((before, unit) for unit in _units(body))
            yield from _repeats(body, before)
        elif name == "SUBPATTERN":
            yield from _repeats(argument[-1], before)
        elif name == "BRANCH":
            for branch in argument[1]:
                yield from _repeats(branch, before)
        elif name in ("ASSERT", "ASSERT_NOT"):
            yield from _repeats(argument[1], before)
        elif name == "ATOMIC_GROUP":
            yield from _repeats(argument, before)
        before += _sample([(operator, argument)])


def _units(body: Iterable[tuple[Any, Any]]) -> set[str]:
    """What one turn of a repetition accepts: a sample, and each character of a class."""
    items = list(body)
    found = {_sample(items)}
    if len(items) == 1 and str(items[0][0]) == "IN":
        found |= {_of_class([one]) for one in items[0][1] if str(one[0]) != "NEGATE"}
        found |= {char for char in "a7 -._/'\"([" if re.fullmatch(_class_text(items[0][1]), char)}
    return {unit for unit in found if unit}


def _class_text(members: Iterable[tuple[Any, Any]]) -> str:
    parts = []
    for operator, argument in members:
        name = str(operator)
        if name == "NEGATE":
            parts.insert(0, "^")
        elif name == "LITERAL":
            parts.append(re.escape(chr(argument)))
        elif name == "RANGE":
            parts.append(f"{re.escape(chr(argument[0]))}-{re.escape(chr(argument[1]))}")
        else:
            letter = {"DIGIT": "d", "SPACE": "s", "WORD": "w"}[str(argument).rsplit("_", 1)[1]]
            parts.append(f"\\{letter.upper() if '_NOT_' in str(argument) else letter}")
    return f"[{''.join(parts)}]"


def _sample(parsed: Iterable[tuple[Any, Any]]) -> str:
    """A text that the expression, or a part of it, accepts; looks ahead and behind are left out of account."""
    text = ""
    for operator, argument in parsed:
        name = str(operator)
        if name == "LITERAL":
            text += chr(argument)
        elif name in ("NOT_LITERAL", "ANY"):
            text += "a" if argument != ord("a") else "b"
        elif name == "IN":
            text += _of_class(argument)
        elif name in ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"):
            text += _sample(argument[2]) * argument[0]
        elif name == "SUBPATTERN":
            text += _sample(argument[-1])
        elif name == "ATOMIC_GROUP":
            text += _sample(argument)
        elif name == "BRANCH":
            text += _sample(argument[1][0])
    return text


def _of_class(members: Iterable[tuple[Any, Any]]) -> str:
    listed = list(members)
    if any(str(operator) == "NEGATE" for operator, _ in listed):
        return next((char for char in "a7 -_;x.\n\u4e00" if re.fullmatch(_class_text(listed), char)), "\u3042")
    operator, argument = listed[0]
    name = str(operator)
    if name == "LITERAL":
        return chr(argument)
    if name == "RANGE":
        return chr(argument[0])
    return _CATEGORIES[str(argument).rsplit(".", 1)[-1]]
