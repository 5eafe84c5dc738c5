"""`mpsdoctor list`."""

from __future__ import annotations

from collections.abc import Mapping
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
        lines += described(check.id, _with_origin(check.title, check.origin), column, width)
    return [*lines, *_not_loaded(registry.broken)]


def _place(family: str) -> int:
    from mpsdoctor.registry import FAMILIES

    return FAMILIES.index(family)


def _fixes(width: int) -> list[Text]:
    from mpsdoctor.repair.registry import load_fixes
    from mpsdoctor.report.list_text import described

    fixes = load_fixes()
    column = max((len(fix.id) for fix in fixes.fixes), default=0)
    lines: list[Text] = []
    for fix in fixes.fixes:
        lines += described(fix.id, _with_origin(fix.title, fix.origin), column, width)
    return [*lines, *_not_loaded(fixes.broken)]


def _with_origin(title: str, origin: str) -> str:
    return title if origin == "mpsdoctor" else f"{title} [{origin}]"


def _not_loaded(broken: Mapping[str, str]) -> list[Text]:
    from rich.text import Text

    from mpsdoctor.report.words import printable

    return [Text(printable(f"not loaded: {name}: {why}"), style="red") for name, why in broken.items()]
