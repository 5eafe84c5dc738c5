"""Which operators have a kernel for MPS, since when, and what a newer torch would change."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mpsdoctor.knowledge import operators, releases
from mpsdoctor.knowledge._data import document

TABLE = document("operators")


def test_the_lists_are_disjoint_and_of_a_release() -> None:
    assert not set(TABLE["have"]) & set(TABLE["lack"])
    assert releases.release(operators.state()) is not None
    assert len(TABLE["have"]) > 100


@pytest.mark.parametrize("name", sorted(TABLE["first"]))
def test_a_first_release_is_a_release(name: str) -> None:
    since = operators.first_release(f"aten::{name}")
    assert since is not None
    assert releases.release(since) is not None
    assert operators.newer_torch_has_it(name, since) is False


@pytest.mark.parametrize(
    "spelling", ["{}", "aten::{}", "aten::{}.out", "'aten::{}'", "`aten::{}.Tensor_Tensor_out`", "{}_"]
)
def test_an_operator_in_any_spelling(spelling: str) -> None:
    assert operators.has_mps_kernel(spelling.format("isin")) is True
    assert operators.first_release(spelling.format("isin")) == "2.4.0"


@pytest.mark.parametrize("name", ["", "aten::", "no_such_operator", "torchvision::nms"])
def test_what_nobody_knows_is_none(name: str) -> None:
    assert operators.has_mps_kernel(name) is None
    assert operators.first_release(name) is None
    assert operators.newer_torch_has_it(name, "2.0.0") is None
    assert operators.has_kernel_in(name, "2.0.0") is False


def test_a_newer_torch_helps_only_below_the_first_release() -> None:
    assert operators.newer_torch_has_it("aten::isin", "2.3.1") is True
    assert operators.newer_torch_has_it("aten::isin", "2.4.0") is False
    assert operators.newer_torch_has_it("aten::isin", None) is True
    assert operators.has_kernel_in("aten::isin", "2.4.0")
    assert not operators.has_kernel_in("aten::isin", "2.3.1")
    assert not operators.has_kernel_in("aten::isin", None)


def test_without_a_first_release_only_the_release_of_the_list_is_sure() -> None:
    name = next(one for one in TABLE["have"] if operators.first_release(one) is None)
    assert operators.has_kernel_in(name, operators.state())
    assert not operators.has_kernel_in(name, "1.13.0")
    assert operators.newer_torch_has_it(name, "1.13.0") is True
    assert operators.newer_torch_has_it(name, operators.state()) is False


def test_what_has_no_kernel_has_none_in_a_newer_torch() -> None:
    for name in TABLE["lack"][:20]:
        if operators.first_release(name) is None:
            assert operators.newer_torch_has_it(name, "2.0.0") is False


@given(st.text(max_size=60), st.one_of(st.none(), st.text(max_size=12)))
def test_any_text_is_answered(name: str, version: str | None) -> None:
    assert operators.newer_torch_has_it(name, version) in (True, False, None)
    assert operators.has_kernel_in(name, version) in (True, False)
