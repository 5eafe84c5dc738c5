"""pip offers no torch at all: what the Python's version and the Mac say about the reason, and what they do not."""

from __future__ import annotations

import pytest

from mpsdoctor.knowledge import releases
from tests.tickets.answers import answer

NONE = (
    "ERROR: Could not find a version that satisfies the requirement torch (from versions: none)\n"
    "ERROR: No matching distribution found for torch"
)
PYTHONS = sorted({minor for one in releases.releases() for minor in one.pythons("arm64") if not minor.endswith("t")})


def first(text: str) -> tuple[str | None, str | None]:
    causes = answer(text).diagnosis.causes
    return (causes[0].cause, causes[0].confidence) if causes else (None, None)


@pytest.mark.parametrize("minor", PYTHONS)
def test_a_python_that_has_wheels_is_no_certain_reason(minor: str) -> None:
    text = f"Python {minor}.1, platform.machine() -> arm64\nM2\n{NONE}"
    assert first(text) == ("python-version-no-wheel", "possible")
    assert "python -m pip config list" in answer(text).diagnosis.ask


@pytest.mark.parametrize("minor", ["3.6", "3.16"])
def test_a_python_that_has_none_is_certain(minor: str) -> None:
    assert first(f"M2\nPython {minor}.1\n{NONE}") == ("python-version-no-wheel", "certain")


@pytest.mark.parametrize("version", ["3.14.0a4", "3.13.0rc1", "3.12.0b2"])
def test_a_python_before_its_release_is_the_likely_reason(version: str) -> None:
    assert first(f"M2\nPython {version}\n{NONE}") == ("python-version-no-wheel", "likely")
