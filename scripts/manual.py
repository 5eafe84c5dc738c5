"""The commands as a page of the documentation and as a man page, both from the command line's own declarations.

Usage: python -m scripts.manual   (writes docs/mpsdoctor.1, which the wheel installs)
"""

from __future__ import annotations

from pathlib import Path

import click

from mpsdoctor import __version__
from mpsdoctor.cli import COMMANDS, cli

PAGE = Path(__file__).resolve().parent.parent / "docs" / "mpsdoctor.1"
EXIT_CODES = (
    ("0", "healthy, or works with limits, or not applicable (no Mac)"),
    (
        "1",
        "a finding at or above --fail-on, or --expect is not met; fix: something is to be done, and nothing was "
        "changed; undo: a no; smoke: it does not train; diff: something differs",
    ),
    ("2", "the command was given something that it cannot use"),
    ("3", "nothing could be decided; the report says which fact would; explain: not known"),
    (
        "4",
        "fix: a step failed and everything was put back, or the cause is still there; undo: not all could be put back",
    ),
    ("5", "mpsdoctor itself failed"),
    ("130", "interrupted"),
)


def commands_page() -> str:
    """Return the page of all commands."""
    lines = ["# Commands", ""]
    for name, command in _commands():
        lines += [f"## mpsdoctor {name} {{ #{name} }}", "", " ".join(_help(command).split("\n\n")[0].split()), ""]
        context = click.Context(
            command,
            info_name=f"mpsdoctor {name}",
            max_content_width=100,
            terminal_width=100,
            help_option_names=["-h", "--help"],
        )
        lines += ["```text", command.get_help(context), "```", ""]
    lines += ["## Exit status", "", "| status | meaning |", "|---|---|"]
    return "\n".join([*lines, *(f"| {status} | {words} |" for status, words in EXIT_CODES)])


def man_page() -> str:
    """Return the man page in roff, for mpsdoctor(1)."""
    lines = [
        f'.TH MPSDOCTOR 1 "" "mpsdoctor {__version__}"',
        ".SH NAME",
        "mpsdoctor \\- find the one reason why PyTorch cannot use this Mac's GPU",
        ".SH SYNOPSIS",
        ".B mpsdoctor",
        ".I COMMAND",
        "[OPTIONS]",
        ".SH COMMANDS",
    ]
    for name, command in _commands():
        context = click.Context(command, info_name=f"mpsdoctor {name}")
        lines += [f".SS {_roff(' '.join([name, *_arguments(command, context)]))}"]
        lines += [_roff(" ".join(part.split())) + "\n.PP" for part in _help(command).split("\n\n")]
        # Not get_params: click keeps the help option as the first caller's context called it.
        records = [parameter.get_help_record(context) for parameter in command.params]
        for record in (*records, ("-h, --help", "Show this message and exit.")):
            if record is not None:
                lines += [".TP", f".B {_roff(record[0])}", _roff(" ".join(record[1].split()))]
    lines.append(".SH EXIT STATUS")
    for status, words in EXIT_CODES:
        lines += [".TP", f".B {status}", _roff(words)]
    lines += [".SH ENVIRONMENT", ".TP", ".B NO_COLOR, FORCE_COLOR, COLUMNS", "respected in text for people"]
    return "\n".join(lines) + "\n"


def _commands() -> list[tuple[str, click.Command]]:
    context = click.Context(cli)
    found = [(name, cli.get_command(context, name)) for name in COMMANDS]
    return [(name, command) for name, command in found if command is not None]


def _help(command: click.Command) -> str:
    return (command.help or "").replace("\b", "").strip()


def _arguments(command: click.Command, context: click.Context) -> list[str]:
    return [p.make_metavar(context) for p in command.params if isinstance(p, click.Argument)]


def _roff(text: str) -> str:
    escaped = text.replace("\\", "\\e").replace("-", "\\-")
    return f"\\&{escaped}" if escaped[:1] in (".", "'") else escaped


if __name__ == "__main__":
    PAGE.write_text(man_page(), encoding="utf-8")
