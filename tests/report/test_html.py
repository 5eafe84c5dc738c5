"""The page in a real browser: it fits, copies, stays dark in the dark, and asks the network for nothing."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mpsdoctor.report.html import format_html
from tests.conftest import RECORDINGS, Ran
from tests.report.chromium import Page, find
from tests.report.conftest import HOSTILE, NAMES, findings, made


@pytest.fixture(scope="module")
def page() -> Iterator[Page]:
    browser = find()
    if browser is None:
        # Where faults must not hide, a machine without a browser is one; .ci/run installs it.
        if os.environ.get("CI") or os.environ.get("MPSDOCTOR_NEED_BROWSER"):
            pytest.fail("no Chromium here, and this run must have one")
        pytest.skip("no Chromium on this machine")
    one = Page(browser)
    yield one
    one.close()


def hostile_document() -> dict[str, Any]:
    detail = "x" * 400 + " " + " ".join(HOSTILE) + " https://example.com/" + "y" * 300
    document = made(findings(3, detail=detail), detail=detail)
    document["smoke"] = {
        "device": "mps", "dtype": "float16", "torch": detail, "outcome": "fail",
        "stages": [{"stage": "train", "outcome": "fail", "detail": detail}, {"stage": "speed", "outcome": "pass"}],
        "speed": {"cases": [{"name": detail, "ratio": 4.1, "batch": 64}, {"name": "small", "ratio": 0.6}]},
    }  # fmt: skip
    document["problems"] = [detail]
    return document


def write(document: dict[str, Any], folder: Path) -> Path:
    path = folder / "report.html"
    path.write_text(format_html(document), encoding="utf-8", errors="surrogatepass")
    return path


@pytest.mark.parametrize("width", [375, 1280])
@pytest.mark.parametrize("name", [*NAMES, "hostile"])
def test_it_fits_the_window_and_nothing_leaves_the_page(
    name: str, width: int, page: Page, recorded: Callable[[str], dict[str, Any]], tmp_path: Path
) -> None:
    path = write(hostile_document() if name == "hostile" else recorded(name), tmp_path)
    page.open(path, width)
    page.value("document.querySelectorAll('details').forEach(d => d.open = true)")
    assert page.value("document.documentElement.scrollWidth") == width
    beyond = "e => e.getBoundingClientRect().right > innerWidth && !e.closest('details pre, svg')"
    assert page.value(f"[...document.querySelectorAll('body *')].filter({beyond}).length") == 0
    assert page.requests == [path.as_uri()]
    assert page.errors == []
    assert page.value("document.querySelectorAll('.chain li').length") >= 1
    assert page.value("[...document.scripts].length") == 1


@pytest.mark.parametrize("by_hand", [False, True])
def test_the_copy_buttons_copy_what_they_stand_beside(
    by_hand: bool, page: Page, recorded: Callable[[str], dict[str, Any]], tmp_path: Path
) -> None:
    path = write(recorded("05-m1pro-anaconda-x86_64-rosetta"), tmp_path)
    page.open(path, 1280)
    page.ask("Browser.grantPermissions", permissions=["clipboardReadWrite", "clipboardSanitizedWrite"])
    page.ask("Page.bringToFront")
    if by_hand:
        page.value("Object.defineProperty(navigator.clipboard, 'writeText', {value: () => Promise.reject(1)}), 0")
    commands = page.value("document.getElementById('command-0-0').textContent")
    assert commands.startswith("curl -LO https://github.com/conda-forge/miniforge/")
    page.click("button[data-copy=command-0-0]")
    page.until("document.querySelector('button[data-copy=command-0-0]').textContent === 'Copied'")
    assert page.value("navigator.clipboard.readText()") == commands
    page.value("document.querySelectorAll('details').forEach(d => d.open = true)")
    page.click("button[data-copy=ticket]")
    page.until("document.querySelector('button[data-copy=ticket]').textContent === 'Copied'")
    assert page.value("navigator.clipboard.readText()").startswith("### ✗ This Python runs as")
    page.until("document.querySelector('button[data-copy=ticket]').textContent === 'Copy for a ticket'")


def luminance(colour: str) -> float:
    parts = [int(part) / 255 for part in re.findall(r"\d+", colour)[:3]]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("dark", [False, True])
def test_every_text_can_be_read_in_the_light_and_in_the_dark(
    dark: bool, page: Page, recorded: Callable[[str], dict[str, Any]], tmp_path: Path
) -> None:
    page.open(write(recorded("05-m1pro-anaconda-x86_64-rosetta"), tmp_path), 1280, dark=dark)
    background = luminance(page.value("getComputedStyle(document.body).backgroundColor"))
    assert (background < 0.05) is dark
    colours = page.value("[...new Set([...document.querySelectorAll('body *')].map(e => getComputedStyle(e).color))]")
    for colour in colours:
        lighter, darker = sorted((luminance(colour), background), reverse=True)
        assert (lighter + 0.05) / (darker + 0.05) >= 4.5, colour  # WCAG 2.1, level AA


@given(st.text() | st.sampled_from(HOSTILE))
def test_whatever_a_fact_holds_it_is_no_markup(text: str) -> None:
    clean, page = (format_html(made(findings(2, detail=d), detail=d)) for d in ("x", text))
    tags = [re.findall(r"<(/?\w+)", html) for html in (clean, page)]
    assert tags[1].count("script") == 1
    assert set(tags[1]) <= {*tags[0], "br", "ul", "li"}
    attributes = re.findall(r"<\w+((?:\s+[\w-]+=(?:\"[^\"]*\"|'[^']*'))*)\s*>", page.split("<script>")[0])
    names = {name for text in attributes for name in re.findall(r"([\w-]+)=(?:\"[^\"]*\"|'[^']*')", text)}
    assert names <= {"lang", "charset", "http-equiv", "content", "name", "class", "id", "data-copy"}


def test_the_command_writes_it(mpsdoctor: Callable[..., Ran], tmp_path: Path) -> None:
    ran = mpsdoctor("report", "--replay", str(RECORDINGS / NAMES[0]), "--format", "html")
    text = (tmp_path / "mpsdoctor-report.html").read_text()
    assert (ran.code, text[:15], text.count("</html>")) == (0, "<!DOCTYPE html>", 1)
