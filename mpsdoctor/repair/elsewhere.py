"""Asks uv whether the index has what a plan for another Mac needs, and which of the user's pins cannot be kept there.

Nothing is installed or built: uv solves for Apple's platform, that macOS and that Python, by wheels alone.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

from mpsdoctor.facts import Distribution, Facts, normalize
from mpsdoctor.probes.process import run_child
from mpsdoctor.repair.commands import environment_of
from mpsdoctor.repair.names import one_line, pinned
from mpsdoctor.repair.plan import Plan, PlannedFix, Step
from mpsdoctor.repair.resolve import WHEELS, why
from mpsdoctor.repair.wanted import STACK, machine_of

_SECONDS = 120.0
_MOST = 60  # pins that are asked for one by one
_WITH_VALUE = frozenset(
    {"--python", "--reinstall-package", "--refresh-package", "--prerelease", "--default-index", "--index-url"}
)
_NO_ANSWER = re.compile(r"no solution found|requirements are unsatisfiable", re.IGNORECASE)
_MINOR = re.compile(r"3\.\d{1,2}")
_NAME = re.compile(r"[A-Za-z0-9._-]+")


@dataclass(frozen=True)
class _Mac:
    """Whom uv solves for. `environ` are its variables, without those that would lead it astray."""

    uv: str
    platform: str
    macos: str
    environ: Mapping[str, str]

    def problem(self, requirements: Sequence[str], python: str) -> str:
        """Return why these requirements have no solution there, or nothing where they have one."""
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder, "requirements.in")
            file.write_text("".join(f"{one}\n" for one in requirements), encoding="utf-8")
            argv = [self.uv, "pip", "compile", "--quiet", "--no-annotate", "--no-header", *WHEELS,
                    "--python-platform", self.platform, "--python-version", python, str(file)]  # fmt: skip
            done = run_child(argv, timeout=_SECONDS, env=self.environ)
        return "" if done.ok else why(done) or done.end.describe()


def with_resolution_elsewhere(plan: Plan, facts: Facts, environ: Mapping[str, str], uv: str | None) -> Plan:
    """Return the plan with what the index says of it for that Mac."""
    macos = ".".join((facts.host.macos_version or "").split(".")[:2])
    if uv is None or not macos:
        missing = "uv is not here" if uv is None else "the version of macOS is not known"
        return replace(
            plan, fixes=tuple(_noted(fix, f"not checked against the index: {missing}") for fix in plan.fixes)
        )
    platform = f"{'aarch64' if machine_of(facts) == 'arm64' else 'x86_64'}-apple-darwin"
    variables = {**environment_of(Step(""), environ), "MACOSX_DEPLOYMENT_TARGET": macos}
    mac = _Mac(uv, platform, macos, variables)
    fixes, cannot_keep = [], list(plan.cannot_keep)
    for fix in plan.fixes:
        note, lost = _asked(fix, facts, mac)
        fixes.append(_noted(fix, note) if note else fix)
        cannot_keep += lost
    return replace(plan, fixes=tuple(fixes), cannot_keep=tuple(dict.fromkeys(cannot_keep)))


def _asked(fix: PlannedFix, facts: Facts, mac: _Mac) -> tuple[str, list[str]]:
    words = list(dict.fromkeys(word for step in fix.steps for word in _requirements(step)))
    python = _python(fix) or facts.interpreter.minor
    if not words or python is None:
        return "", []
    needed = [word for word in words if _name(word) in (*STACK, "numpy")]
    pins = [word for word in words if word not in needed]
    if fix.python is None:  # what is installed stays beside what is named
        named = {_name(word) for word in words}
        others = (pinned(one) for one in _users(facts) if normalize(one.name) not in named)
        pins += [pin for pin in others if pin is not None and _name(pin) not in ("pip", "setuptools", "wheel")]
    where = f"macOS {mac.macos} and Python {python}"
    problem = mac.problem([*needed, *pins], python)
    if not problem:
        return f"the index has all of it for {where}", []
    if not _NO_ANSWER.search(problem):
        return f"not checked against the index: {problem}", []
    alone = mac.problem(needed, python)
    if alone:
        return f"the index does not give it for {where}: {alone}", []
    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(lambda pin: mac.problem([*needed, pin], python), pins[:_MOST]))
    lost = [one_line(pin) for pin, answer in zip(pins, answers, strict=False) if _NO_ANSWER.search(answer)]
    together = "" if lost else f"; the other packages contradict one another: {problem.partition('Because ')[2]}"
    return f"the index has torch and what belongs to it for {where}{together}", lost


def _users(facts: Facts) -> list[Distribution]:
    """What the user asked for by name, where the installer marked that; its dependencies follow."""
    found = facts.packages.distributions or ()
    return [one for one in found if one.requested] or list(found)


def _requirements(step: Step) -> Iterator[str]:
    """Yield the requirements that a command of pip or uv names."""
    words = list(step.argv or ())
    if "pip" not in words or "install" not in words:
        return
    rest = iter(words[words.index("install") + 1 :])
    for word in rest:
        if word in _WITH_VALUE:
            next(rest, None)
        elif not word.startswith("-"):
            yield word


def _python(fix: PlannedFix) -> str | None:
    """Return the Python of a new environment ("3.12"), by the command that makes it."""
    for step in fix.steps:
        words = step.argv or ()
        if "venv" in words:
            chosen = words[words.index("--python") + 1] if "--python" in words else words[0]
            found = _MINOR.search(chosen.rpartition("/")[2])
            return found[0] if found else None
    return None


def _name(requirement: str) -> str:
    match = _NAME.match(requirement)
    return normalize(match[0]) if match else requirement


def _noted(fix: PlannedFix, note: str) -> PlannedFix:
    return replace(fix, notes=(*fix.notes, note))
