"""Values of environment variables are judged by what each release of torch does with them."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mpsdoctor.knowledge.causes import cause
from mpsdoctor.knowledge.releases import release, releases
from mpsdoctor.knowledge.variables import OUTCOMES, judge, nearest, variable, variables
from mpsdoctor.knowledge.versions import stable

STRINGS = json.loads((Path(__file__).parent / "data" / "torch_mps_strings.json").read_text())
FALLBACK = "PYTORCH_ENABLE_MPS_FALLBACK"
HIGH, LOW = "PYTORCH_MPS_HIGH_WATERMARK_RATIO", "PYTORCH_MPS_LOW_WATERMARK_RATIO"
VERSIONS = st.sampled_from([None, "2.8.0.dev20250327", "9.0", "junk", *(one.version for one in releases())])
RATIO = st.floats(0, 2).map(str)


def outcome(name, value, torch="2.14.1", **others):
    return judge(name, value, torch, others).outcome


@pytest.mark.parametrize("one", variables(), ids=lambda one: one.name)
def test_every_row_is_well_formed(one):
    assert one.read_by in {"torch", "Apple", "OpenMP", "nobody"}
    assert one.means.endswith(".")
    assert one.sources
    assert one.since is None or release(one.since)
    assert one.read_by == "nobody" or (one.values and one.default and one.hazard.endswith("."))


@pytest.mark.parametrize("one", variables(), ids=lambda one: one.name)
def test_since_agrees_with_the_names_in_torchs_binaries(one):
    """The scan shows a name from its first release on, and shows no name that nobody reads."""
    scanned = STRINGS["strings"].get(one.name)
    if one.read_by != "torch":
        assert scanned is None
    elif scanned:  # PYTORCH_DEBUG_MPS_ALLOCATOR is not among the scanned strings
        before = [stable(each) for each in STRINGS["releases"] if stable(each) < stable(scanned[0])]
        assert stable(one.since) <= stable(scanned[0])
        assert all(each < stable(one.since) for each in before)
        assert scanned[1] == STRINGS["releases"][-1]


def test_only_one_name_is_missing_from_the_scan():
    torchs = {one.name for one in variables() if one.read_by == "torch"}
    assert torchs - set(STRINGS["strings"]) == {"PYTORCH_DEBUG_MPS_ALLOCATOR"}


@pytest.mark.parametrize(
    ("value", "torch", "expected"),
    [
        ("1", "2.7.1", "ok"),
        ("1", "2.8.0", "ok"),
        ("1", None, "ok"),
        ("0", "2.7.1", "ok"),
        ("0", "2.8.0", "ok"),
        ("true", "2.7.1", "invalid"),
        ("", "2.7.1", "invalid"),
        ("99999999999999999999", "2.7.1", "invalid"),
        ("1 # on", "2.7.1", "ok"),  # std::stoi reads the number and stops there
        ("true", "2.8.0", "ok"),
        ("false", "2.8.0", "harmful"),
        ("off", "2.15.0", "harmful"),
        ("", "2.8.0", "harmful"),
        ("true", None, "invalid"),
        ("true", "2.8.0.dev20250327", "invalid"),
        ("1", "1.11.0", "ineffective"),
    ],
)
def test_fallback(value, torch, expected):
    assert outcome(FALLBACK, value, torch) == expected


def test_off_is_told_apart_from_on():
    assert judge(FALLBACK, "0", "2.14.1", {}).why == judge(FALLBACK, "00", "2.7.1", {}).why == "The fallback is off."
    assert "run on the CPU" in judge(FALLBACK, "00", "2.8.0", {}).why


@pytest.mark.parametrize(
    ("value", "low", "expected"),
    [
        ("0.7", None, "invalid"),
        ("1.39", None, "invalid"),
        ("1.4", None, "ok"),
        ("1.7", None, "ok"),
        ("2", None, "ok"),
        ("0.7", "0.6", "ok"),
        ("0.7", "0.8", "invalid"),
        ("0.7", "0", "ok"),
        ("0.7", "rubbish", "invalid"),
        ("0.0", None, "harmful"),
        ("0", "0", "harmful"),
        ("2.1", None, "invalid"),
        ("-1", None, "invalid"),
        ("nan", None, "invalid"),
        ("inf", None, "invalid"),
        ("70%", None, "invalid"),
        ("", None, "invalid"),
    ],
)
def test_high_watermark(value, low, expected):
    found = judge(HIGH, value, "2.14.1", {} if low is None else {LOW: low})
    assert found.outcome == expected
    assert found.cause == (None if expected == "ok" else "watermark-env-var-invalid")


def test_the_refusal_is_quoted_as_torch_prints_it():
    assert "'invalid low watermark ratio 1.4'" in judge(HIGH, "0.7", None, {}).why


@pytest.mark.parametrize(
    ("value", "high", "expected"),
    [
        ("1.4", None, "ok"),
        ("0", None, "ok"),
        ("1.8", None, "invalid"),
        ("1.8", "2.0", "ok"),
        ("1.8", "0", "ok"),
        ("0.8", "0.7", "invalid"),
        ("-0.1", None, "invalid"),
        ("x", None, "invalid"),
    ],
)
def test_low_watermark(value, high, expected):
    assert judge(LOW, value, "2.14.1", {} if high is None else {HIGH: high}).outcome == expected


@given(RATIO, RATIO)
def test_both_ratios_are_fine_just_where_torch_takes_them(high, low):
    """torch takes a pair when low <= high, or high is 0, which has no limit."""
    taken = float(low) <= float(high) or float(high) == 0
    assert (judge(HIGH, high, None, {LOW: low}).outcome != "invalid") == taken
    assert (judge(LOW, low, None, {HIGH: high}).outcome != "invalid") == taken


@pytest.mark.parametrize(
    ("name", "value", "torch", "expected"),
    [
        ("PYTORCH_MPS_PREFER_METAL", "1", "2.14.1", "ok"),
        ("PYTORCH_MPS_PREFER_METAL", "0", "2.14.1", "harmful"),
        ("PYTORCH_MPS_PREFER_METAL", "", "2.14.1", "harmful"),
        ("PYTORCH_MPS_PREFER_METAL", "1", "2.2.2", "ineffective"),
        ("PYTORCH_MPS_FAST_MATH", "1", "2.14.1", "harmful"),
        ("PYTORCH_MPS_FAST_MATH", "0", "2.14.1", "ok"),
        ("PYTORCH_MPS_FAST_MATH", "false", "2.14.1", "harmful"),
        ("PYTORCH_MPS_FAST_MATH", "1", "2.4.1", "ineffective"),
        ("PYTORCH_MPS_DISABLE_PREFILL_ATTENTION", "1", "2.13.0", "ok"),
        ("PYTORCH_MPS_DISABLE_PREFILL_ATTENTION", "1", "2.12.1", "ineffective"),
        ("PYTORCH_MPS_METAL_VERSION", "3.1", "2.15.0", "ok"),
        ("PYTORCH_MPS_METAL_VERSION", "3.1", "2.14.1", "ineffective"),
        ("PYTORCH_MPS_METAL_VERSION", "3", "2.15.0", "ineffective"),
        ("PYTORCH_MPS_METAL_VERSION", "3.1", None, "ok"),
        ("PYTORCH_MPS_LOG_PROFILE_INFO", "64", "2.14.1", "ok"),
        ("PYTORCH_MPS_LOG_PROFILE_INFO", "1024", "2.14.1", "invalid"),
        ("PYTORCH_MPS_LOG_PROFILE_INFO", "yes", "2.14.1", "invalid"),
        ("PYTORCH_MPS_TRACE_SIGNPOSTS", "3", "2.14.1", "ok"),
        ("PYTORCH_MPS_TRACE_SIGNPOSTS", "7", "2.14.1", "harmful"),
        ("PYTORCH_MPS_TRACE_SIGNPOSTS", "64", "2.14.1", "invalid"),
        ("PYTORCH_DEBUG_MPS_ALLOCATOR", "2", "2.12.1", "ok"),
        ("PYTORCH_DEBUG_MPS_ALLOCATOR", "2", "2.13.0", "ineffective"),
        ("PYTORCH_MPS_DISABLE", "1", "2.14.1", "ineffective"),
        ("PYTORCH_MPS_DISABLE", "1", None, "ineffective"),
        ("PYTORCH_MPS_NO_SUCH_THING", "1", "2.14.1", "ineffective"),
        ("MTL_CAPTURE_ENABLED", "1", "2.14.1", "ok"),
        ("MTL_CAPTURE_ENABLED", "YES", "2.14.1", "ineffective"),
        ("KMP_DUPLICATE_LIB_OK", "TRUE", "2.14.1", "harmful"),
        ("KMP_DUPLICATE_LIB_OK", "true", None, "harmful"),
        ("KMP_DUPLICATE_LIB_OK", "FALSE", "2.14.1", "ok"),
        ("OMP_NUM_THREADS", "8", None, "ok"),
        ("OMP_NUM_THREADS", "4,2", None, "ok"),
        ("OMP_NUM_THREADS", "0", None, "invalid"),
        ("OMP_NUM_THREADS", "auto", None, "invalid"),
        ("SYSTEM_VERSION_COMPAT", "1", None, "harmful"),
        ("SYSTEM_VERSION_COMPAT", "0", None, "ok"),
        ("HOME", "/Users/me", "2.14.1", "ok"),
    ],
)
def test_judge(name, value, torch, expected):
    assert outcome(name, value, torch) == expected


def test_the_allocators_output_needs_the_log_from_2_13_on():
    assert outcome("PYTORCH_DEBUG_MPS_ALLOCATOR", "2", "2.13.0", TORCH_CPP_LOG_LEVEL="INFO") == "ok"


def test_a_misspelt_name_is_put_right():
    assert "PYTORCH_ENABLE_MPS_FALLBACK" in judge("PYTORCH_MPS_ENABLE_FALLBACK", "1", None, {}).remedy
    assert nearest("PATH") is None
    assert variable("PYTORCH_MPS_ENABLE_FALLBACK") is None


@given(st.sampled_from([one.name for one in variables()]), st.text(max_size=12), VERSIONS)
def test_every_value_gets_an_answer(name, value, torch):
    found = judge(name, value, torch, {})
    assert found.outcome in OUTCOMES
    assert found.why
    if found.outcome == "ok":
        assert found.cause is None
    else:
        assert found.remedy
        assert found.cause is None or cause(found.cause)


@given(st.sampled_from([one.name for one in variables() if one.read_by == "torch"]), VERSIONS)
def test_a_release_before_the_variable_does_not_read_it(name, torch):
    known, at = variable(name), stable(torch or "")
    if at is not None and at < stable(known.since):
        assert judge(name, "1", torch, {}).outcome == "ineffective"


@pytest.mark.parametrize(
    ("name", "value"),
    [("MTL_CAPTURE_ENABLED", "0"), ("PYTORCH_DEBUG_MPS_ALLOCATOR", "0"), ("PYTORCH_MPS_LOG_PROFILE_INFO", "0"),
     ("OMP_NUM_THREADS", ""), ("PYTORCH_DEBUG_MPS_ALLOCATOR", "")],
)  # fmt: skip
def test_a_value_that_means_off_is_no_fault(name: str, value: str) -> None:
    assert judge(name, value, "2.14.1", {}).outcome == "ok"
