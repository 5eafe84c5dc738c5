"""Types of options that several commands share."""

from __future__ import annotations

import math
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import click


def not_onto_input(output: str | Path | None, inputs: Iterable[str | None]) -> None:
    """Raise UsageError where the answer would replace the very file that it is made from."""
    if output is None:
        return
    for name in inputs:
        try:
            same = name is not None and Path(output).is_file() and Path(output).samefile(name)
        except (OSError, ValueError):  # one of them is not there
            continue
        if same:
            raise click.UsageError(f"-o {output} is the file that is read here; give the answer another name")


def once(ctx: click.Context, param: click.Parameter, values: tuple[str, ...]) -> str | None:
    """Return the value of an option that takes one; given twice, it is no silent choice of the last.

    For options declared with `multiple=True`. Raises BadParameter.
    """
    if len(values) > 1:
        raise click.BadParameter(f"give one; {len(values)} were given", ctx, param)
    return values[0] if values else None


class Seconds(click.FloatRange):
    """A time limit within bounds; click's own range lets NaN pass, which is smaller and larger than nothing."""

    name = "seconds"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Return the number of seconds."""
        try:
            float(value)
        except (TypeError, ValueError):
            self.fail(f"{value!r} is no number of seconds.", param, ctx)
        number = float(super().convert(value, param, ctx))
        if math.isnan(number):
            self.fail(f"{value!r} is no number of seconds.", param, ctx)
        return number
