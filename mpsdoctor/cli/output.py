"""Where the answer goes: stdout or -o FILE; colours, width and the terminal's rules are decided here."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from rich.text import Text

DEFAULT_WIDTH, LARGEST_WIDTH = 80, 100


def terminal_width() -> int:
    """Return the columns to print in: COLUMNS, else the terminal's, else 80; 100 at most, for easy reading."""
    columns = os.environ.get("COLUMNS", "")
    if columns.isascii() and columns.isdigit() and 0 < len(columns) < 5:
        return max(40, min(int(columns), LARGEST_WIDTH))
    if not sys.stdout or not sys.stdout.isatty():
        return DEFAULT_WIDTH
    return max(40, min(os.get_terminal_size(sys.stdout.fileno()).columns or DEFAULT_WIDTH, LARGEST_WIDTH))


def print_lines(lines: Iterable[Text], output: Path | None) -> None:
    """Print styled lines: with colour only on a terminal that takes it (NO_COLOR, FORCE_COLOR), plain into a file."""
    if output is not None:
        write_file(output, "".join(f"{line.plain.rstrip()}\n" for line in lines))
        return
    if not _wants_colour():
        encoding = sys.stdout.encoding or "ascii"
        for line in lines:
            sys.stdout.write(line.plain.rstrip().encode(encoding, "replace").decode(encoding) + "\n")
        return
    from rich.console import Console

    console = Console(width=500, highlight=False, soft_wrap=True, legacy_windows=False)
    for line in lines:
        console.print(line, end="\n", crop=False, overflow="ignore")


def _wants_colour() -> bool:
    """NO_COLOR and FORCE_COLOR as their authors define them (set and not empty), else whether this is a terminal."""
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR"):
        return True
    return sys.stdout.isatty() and os.environ.get("TERM") != "dumb"


def print_text(text: str, output: Path | None) -> None:
    """Print a document as it is."""
    if output is not None:
        write_file(output, text + "\n")
        return
    encoding = sys.stdout.encoding or "utf-8"
    sys.stdout.write(text.encode(encoding, "backslashreplace").decode(encoding) + "\n")


def write_file(path: Path, text: str) -> None:
    """Write a file whole or not at all. Raises ClickException in plain words where that is not possible."""
    try:
        if path.exists() and not path.is_file():  # /dev/stdout, a pipe: nothing to replace
            path.write_text(text, encoding="utf-8")
            return
        descriptor, temporary = tempfile.mkstemp(prefix=f".{path.name[:40]}.", dir=path.parent)
        try:
            with os.fdopen(descriptor, "w", encoding="utf-8", errors="backslashreplace") as file:
                file.write(text)
            mask = os.umask(0)
            os.umask(mask)
            Path(temporary).chmod(0o666 & ~mask)
            Path(temporary).replace(path)
        except BaseException:
            Path(temporary).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise click.ClickException(f"{path} could not be written: {error.strerror or error}") from error


class Progress:
    """Says on stderr what is going on, once it takes over a second and somebody watches."""

    def __init__(self, text: str) -> None:
        import threading

        self._text = text
        self._shown = False
        self._timer = threading.Timer(1.0, self._show)
        self._timer.daemon = True

    def __enter__(self) -> Progress:
        if sys.stderr and sys.stderr.isatty():
            self._timer.start()
        return self

    def _show(self) -> None:
        self._shown = True
        click.echo(f"\r{self._text}", err=True, nl=False)

    def __exit__(self, *_: object) -> None:
        self._timer.cancel()
        if self._shown:
            click.echo("\r" + " " * len(self._text) + "\r", err=True, nl=False)
