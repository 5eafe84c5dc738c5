"""Draws the picture of the README: the real text report of a recorded Mac, as SVG without any remote font."""

from __future__ import annotations

import io
import re
from pathlib import Path

from rich.console import Console

from mpsdoctor.cli.target import gather
from mpsdoctor.registry import load_registry
from mpsdoctor.report.model import make_report
from mpsdoctor.report.text import Style, format_text

ROOT = Path(__file__).resolve().parent.parent
PICTURE = ROOT / "docs" / "images" / "check.svg"
RECORDING = ROOT / "tests" / "recordings" / "05-m1pro-anaconda-x86_64-rosetta"


def draw() -> str:
    """Return the picture."""
    gathered = gather(python=None, env=None, from_=None, replay=str(RECORDING))
    report = make_report(gathered.facts, gathered.source, load_registry())
    console = Console(width=112, record=True, file=io.StringIO(), force_terminal=True, color_system="truecolor")
    console.print("$ mpsdoctor check", style="bold")
    for line in format_text(report, Style(width=80))[1:]:  # the first line names the recording
        console.print(line, highlight=False, soft_wrap=True)
    svg = console.export_svg(title="mpsdoctor check", unique_id="check")
    svg = re.sub(r"@font-face \{.*?\}", "", svg, flags=re.DOTALL)  # rich's template fetches its fonts from a server
    return re.sub(r"Fira Code", "ui-monospace, Menlo, Consolas", svg)


if __name__ == "__main__":
    PICTURE.parent.mkdir(parents=True, exist_ok=True)
    PICTURE.write_text(draw(), encoding="utf-8")
