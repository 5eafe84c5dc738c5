"""The registry: order, isolation, what is reached, what follows from what; and the diagnosis made of it."""

from __future__ import annotations

from datetime import date

import pytest

from mpsdoctor import Facts, Host, Torch, Trial, Verdict, check, fail, passed, skip, unknown, warn
from mpsdoctor.diagnosis import Diagnosis, diagnose, exit_code
from mpsdoctor.registry import Check, Finding, Registry, judge, order
from mpsdoctor.selection import Selection

TODAY = date(2026, 12, 1)
FACTS = Facts(host=Host(system="Darwin"))
FINE = "intel-mac"


def make(check_id: str, verdict: Verdict | Exception, family: str = "python", **options: object) -> Check:
    def function(host: Host) -> Verdict:
        if isinstance(verdict, Exception):
            raise verdict
        return verdict

    return check(check_id, family=family, cause=FINE, **options)(function)


def run(*checks: Check, selection: Selection | None = None) -> dict[str, Finding]:
    found = judge(FACTS, Registry(order(checks)), today=TODAY, selection=selection)
    return {finding.id: finding for finding in found}


def test_checks_come_in_the_order_of_the_chain_whatever_their_ids() -> None:
    checks = [make("A1", passed(), "mps"), make("Z1", passed(), "hardware"), make("M1", passed(), "python")]
    assert [item.id for item in order(checks)] == ["Z1", "M1", "A1"]


def test_a_check_comes_after_what_it_needs_and_a_circle_is_cut() -> None:
    circle = [make("A1", passed(), needs=("B1",)), make("B1", passed(), needs=("A1",))]
    assert {item.id for item in order(circle)} == {"A1", "B1"}
    assert [item.id for item in order([make("A1", passed(), needs=("B1",)), make("B1", passed())])] == ["B1", "A1"]


def test_behind_a_failed_link_nothing_is_reached_however_far() -> None:
    found = run(make("A1", fail("x")), make("B1", passed(), needs=("A1",)), make("C1", fail("y"), needs=("B1",)))
    assert [(f.outcome, f.because) for f in found.values()] == [("fail", None), ("skip", "A1"), ("skip", "A1")]


@pytest.mark.parametrize("verdict", [warn("x"), unknown("y"), skip("z"), RuntimeError("broken")])
def test_only_a_failure_breaks_the_chain(verdict: Verdict | Exception) -> None:
    found = run(make("A1", verdict), make("B1", passed(), needs=("A1",)))
    assert found["B1"].outcome == "pass"


def test_a_failure_that_another_explains_is_a_consequence_and_no_cause() -> None:
    found = run(make("A1", fail("x")), make("B1", fail("y"), explained_by=("A1",)))
    assert (found["A1"].is_root, found["B1"].is_root, found["B1"].because) == (True, False, "A1")


def test_a_warning_does_not_explain_a_failure() -> None:
    found = run(make("A1", warn("x")), make("B1", fail("y"), explained_by=("A1",)))
    assert found["B1"].is_root


def test_a_failure_does_not_follow_from_a_warning_through_another_warning() -> None:
    chain = [
        make("A1", warn("x")),
        make("B1", warn("y"), explained_by=("A1",)),
        make("C1", fail("z"), explained_by=("B1",)),
    ]
    found = run(*chain)
    assert found["B1"].because == "A1"
    assert found["C1"].is_root


def test_a_failure_whose_cause_was_not_asked_for_stands_for_itself() -> None:
    chain = [make("A1", fail("x")), make("B1", fail("y"), explained_by=("A1",))]
    found = run(*chain, selection=Selection(select=("B1",)))
    assert found["B1"].is_root


@pytest.mark.parametrize("error", [ValueError("boom"), RecursionError(), KeyError("k"), AssertionError()])
def test_a_check_that_breaks_is_a_crash_of_its_own_and_no_pass(error: Exception) -> None:
    found = run(make("A1", error), make("B1", passed()))
    assert (found["A1"].outcome, found["B1"].outcome) == ("crash", "pass")
    assert type(error).__name__ in found["A1"].verdict.detail


