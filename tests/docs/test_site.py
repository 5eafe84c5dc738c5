"""The documentation: built offline with warnings as errors, whole, and true to the program."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

import pytest

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

from mpsdoctor.cli import COMMANDS, _run
from mpsdoctor.knowledge.causes import causes
from mpsdoctor.registry import load_registry
from scripts.build_docs import build, pages
from scripts.manual import PAGE, man_page
from tests.action.composite import ACTION
from tests.conftest import ROOT


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    with pytest.MonkeyPatch.context() as patch:
        # No way out: a build that fetched something would fail here.
        for name in ("http_proxy", "https_proxy"):
            patch.setenv(name, "http://127.0.0.1:9")
        try:
            return build(tmp_path_factory.mktemp("docs"))
        except SystemExit as error:
            pytest.fail(str(error))


class Links(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.fetched: list[str] = []
        self.ids: set[str] = set()
        self.links: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {key: value or "" for key, value in attrs}
        self.ids |= {values["id"]} if "id" in values else set()
        if tag == "a":
            self.links.append(values.get("href", ""))
        elif tag == "link" and values.get("rel") not in ("canonical", "next", "prev"):
            self.fetched.append(values["href"])
        elif "src" in values:
            self.fetched.append(values["src"])


def parsed(site: Path) -> Iterator[tuple[Path, Links]]:
    for path in site.rglob("*.html"):
        parser = Links()
        parser.feed(path.read_text(encoding="utf-8"))
        yield path, parser


def test_nothing_is_fetched_from_elsewhere(site: Path) -> None:
    found = dict(parsed(site))
    assert len(found) >= 13
    remote = [(path.name, url) for path, links in found.items() for url in links.fetched if "//" in url]
    assert remote == []
    for path, links in found.items():
        for url in links.fetched:
            assert (
                url.startswith("data:") or path.parent.joinpath(url.split("?")[0]).exists() or path.name == "404.html"
            )
    for path in site.rglob("*.css"):
        assert not re.search(r"url\(\s*['\"]?https?:|@import", path.read_text(encoding="utf-8")), path


def test_every_link_inside_leads_somewhere(site: Path) -> None:
    found = dict(parsed(site))
    count = 0
    for path, links in found.items():
        for url in links.links:
            if "//" in url or url.startswith(("mailto:", "javascript:")) or path.name == "404.html":
                continue
            name, _, anchor = url.partition("#")
            target = (path.parent / name).resolve() if name else path
            target = target / "index.html" if target.is_dir() else target
            assert target.exists(), (path.name, url)
            if anchor and target.suffix == ".html":
                assert anchor in found[target].ids, (path.name, url)
                count += 1
    assert count > 300


def test_a_warning_is_an_error(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "docs", tmp_path / "sources")
    (tmp_path / "sources" / "index.md").write_text("[nowhere](none.md)\n")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("scripts.build_docs.DOCS", tmp_path / "sources")
        with pytest.raises(SystemExit, match=r"none\.md"):
            build(tmp_path / "built")


def test_every_check_cause_and_command_has_its_place() -> None:
    generated = pages()
    for check in load_registry().checks:
        assert f"### {check.id} {{ #{check.id.lower()} }}" in generated["reference/checks.md"]
    for cause in causes():
        assert f"### {cause.slug} {{" in generated["reference/causes.md"]
    for name in COMMANDS:
        assert f"## mpsdoctor {name} {{" in generated["reference/commands.md"]


def test_the_pages_of_ci_tell_every_input_and_output_with_its_default() -> None:
    text = (ROOT / "docs" / "ci.md").read_text()
    for name, spec in ACTION["inputs"].items():
        row = next(line for line in text.splitlines() if line.startswith(f"| `{name}` |"))
        assert not spec["default"] or f"`{spec['default']}`" in row or spec["default"] in row
    assert [name for name in ACTION["outputs"] if f"`{name}`" not in text] == []


def commands() -> list[str]:
    found = []
    for path in sorted((ROOT / "docs").glob("*.md")):
        text = path.read_text()
        found += re.findall(
            r"(?<![\w/.-])mpsdoctor ((?:[a-z]+)(?: [^`\n|#]*)?)",
            "\n".join(re.findall(r"`[^`]+`|^\$.*|^mpsdoctor .*", text, re.M)),
        )
    return sorted(set(found))


def test_every_command_of_the_pages_is_accepted() -> None:
    seen = 0
    for line in commands():
        name = line.split()[0]
        if name not in COMMANDS:
            continue
        done = subprocess.run(
            [sys.executable, "-m", "mpsdoctor", name, "--help"], capture_output=True, text=True, check=True
        )
        for option in re.findall(r"(?<= )--[a-z-]+", line):
            assert option in done.stdout, line
        seen += 1
    assert seen > 15


@pytest.mark.skipif(shutil.which("groff") is None, reason="no groff here")
def test_the_man_page_has_no_fault_and_tells_every_command() -> None:
    done = subprocess.run(
        ["groff", "-man", "-Tutf8", "-ww", "-z"], input=man_page(), capture_output=True, text=True, check=True
    )
    assert done.stderr == ""
    shown = subprocess.run(["groff", "-man", "-Tascii"], input=man_page(), capture_output=True, text=True, check=True)
    plain = re.sub(r"\x1b\[[0-9;]*m|.\x08", "", shown.stdout)
    assert [name for name in COMMANDS if f"   {name}" not in plain] == []
    assert "--vm-policy" in plain


def test_the_man_page_that_is_installed_is_the_present_one() -> None:
    """Written anew by `python -m scripts.manual`. How click words a default differs from release to release."""

    def without_defaults(text: str) -> str:
        return " ".join(re.sub(r"\[[^\]]*\]", "", text).split())

    for name in ("explain", "check"):  # click keeps what the first caller made: the page must not depend on it
        _run([name, "--help"])
    assert without_defaults(PAGE.read_text(encoding="utf-8")) == without_defaults(man_page())
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["setuptools"]
    assert settings["data-files"] == {"share/man/man1": [str(PAGE.relative_to(ROOT))]}
