"""Versions of macOS and torch as tuples, with the disguises that macOS wears."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mpsdoctor.knowledge.versions import at_least, macos, macos_in, stable


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("14", (14,)),
        ("14.4.1", (14, 4, 1)),
        ("macOS 15.3 (x86_64)", (15, 3)),
        ("16.0", (26, 0)),
        ("16.2.1", (26, 2, 1)),
        ("26.6.2", (26, 6, 2)),
        ("10.15.7", (10, 15, 7)),
        ("10.16", None),
        ("10.16.0", None),
        ("", None),
        (None, None),
        ("Sonoma", None),
    ],
)
def test_macos(text, expected):
    assert macos(text) == expected


@given(st.text(max_size=40))
def test_macos_reads_any_text(text):
    found = macos(text)
    assert found is None or (0 < len(found) <= 3 and found[0] != 16)


@pytest.mark.parametrize(
    ("version", "first", "last", "inside"),
    [
        ((14, 4, 1), "14.4", "14.4", True),
        ((14, 4), "14.4", "14.4", True),
        ((14, 5), "14.4", "14.4", False),
        ((14,), "14.4", None, False),
        ((14,), "14.0", None, True),
        ((26, 6, 2), "26", "26", True),
        ((27, 0), "26", "26", False),
        ((13, 7), None, "13", True),
        ((14, 0), None, "13", False),
        ((9,), None, None, True),
    ],
)
def test_macos_in(version, first, last, inside):
    assert macos_in(version, first, last) is inside


@pytest.mark.parametrize(
    ("version", "expected"),
    [
        ("2.5", (2, 5, 0)),
        ("2.9.1+cpu", (2, 9, 1)),
        ("0.15.2.post1", (0, 15, 2)),
        ("2.9.0rc1", None),
        ("2.9.0.dev20250101", None),
        ("1!2.0", None),
        ("", None),
    ],
)
def test_stable(version, expected):
    assert stable(version) == expected


@pytest.mark.parametrize(
    ("version", "bound", "expected"),
    [
        ("2.8.0", "2.8.0", True),
        ("2.8.0+cpu", "2.8.0", True),
        ("2.7.1", "2.8.0", False),
        ("2.8.0.dev20250327", "2.8.0", None),
        ("2.9.0.dev20250801", "2.8.0", True),
        ("2.7.0.dev20250101", "2.8.0", False),
        (None, "2.8.0", None),
        ("?", "2.8.0", None),
    ],
)
def test_at_least_does_not_guess_at_nightlies_of_the_bound(version, bound, expected):
    assert at_least(version, bound) is expected
