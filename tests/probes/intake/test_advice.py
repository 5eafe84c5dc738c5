"""An assignment that a message or a guide proposes is no variable of the user's."""

import textwrap

import pytest

from mpsdoctor.probes.intake import read_ticket

HIGH = "PYTORCH_MPS_HIGH_WATERMARK_RATIO"
FALLBACK = "PYTORCH_ENABLE_MPS_FALLBACK"
OOM = (
    "RuntimeError: MPS backend out of memory (MPS allocated: 17.00 GB, other allocations: 1.00 GB, max allowed: 18.13 "
    f"GB). Tried to allocate 256.00 MB on private pool. Use {HIGH}=0.0 to disable upper limit for memory allocations "
    "(may cause system failure)."
)
MISSING = (
    "NotImplementedError: The operator 'aten::_linalg_eigvals' is not currently implemented for the MPS device. As a "
    f"temporary fix, you can set the environment variable `{FALLBACK}=1` to use the CPU as a fallback for this op. "
    "WARNING: this will be slower than running natively on MPS."
)
PROPOSED = [
    OOM,
    MISSING,
    f"They say you can set {FALLBACK}=1, but is that safe?",
    f"Should I use {FALLBACK}=1?",
    f"The guide says: please export {FALLBACK}=1",
    f"可以设置 {FALLBACK}=1 吗",
]
SET = [
    f"export {FALLBACK}=1",
    f"$ {FALLBACK}=1 python train.py",
    f"I set {FALLBACK}=1 and nothing changes.",
    f"I have tried with {FALLBACK}=1",
    f"已经设置了 {FALLBACK}=1",
    f"{MISSING} I already set {FALLBACK}=1 before that.",
    f"{MISSING}\n{FALLBACK}=1",
    f"env:\n{FALLBACK}=1\nVIRTUAL_ENV=/Users/me/v",
]


def variables(text):
    facts, _ = read_ticket(text.encode())
    return dict(facts.environment.variables or {})


@pytest.mark.parametrize("text", PROPOSED)
@pytest.mark.parametrize("width", [None, 118, 100, 80, 64])
def test_what_is_proposed_is_not_set(text, width):
    assert variables(text if width is None else textwrap.fill(text, width)) == {}


@pytest.mark.parametrize("text", SET)
def test_what_the_user_has_set_is_set(text):
    assert variables(text)[FALLBACK] == "1"


def test_one_line_can_propose_and_tell():
    assert variables(f"{OOM} I run with {FALLBACK}=1") == {FALLBACK: "1"}