def test_a_check_that_answers_nonsense_is_a_crash() -> None:
    def wrong(host: Host) -> Verdict:
        return "fine"  # type: ignore[return-value]

    assert run(check("A1", family="python")(wrong))["A1"].outcome == "crash"


def test_a_check_may_only_ask_for_facts_and_stand_in_a_known_family() -> None:
    with pytest.raises(TypeError, match="weather"):
        check("A1", family="python")(lambda weather: passed())
    with pytest.raises(ValueError, match="astrology"):
        check("A1", family="astrology")


@pytest.mark.parametrize("token", ["A1", "a1", "A", "python"])
def test_selection_by_id_prefix_and_family(token: str) -> None:
    checks = [make("A1", fail("x")), make("B1", passed(), "mps")]
    assert list(run(*checks, selection=Selection(select=(token,)))) == ["A1"]
    ignored = run(*checks, selection=Selection(ignore={token: "we know"}))
    assert (ignored["A1"].outcome, ignored["A1"].verdict.detail) == ("skip", "ignored: we know")


def test_an_ignored_failure_does_not_hide_what_stands_behind_it() -> None:
    checks = [make("A1", fail("x")), make("B1", fail("y"), needs=("A1",))]
    found = run(*checks, selection=Selection(ignore={"A1": ""}))
    assert found["B1"].is_root


def diagnosis(*checks: Check, torch: Torch | None = None) -> Diagnosis:
    facts = Facts(host=Host(system="Darwin"), torch=torch or Torch())
    return diagnose(judge(facts, Registry(order(checks)), today=TODAY), facts)


USABLE = Torch(imported=True, built=True, available=True, allocation=Trial(name="allocate", outcome="pass"))


def test_unknown_never_counts_as_healthy() -> None:
    found = diagnosis(make("A1", passed()), make("B1", unknown("host.chip", ask=["sysctl"])))
    assert (found.verdict, found.mps_usable, found.ask) == ("undecided", None, ("sysctl",))


def test_healthy_needs_a_gpu_that_was_used() -> None:
    assert diagnosis(make("A1", passed()), torch=USABLE).verdict == "healthy"
    assert diagnosis(make("A1", passed()), torch=Torch(imported=True, available=True)).verdict == "undecided"


def test_a_failure_outranks_a_warning_before_it() -> None:
    warned = make("A1", warn("w"), "hardware")
    failed = make("B1", fail("f", cause="broken-venv"), "mps")
    found = diagnosis(warned, failed)
    assert [c.cause for c in found.causes] == ["broken-venv", FINE]
    assert found.verdict == "broken"


def test_one_cause_found_by_two_checks_is_one_cause() -> None:
    found = diagnosis(make("A1", fail("x")), make("B1", fail("y")))
    assert [(c.cause, c.checks) for c in found.causes] == [(FINE, ("A1", "B1"))]


def test_what_the_gpu_did_outranks_what_a_check_says_of_it() -> None:
    assert diagnosis(make("A1", fail("x", gpu=False))).mps_usable is False
    assert diagnosis(make("A1", fail("x", gpu=False)), torch=USABLE).mps_usable is True


@pytest.mark.parametrize(
    ("verdict", "fail_on", "code"),
    [
        (passed(), "error", 3),
        (warn("w"), "error", 0),
        (warn("w"), "warning", 1),
        (fail("f"), "error", 1),
        (fail("f"), "never", 0),
        (fail("f", cause="not-a-mac"), "error", 0),
    ],
)
def test_exit_codes(verdict: Verdict, fail_on: str, code: int) -> None:
    assert exit_code(diagnosis(make("A1", verdict)), FACTS, fail_on=fail_on, expect="any") == code


@pytest.mark.parametrize(("imported", "code"), [(True, 0), (False, 1), (None, 1)])
def test_expect_cpu_asks_only_whether_torch_imports(imported: bool | None, code: int) -> None:
    facts = Facts(torch=Torch(imported=imported))
    found = diagnosis(make("A1", fail("no gpu", gpu=False)))
    assert exit_code(found, facts, fail_on="error", expect="cpu") == code
