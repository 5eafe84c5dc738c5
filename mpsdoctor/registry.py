"""Finds checks by entry point, gives each the facts that its parameters name, and keeps a crash to its own check."""

from __future__ import annotations

import functools
import inspect
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from typing import Any

from mpsdoctor.facts import Facts
from mpsdoctor.plugins import docstring_sections, docstring_title, load_plugins
from mpsdoctor.selection import Selection
from mpsdoctor.verdict import CRASH, FAIL, POSSIBLE, SKIP, WARN, Verdict, capped, explains

ENTRY_POINT_GROUP = "mpsdoctor.checks"

# The chain, most fundamental first: a fault in one family explains faults behind it.
FAMILIES = (
    "hardware",
    "macos",
    "ci",
    "python",
    "environment",
    "conda",
    "packages",
    "torch",
    "mps",
    "train",
    "program",
)
SECTIONS = ("Tested", "Why", "What to do", "Source")
_SUBJECTS = ("host", "interpreter", "torch", "packages", "conda", "environment", "binaries", "messages", "smoke")
_PARAMETERS = frozenset((*_SUBJECTS, "facts", "today"))


@dataclass(frozen=True)
class Check:
    """One check: a pure function of facts, and what the registry needs to know of it.

    `needs` are the links of the chain before it: where one failed, this check is not reached. `explained_by` are
    checks whose failure makes a failure here a consequence, not a cause of its own. A check of `last_resort` is
    asked only where no other one failed.
    """

    id: str
    family: str
    function: Callable[..., Verdict]
    cause: str | None = None
    causes: tuple[str, ...] = ()  # further causes that its verdicts may name
    needs: tuple[str, ...] = ()
    explained_by: tuple[str, ...] = ()
    parameters: tuple[str, ...] = ()
    origin: str = "mpsdoctor"
    last_resort: bool = False

    def __call__(self, **facts: Any) -> Verdict:
        """Judge the given facts directly, for tests of one check."""
        return self.function(**facts)

    @functools.cached_property
    def title(self) -> str:
        """The first line of its docstring."""
        return docstring_title(self.function, self.id)

    @functools.cached_property
    def sections(self) -> Mapping[str, str]:
        """The paragraphs of its docstring by heading: Tested, Why, What to do, Source."""
        return docstring_sections(self.function, SECTIONS)


@dataclass(frozen=True)
class Finding:
    """What one check found, and `because` of which other finding, where it is only a consequence."""

    check: Check
    verdict: Verdict
    because: str | None = None

    @property
    def id(self) -> str:
        """The id of its check."""
        return self.check.id

    @property
    def outcome(self) -> str:
        """pass, warn, fail, skip, unknown or crash."""
        return self.verdict.outcome

    @property
    def cause(self) -> str | None:
        """The cause that it names, where it failed or warned."""
        return (self.verdict.cause or self.check.cause) if self.outcome in (FAIL, WARN) else None

    @property
    def is_root(self) -> bool:
        """True for a failure or warning that follows from no other."""
        return self.outcome in (FAIL, WARN) and self.because is None


def check(
    id: str,  # noqa: A002 - the word that plug-in authors expect
    *,
    family: str,
    cause: str | None = None,
    causes: Sequence[str] = (),
    needs: Sequence[str] = (),
    explained_by: Sequence[str] = (),
    last_resort: bool = False,
) -> Callable[[Callable[..., Verdict]], Check]:
    """Declare a check. Its parameters name the facts it wants: a subject of the facts, `facts`, or `today` (a date).

    Raises TypeError for a parameter that is no fact, ValueError for a family that the chain does not have.
    """
    if family not in FAMILIES:
        raise ValueError(f"check {id}: no family is called {family!r}; the families are {', '.join(FAMILIES)}")

    def declare(function: Callable[..., Verdict]) -> Check:
        parameters = tuple(inspect.signature(function).parameters)
        strangers = [name for name in parameters if name not in _PARAMETERS]
        if strangers:
            raise TypeError(
                f"check {id}: {', '.join(strangers)} is no fact; there are {', '.join(sorted(_PARAMETERS))}"
            )
        links = tuple(needs), tuple(explained_by)
        return Check(id, family, function, cause, tuple(causes), *links, parameters, last_resort=last_resort)

    return declare


@dataclass(frozen=True)
class Registry:
    """All checks in the order of the chain, and the plug-ins that could not be loaded (name -> why)."""

    checks: tuple[Check, ...]
    broken: Mapping[str, str] = field(default_factory=dict)

    def get(self, check_id: str) -> Check | None:
        """Return the check of that id, or None."""
        return next((c for c in self.checks if c.id == check_id.upper()), None)


_load_lock = threading.Lock()


