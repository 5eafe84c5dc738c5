"""Draws the pictures of the documentation: real answers about a recorded Mac, as SVG without any remote font.

Usage: python -m scripts.write_pictures
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Sequence
from pathlib import Path

from rich.console import Console
from rich.terminal_theme import SVG_EXPORT_THEME, TerminalTheme
from rich.text import Text

from mpsdoctor.cli.target import gather
from mpsdoctor.registry import load_registry
from mpsdoctor.report.model import make_report
from mpsdoctor.report.text import Style, format_text

ROOT = Path(__file__).resolve().parent.parent
IMAGES = ROOT / "docs" / "images"
RECORDING = ROOT / "tests" / "recordings" / "05-m1pro-anaconda-x86_64-rosetta"


def check() -> str:
    """The answer of `mpsdoctor check` for a Python under Rosetta."""
    gathered = gather(python=None, env=None, from_=None, replay=str(RECORDING))
    report = make_report(gathered.facts, gathered.source, load_registry())
    lines = format_text(report, Style(width=80))[1:]  # the first line names the recording
    return svg("mpsdoctor check", lines)


def svg(command: str, lines: Sequence[Text], theme: TerminalTheme = SVG_EXPORT_THEME) -> str:
    """Return a terminal with a command and its answer; rich's template would fetch its fonts from a server."""
    width = max(80, *(len(line.plain) for line in lines)) + 1  # commands are never broken, and not cut off
    console = Console(width=width, record=True, file=io.StringIO(), force_terminal=True, color_system="truecolor")
    console.print(f"$ {command}", style="bold")
    for line in lines:
        console.print(line, highlight=False, soft_wrap=True)
    drawn = console.export_svg(title=command, theme=theme, unique_id=command.split()[1])
    drawn = re.sub(r"@font-face \{.*?\}", "", drawn, flags=re.DOTALL)
    return re.sub(r"Fira Code", "ui-monospace, Menlo, Consolas", drawn)


PICTURES: dict[str, Callable[[], str]] = {"check.svg": check}

if __name__ == "__main__":
    IMAGES.mkdir(parents=True, exist_ok=True)
    for name, draw in PICTURES.items():
        (IMAGES / name).write_text(draw(), encoding="utf-8")
