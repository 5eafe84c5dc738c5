"""The planner: a fix that breaks harms no other, and a plug-in's fix is a fix like any other."""

from __future__ import annotations

from collections.abc import Sequence

from mpsdoctor.diagnosis import Diagnosis, FoundCause
from mpsdoctor.facts import Distribution, Facts, Packages
from mpsdoctor.repair import PlannedFix, Proposal, Refused, Situation, Step, fix
from mpsdoctor.repair.planner import make_plan
from mpsdoctor.repair.proof import changed_packages, unexpected
from mpsdoctor.repair.registry import Fixes
from tests.fixes.golden import mac, venv


@fix("sound", causes=["theirs"])
def sound(situation: Situation) -> Sequence[Proposal]:
    """A fix of a plug-in."""
    return [PlannedFix("sound", situation.cause.cause, "does it", (Step("run it", ("/bin/true",)),))]


@fix("broken", causes=["theirs", "other"])
def broken(situation: Situation) -> Sequence[Proposal]:
    """A fix with a fault of its own."""
    raise ZeroDivisionError("oh")


@fix("fresh", causes=["first"])
def fresh(situation: Situation) -> Sequence[Proposal]:
    """A new environment."""
    return [
        PlannedFix("fresh", situation.cause.cause, "anew", (Step("make it", ("/bin/true",)),), python="/new/bin/python")
    ]


@fix("variable", causes=["theirs"], packages=False)
def variable(situation: Situation) -> Sequence[Proposal]:
    """Changes no package."""
    return [PlannedFix("variable", situation.cause.cause, "unsets it", (Step("unset it", ("/bin/true",)),))]


FACTS = Facts(host=mac(), interpreter=venv())


def plan(*causes: str, fixes: tuple[object, ...] = (sound, broken), family: str = "environment") -> object:
    found = tuple(FoundCause(c, family, (), "certain", f"{c} is it", f"mend {c}") for c in causes)
    return make_plan(FACTS, Diagnosis("broken", False, found), Fixes(fixes))  # type: ignore[arg-type]


def test_a_fix_that_breaks_is_told_and_the_other_is_planned() -> None:
    made = plan("theirs")
    assert [item.fix for item in made.fixes] == ["sound"]  # type: ignore[attr-defined]
    assert made.refused == (Refused("theirs", "the fix broken broke: ZeroDivisionError: oh"),)  # type: ignore[attr-defined]


def test_a_cause_without_a_fix_is_told_with_its_remedy() -> None:
    assert [item.text for item in plan("nobody's").manual] == ["mend nobody's"]  # type: ignore[attr-defined]
    refused = plan("in the program", family="code").refused  # type: ignore[attr-defined]
    assert "no repair of the environment helps. mend in the program" in refused[0].because


def test_in_a_new_environment_only_what_is_no_package_is_mended_besides() -> None:
    made = plan("first", "theirs", fixes=(fresh, sound, variable))
    assert [item.fix for item in made.fixes] == ["fresh", "variable"]  # type: ignore[attr-defined]


def test_a_step_that_two_fixes_share_is_done_once() -> None:
    made = plan("theirs", fixes=(sound, variable, sound))
    assert [step.title for step in made.steps] == ["run it", "unset it"]  # type: ignore[attr-defined]


def test_what_changed_and_what_is_not_as_planned() -> None:
    def facts(**versions: str) -> Facts:
        return Facts(
            packages=Packages(distributions=tuple(Distribution(name=n, version=v) for n, v in versions.items()))
        )

    before, after = facts(torch="1", old="2", same="3"), facts(torch="2", new="1", same="3")
    assert changed_packages(before, after) == ("+ new 1", "- old 2", "torch 1 -> 2")
    assert unexpected(after, [("torch", "2"), ("torchvision", "9")]) == ("torchvision is missing, not 9",)
