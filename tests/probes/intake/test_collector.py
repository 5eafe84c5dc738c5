"""The stronger statement wins, agreement keeps the longer value, and what contradicts is kept and told."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mpsdoctor.facts import CondaPackage
from mpsdoctor.probes.intake.collector import FORM, IMPLIED, PRINTED, PROSE, Collector

RANKS = (PROSE, FORM, IMPLIED, PRINTED)


def collected(*statements: tuple[str, int]) -> Collector:
    into = Collector()
    for line, (value, rank) in enumerate(statements, 1):
        into.put("host", "macos_version", value, line, rank)
    return into


@pytest.mark.parametrize(("weak", "strong"), list(itertools.combinations(RANKS, 2)))
def test_the_stronger_wins_in_either_order(weak: int, strong: int) -> None:
    for statements in ([("14.5", weak), ("15.1", strong)], [("15.1", strong), ("14.5", weak)]):
        found = collected(*statements).facts()
        assert found.host.macos_version == "15.1"
        (told,) = found.messages.contradictions or ()
        assert (told.fact, told.values) == ("host.macos_version", ("15.1", "14.5"))


def test_of_two_equally_strong_the_first_stands() -> None:
    assert collected(("14.5", FORM), ("15.1", FORM)).facts().host.macos_version == "14.5"


@pytest.mark.parametrize("order", list(itertools.permutations(["14", "14.5", "14.5.1"])))
def test_what_says_more_is_no_contradiction(order: tuple[str, ...]) -> None:
    found = collected(*((value, FORM) for value in order)).facts()
    assert found.host.macos_version == "14.5.1"
    assert found.messages.contradictions is None


def test_a_prefix_of_a_number_is_another_number() -> None:
    assert collected(("14.1", FORM), ("14.10", FORM)).facts().messages.contradictions is not None


def test_a_story_is_marked_as_told_and_a_form_is_not() -> None:
    assert collected(("14.5", PROSE)).facts().host.sources["macos_version"] == "line 1 (told)"
    assert collected(("14.5", FORM)).facts().host.sources["macos_version"] == "line 1"
    assert collected(("14.5", PROSE), ("14.5", PRINTED)).facts().host.sources["macos_version"] == "line 2"


def test_how_it_was_found_stands_in_the_source() -> None:
    into = Collector()
    into.put("interpreter", "machine", "x86_64", 7, IMPLIED, how="a path")
    assert into.facts().interpreter.sources["machine"] == "line 7 (a path)"
    assert (into.line("interpreter", "machine"), into.rank("interpreter", "machine")) == (7, IMPLIED)
    into.drop("interpreter", "machine")
    assert (into.get("interpreter", "machine"), into.line("interpreter", "machine")) == (None, 1)
    assert into.rank("interpreter", "machine") == -1


def test_unknown_says_nothing() -> None:
    into = Collector()
    into.put("torch", "available", None, 1, PRINTED)
    into.put("torch", "available", False, 2, FORM)
    assert into.facts().torch.available is False


def test_packages_keep_the_stronger_version_under_one_name() -> None:
    into = Collector()
    into.package("Torch_Vision", "0.1", 3, FORM)
    into.package("torch-vision", "0.2", 4, PRINTED)
    into.package("torch.vision", "0.3", 5, FORM)
    found = into.facts().packages
    assert found.version("torch-vision") == "0.2"
    assert found.partial is True
    into.whole_list = True
    assert into.facts().packages.partial is None


def test_a_list_without_end_is_cut() -> None:
    into = Collector()
    for number in range(5_000):
        into.package(f"package-{number}", "1", number + 1, PRINTED)
        into.conda_package(CondaPackage(name=f"package-{number}"))
    assert len(into.facts().packages.distributions or ()) == len(into.facts().conda.packages or ()) == 2_000


def test_the_first_value_of_a_variable_counts() -> None:
    into = Collector()
    into.variable("PYTORCH_ENABLE_MPS_FALLBACK", "1", 9)
    into.variable("PYTORCH_ENABLE_MPS_FALLBACK", "0", 4)
    found = into.facts().environment
    assert dict(found.variables or {}) == {"PYTORCH_ENABLE_MPS_FALLBACK": "1"}
    assert found.sources["variables"] == "line 4"


@given(st.lists(st.tuples(st.sampled_from(["14.5", "15.1", "15", "26.0"]), st.sampled_from(RANKS)), min_size=1))
def test_the_value_is_always_one_of_the_strongest(statements: list[tuple[str, int]]) -> None:
    found = collected(*statements).facts().host.macos_version
    strongest = max(rank for _, rank in statements)
    # A weaker statement that only says more of the same lengthens it.
    assert any(found is not None and found.startswith(value) for value, rank in statements if rank == strongest)


def test_what_was_dropped_is_contradicted_by_nothing() -> None:
    into = collected(("14.5", FORM), ("15.1", FORM))
    into.drop("host", "macos_version")
    found = into.facts()
    assert (found.host.macos_version, found.messages.contradictions) == (None, None)
    into.put("host", "macos_version", "13.0", 3, FORM)
    assert into.facts().messages.contradictions is None
