"""The README, the changelog and the picture tell what the present code does, and nothing that is not there yet."""

from __future__ import annotations

import json
import re
from collections.abc import Callable

import pytest

from mpsdoctor.cli import COMMANDS
from scripts.write_pictures import PICTURES
from tests.conftest import ROOT, Ran

README = (ROOT / "README.md").read_text(encoding="utf-8")
FRONT = {name: (ROOT / name).read_text(encoding="utf-8") for name in ("README.md", "docs/index.md")}
# What installs from an index; a release there is what these lines need.
PUBLISHED = re.compile(r"^(?:uvx mpsdoctor|pipx (?:install|run) mpsdoctor|.*pip install mpsdoctor)", re.MULTILINE)


def test_the_json_of_the_readme_is_what_the_command_beside_it_prints(mpsdoctor: Callable[..., Ran]) -> None:
    command, sample = re.findall(r"^\$ mpsdoctor (check --replay .*?) \| jq '(?:.*)'\n(\{.*?^\})", README, re.M | re.S)[
        0
    ]
    said = mpsdoctor(*command.split(), cwd=ROOT).json
    assert json.loads(sample) == said["diagnosis"]["causes"][0]


@pytest.mark.parametrize("name", sorted(FRONT))
def test_the_first_way_to_install_needs_no_release(name: str) -> None:
    text = FRONT[name]
    assert "published yet" in text
    assert "git+https://github.com/" in text
    blocks = text.split("```")
    for number, block in enumerate(blocks[1::2]):
        if PUBLISHED.search(block):
            assert "Once it is on the package index" in blocks[2 * number]
    assert text.index("git+https://") < text.index("Once it is on the package index")


@pytest.mark.parametrize("name", sorted(FRONT))
def test_which_python_it_needs_is_said_as_it_is(name: str) -> None:
    assert 'requires-python = ">=3.10"' in (ROOT / "pyproject.toml").read_text()
    assert re.search(r"Python 3\.10 or newer for itself", FRONT[name])
    assert "Python 3.9 and older cannot run it" in FRONT[name]
    assert "--python PATH" in FRONT[name]


def test_the_changelog_names_every_command_and_the_other_ways_in() -> None:
    text = (ROOT / "CHANGELOG.md").read_text()
    assert [name for name in COMMANDS if f"`mpsdoctor {name}`" not in text] == []
    assert [name for name in ("action.yml", "mpsdoctor.pyz") if f"`{name}`" not in text] == []


def words(svg: str) -> list[str]:
    """The texts of a picture; how rich draws around them differs from release to release."""
    return re.findall(r"<text[^>]*>([^<]*)</text>", svg)


@pytest.mark.parametrize("name", sorted(PICTURES))
def test_a_picture_shows_the_present_answer(name: str) -> None:
    """Drawn anew by `python -m scripts.write_pictures`."""
    shown = (ROOT / "docs" / "images" / name).read_text(encoding="utf-8")
    assert words(shown) == words(PICTURES[name]())
    assert f"images/{name}" in README + FRONT["docs/index.md"] + (ROOT / "docs" / "fixes.md").read_text()