def load_registry() -> Registry:
    """Load every check of every installed package. A plug-in that does not load is told, and harms no other."""
    with _load_lock:  # a second caller waits for the first instead of loading everything again
        return _load_registry()


@functools.cache
def _load_registry() -> Registry:
    found, broken = load_plugins(ENTRY_POINT_GROUP, Check, ("check", "checks"))
    return Registry(order(found.values()), broken)


def order(checks: Iterable[Check]) -> tuple[Check, ...]:
    """Sort by the chain, each check behind those that it needs or that explain it. A circle is cut, never followed."""
    ranked = sorted(checks, key=lambda c: (c.last_resort, FAMILIES.index(c.family), c.id))
    by_id = {c.id: c for c in ranked}
    placed: dict[str, Check] = {}

    def place(item: Check, above: frozenset[str]) -> None:
        if item.id in placed or item.id in above:
            return
        for needed in (*item.needs, *item.explained_by):
            if needed in by_id:
                place(by_id[needed], above | {item.id})
        placed[item.id] = item

    for item in ranked:
        place(item, frozenset())
    return tuple(placed.values())


def run_check(check_id: str, **facts: Any) -> Verdict:
    """Run one check on the given subjects; the others are empty. For tests: `run_check("PY101", host=Host(...))`.

    Raises KeyError for an id that is not registered.
    """
    found = load_registry().get(check_id)
    if found is None:
        raise KeyError(check_id)
    today = facts.pop("today", None) or date.today()
    return _call(found, Facts(**facts), today)


def _call(item: Check, facts: Facts, today: date) -> Verdict:
    values: dict[str, Any] = {"facts": facts, "today": today}
    return item.function(**{name: values[name] if name in values else getattr(facts, name) for name in item.parameters})


def judge(facts: Facts, registry: Registry, *, today: date, selection: Selection | None = None) -> tuple[Finding, ...]:
    """Run every check on the facts, and say of each failure whether it follows from one before it."""
    chosen = selection or Selection()
    findings: dict[str, Finding] = {}
    for item in registry.checks:
        reason = chosen.ignored(item)
        if reason is not None:
            findings[item.id] = Finding(item, Verdict(SKIP, f"ignored: {reason}" if reason else "ignored"))
            continue
        blocked = next((n for n in item.needs if _blocks(findings.get(n))), None)
        if blocked is not None:
            root = findings[blocked].because or blocked
            findings[item.id] = Finding(item, Verdict(SKIP, f"not reached because of {root}"), because=root)
            continue
        failed = (f.id for f in findings.values() if f.outcome == FAIL and f.is_root)
        if item.last_resort and (other := next(failed, None)) is not None:
            findings[item.id] = Finding(item, Verdict(SKIP, f"{other} accounts for it"))
            continue
        verdict = capped(_guarded(item, facts, today))
        findings[item.id] = Finding(item, verdict, _explanation(item, verdict, findings))
    return tuple(_alone(finding, findings, chosen) for finding in findings.values() if chosen.selected(finding.check))


def _alone(finding: Finding, findings: Mapping[str, Finding], chosen: Selection) -> Finding:
    """A failure that follows from a check which was not asked for stands for itself: it must not turn out green."""
    because = findings.get(finding.because) if finding.because else None
    if because is None or chosen.selected(because.check) or finding.outcome not in (FAIL, WARN):
        return finding
    return replace(finding, because=None)


def _blocks(finding: Finding | None) -> bool:
    """A guess stops nothing: what comes behind it may be certain."""
    return finding is not None and (
        (finding.outcome == FAIL and finding.verdict.confidence != POSSIBLE)
        or (finding.outcome == SKIP and finding.because is not None)
    )


def _explanation(item: Check, verdict: Verdict, findings: Mapping[str, Finding]) -> str | None:
    if verdict.outcome not in (FAIL, WARN):
        return None
    for other in item.explained_by:
        finding = findings.get(other)
        root = findings.get(finding.because or other) if finding is not None else None
        if finding is None or root is None:
            continue
        if explains(root.verdict, verdict) and (finding.because or explains(finding.verdict, verdict)):
            return root.id
    if item.last_resort and verdict.outcome == WARN:
        return next((finding.id for finding in findings.values() if finding.is_root), None)
    return None


def _guarded(item: Check, facts: Facts, today: date) -> Verdict:
    try:
        verdict = _call(item, facts, today)
    except Exception as error:
        return Verdict(CRASH, f"this check broke: {type(error).__name__}: {error}")
    if not isinstance(verdict, Verdict):
        return Verdict(CRASH, f"this check answered with {type(verdict).__name__} instead of a Verdict")  # type: ignore[unreachable]
    return verdict
