"""The pairing rules of torchvision and torchaudio, against the table and at each of their turns."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mpsdoctor.knowledge.releases import companion_matches, companions, releases

RELEASES = st.sampled_from(releases())


def test_companions_come_from_the_table():
    assert companions("2.8.0") == ("0.23.0", "2.8.0")
    assert companions("2.15.0+cpu") == ("0.29.2", "2.11.1")
    assert companions("2.0.1") == ("0.15.2", "2.0.2")
    assert companions("2.12.0.dev20260316") is None
    assert companions("1.11.0") is None


@given(RELEASES)
def test_what_the_table_pairs_matches(one):
    assert companion_matches(one.version, "torchvision", one.torchvision) is True
    assert companion_matches(one.version, "torchaudio", f"{one.torchaudio}+cpu") is True


@given(RELEASES, RELEASES)
def test_an_exactly_pinned_torchvision_matches_no_other_torch(one, other):
    if one.torchvision_pin == f"torch=={one.version}" and one != other:
        assert companion_matches(other.version, "torchvision", one.torchvision) is False


@given(RELEASES, RELEASES)
def test_another_generation_never_matches_before_the_ranges(one, other):
    if one.key[:2] != other.key[:2] and max(one.key, other.key) < (2, 11, 0):
        assert companion_matches(other.version, "torchvision", one.torchvision) is False
        assert companion_matches(other.version, "torchaudio", one.torchaudio) is False


@pytest.mark.parametrize(
    ("torch", "name", "version", "expected"),
    [
        ("2.0.0", "torchvision", "0.13.1", False),
        ("2.0.0", "torchvision", "0.15.2", False),
        ("2.14.0", "torchvision", "0.29.0", True),
        ("2.15.0", "torchvision", "0.29.0", False),
        ("2.14.0", "torchvision", "0.29.1", True),
        ("2.15.0", "torchvision", "0.29.1", True),
        ("2.13.0", "torchvision", "0.29.2", False),
        ("2.11.0", "torchaudio", "2.11.0", True),
        ("2.15.0", "torchaudio", "2.11.0", True),
        ("2.10.0", "torchaudio", "2.11.0", False),
        ("2.12.0", "torchaudio", "2.10.0", False),
        ("2.0.0", "torchaudio", "2.0.1", True),
        ("2.0.1", "torchaudio", "2.0.1", False),
        # unpinned generation: the same one may do, another cannot
        ("1.12.1", "torchaudio", "0.12.0", None),
        ("1.12.1", "torchvision", "0.14.1", False),
        ("2.1.0", "torchvision", "0.11.0", False),
        # unknown
        ("2.0.0", "torchvision", "0.15.0", None),
        ("2.15.0", "torchvision", "0.30.0", None),
        ("2.15.0", "torchaudio", "2.12.0", None),
        ("2.16.0", "torchvision", "0.29.2", None),
        ("1.11.0", "torchvision", "0.12.0", None),
        ("2.10.0.dev20251008", "torchvision", "0.25.0.dev20251008", None),
        ("2.10.0", "torchvision", "0.25.0.dev20251008", None),
        ("2.2.0", "torchtext", "0.17.0", None),
        ("2.2.0", "torchvision", "garbage", None),
    ],
)
def test_companion_matches(torch, name, version, expected):
    assert companion_matches(torch, name, version) is expected
