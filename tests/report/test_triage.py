"""The table of many tickets: columns stand apart, commands are whole."""

import pytest

from mpsdoctor.knowledge.causes import FAMILIES
from mpsdoctor.report.triage import Line, format_triage

ASK = 'python -c "import sys, platform; print(sys.version, platform.machine())"'


def table(lines, width=80):
    return [line.plain for line in format_triage(lines, width)]


@pytest.mark.parametrize("family", [*FAMILIES, None])
@pytest.mark.parametrize("cause", ["intel-mac", "macos-version-misreported"])
def test_the_columns_stand_apart(family, cause):
    lines = [
        Line("a.txt", "broken", cause, family, "likely", ()),
        Line("b.txt", "broken", "x", "environment", "certain", ()),
    ]
    row = next(line for line in table(lines) if cause in line)
    assert row.split() == ["1", cause, *([family] if family else []), "1", "likely"]


def test_one_is_no_plural():
    assert table([Line("a.txt", "broken", "x", "code", "likely", ())])[0] == "1 ticket"
    assert table([])[0] == "0 tickets"


@pytest.mark.parametrize("width", [40, 80])
def test_a_wanted_answers_command_is_whole(width):
    lines = table([Line("a.txt", "broken", "x", "code", "likely", (ASK,))], width)
    assert any(line.strip().removeprefix("1").strip() == ASK for line in lines)
