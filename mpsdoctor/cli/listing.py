"""`mpsdoctor list`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from mpsdoctor.cli.output import print_lines, terminal_width

if TYPE_CHECKING:
    from rich.text import Text


@click.command()
@click.argument("what", type=click.Choice(["checks", "fixes", "causes"]), default="checks")
def listing(what: str) -> int:
    """List the checks, the fixes or the causes."""
    width = terminal_width()
    lines = {"checks": _checks, "fixes": _fixes, "causes": _causes}[what](width)
    print_lines(lines, None)
    return 0


def _causes(width: int) -> list[Text]:
    from mpsdoctor.report.list_text import list_causes

    return list_causes(width)


def _checks(width: int) -> list[Text]:
    from rich.text import Text

    from mpsdoctor.registry import load_registry
    from mpsdoctor.report.list_text import described

    registry = load_registry()
    column = max(len(check.id) for check in registry.checks)
    family = ""
    lines: list[Text] = []
    for check in sorted(registry.checks, key=lambda one: _place(one.family)):
        if check.family != family:
            family = check.family
            lines += [Text()] if lines else []
            lines.append(Text(family, style="bold"))
        origin = "" if check.origin == "mpsdoctor" else f" [{check.origin}]"
        lines += described(check.id, check.title + origin, column, width)
    lines += [Text(f"not loaded: {name}: {why}", style="red") for name, why in registry.broken.items()]
    return lines


def _place(family: str) -> int:
    from mpsdoctor.registry import FAMILIES

    return FAMILIES.index(family)


def _fixes(width: int) -> list[Text]:
    from importlib.metadata import entry_points

    from rich.text import Text

    from mpsdoctor.report.list_text import described

    points = sorted(entry_points(group="mpsdoctor.fixes"), key=lambda point: point.name)
    if not points:
        return [Text("There are no fixes yet: this version only observes and explains.")]
    lines: list[Text] = []
    for point in points:
        doc = (getattr(point.load(), "__doc__", None) or "").strip().split("\n", 1)[0]
        lines += described(point.name, doc, 14, width)
    return lines
