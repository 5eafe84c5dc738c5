"""A reader of workflow commands by GitHub's own rules (ActionCommand.cs of actions/runner, read and told anew).

A command is a line that, without the blanks at its ends, begins with "::". Up to the next "::" stand the command's name
and, after one space, its properties, separated by commas, each `key=value`. %0D, %0A and %25 stand for CR, LF and %;
in properties %3A and %2C for : and ,.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Command:
    name: str
    properties: dict[str, str]
    data: str


def read(text: str) -> list[Command]:
    """Return the commands in what a step printed. A runner splits lines at CR, too."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return [command for command in map(_command, lines) if command is not None]


def _command(line: str) -> Command | None:
    line = line.strip()
    if not line.startswith("::") or "::" not in line[2:]:
        return None
    head, data = line[2:].split("::", 1)
    name, _, rest = head.partition(" ")
    properties = {}
    for part in filter(None, rest.split(",")):
        key, equals, value = part.partition("=")
        if equals and value:
            properties[key.strip()] = _decode(value, properties=True)
    return Command(name, properties, _decode(data, properties=False))


def _decode(text: str, *, properties: bool) -> str:
    pairs = [("%0D", "\r"), ("%0A", "\n"), *([("%3A", ":"), ("%2C", ",")] if properties else []), ("%25", "%")]
    for escaped, plain in pairs:
        text = text.replace(escaped, plain)
    return text
