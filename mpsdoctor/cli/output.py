"""Where the answer goes: stdout or -o FILE; colours, width and the terminal's rules are decided here."""

from __future__ import annotations

import codecs
import contextlib
import errno
import io
import json
import os
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from rich.text import Text

DEFAULT_WIDTH, LARGEST_WIDTH = 80, 100
# Our signs in ASCII, for a stdout that has no others; what is not known keeps the question mark to itself.
_PLAIN = {"✓": "+", "✗": "x", "‼": "#", "·": "-", "²": "2", "–": "-", "…": "."}
_NO_ROOM = frozenset((errno.ENOSPC, errno.EFBIG, errno.EIO, errno.EBADF, getattr(errno, "EDQUOT", errno.ENOSPC)))


class CannotWrite(click.ClickException):
    """The answer could not be written where it was asked for; no finding, so not exit status 1."""

    exit_code = 2


def cannot_write(error: OSError) -> bool:
    """Return whether this is stdout's own refusal: a full disk, a closed descriptor (it names no file)."""
    return error.errno in _NO_ROOM and error.filename is None


def terminal_width() -> int:
    """Return the columns to print in: COLUMNS, else the terminal's, else 80; 100 at most, for easy reading."""
    columns = os.environ.get("COLUMNS", "")
    if columns.isascii() and columns.isdigit() and len(columns) < 5 and int(columns) > 0:
        return max(40, min(int(columns), LARGEST_WIDTH))
    if not sys.stdout or not sys.stdout.isatty():
        return DEFAULT_WIDTH
    with contextlib.suppress(OSError):
        return max(40, min(os.get_terminal_size(sys.stdout.fileno()).columns or DEFAULT_WIDTH, LARGEST_WIDTH))
    return DEFAULT_WIDTH


def print_lines(lines: Iterable[Text], output: Path | None) -> None:
    """Print styled lines: with colour only on a terminal that takes it (NO_COLOR, FORCE_COLOR), plain into a file."""
    if output is None and _wants_colour():
        _print(_coloured(lines), "mpsdoctor-signs")
        return
    text = "".join(f"{line.plain.rstrip()}\n" for line in lines)
    if output is not None:
        write_file(output, text)
    else:
        _print(text, "mpsdoctor-signs")


def _coloured(lines: Iterable[Text]) -> str:
    from rich.console import Console

    memory = io.StringIO()
    console = Console(file=memory, force_terminal=True, width=500, highlight=False, soft_wrap=True)
    for line in lines:
        line.rstrip()
        console.print(line, end="\n", crop=False, overflow="ignore")
    return memory.getvalue()


def _wants_colour() -> bool:
    """NO_COLOR and FORCE_COLOR as their authors define them (set and not empty), else whether this is a terminal."""
    if os.environ.get("NO_COLOR") or sys.stdout is None:
        return False
    if os.environ.get("FORCE_COLOR"):
        return True
    return sys.stdout.isatty() and os.environ.get("TERM") != "dumb"


def print_text(text: str, output: Path | None) -> None:
    """Print a document as it is; what the encoding of stdout lacks becomes \\uXXXX, which JSON reads back."""
    if output is not None:
        write_file(output, text + "\n")
    else:
        _print(text + "\n", "mpsdoctor-json")


def _print(text: str, errors: str) -> None:
    if sys.stdout is None:
        raise CannotWrite("stdout is closed; -o FILE writes the answer to a file")
    encoding = sys.stdout.encoding or "ascii"
    try:
        sys.stdout.write(text.encode(encoding, errors).decode(encoding))
        sys.stdout.flush()
    except BrokenPipeError:  # the reader has seen enough (head, grep -q): the exit status still tells the verdict
        sys.stdout = None
    except OSError as error:
        sys.stdout = None
        raise CannotWrite(f"the answer could not be written: {error.strerror or error}") from error


def _plain_sign(error: UnicodeError) -> tuple[str, int]:
    assert isinstance(error, UnicodeEncodeError)
    return "".join(_PLAIN.get(c, "?") for c in error.object[error.start : error.end]), error.end


def _json_escape(error: UnicodeError) -> tuple[str, int]:
    assert isinstance(error, UnicodeEncodeError)
    return json.dumps(error.object[error.start : error.end])[1:-1], error.end


codecs.register_error("mpsdoctor-signs", _plain_sign)
codecs.register_error("mpsdoctor-json", _json_escape)


def write_file(path: Path, text: str) -> None:
    """Write a file whole or not at all. Raises CannotWrite in plain words where that is not possible."""
    data = text.encode("utf-8", "mpsdoctor-json")
    try:
        if path.exists() and not path.is_file():
            _write_into(path, data)
        else:
            # Through links: replacing /dev/stdout, or a link that the user made, would destroy it.
            _replace(Path(os.path.realpath(path)), data)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else None
        if isinstance(error, OSError) and error.errno == errno.ENXIO:
            reason = "it is a pipe that nobody reads"
        raise CannotWrite(f"{str(path)!r} could not be written: {reason or error}") from error


def _write_into(path: Path, data: bytes) -> None:
    """Write to what cannot be replaced: a pipe, a device. A pipe that nobody reads is an error, not a wait."""
    descriptor = os.open(path, os.O_WRONLY | getattr(os, "O_NONBLOCK", 0))
    with os.fdopen(descriptor, "wb") as file:
        os.set_blocking(descriptor, True)
        file.write(data)


def _replace(path: Path, data: bytes) -> None:
    import tempfile

    descriptor, temporary = tempfile.mkstemp(prefix=f".{path.name[:40]}.", dir=path.parent)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
        mask = os.umask(0)
        os.umask(mask)
        Path(temporary).chmod(0o666 & ~mask)
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


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
        with contextlib.suppress(OSError, ValueError):
            click.echo(f"\r{self._text}", err=True, nl=False)

    def __exit__(self, *_: object) -> None:
        self._timer.cancel()
        if self._shown:
            with contextlib.suppress(OSError, ValueError):
                click.echo("\r" + " " * len(self._text) + "\r", err=True, nl=False)
