"""`mpsdoctor smoke`."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from mpsdoctor import __version__
from mpsdoctor.cli.options import Seconds
from mpsdoctor.cli.output import print_lines, print_text, terminal_width, write_file

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

    from mpsdoctor.facts import Smoke

SCHEMA = "mpsdoctor.smoke/1"
EXIT_CODES = {"pass": 0, "fail": 1}
NOTHING_DECIDED = 3
STAGES = ("allocate", "numerics", "train", "fallback", "speed")


@click.command()
@click.option("--python", metavar="PATH", help="The interpreter to train with. Default: the active environment's.")
@click.option("--device", type=click.Choice(["mps", "cpu", "cuda"]), default="mps", show_default=True)
@click.option("--dtype", type=click.Choice(["float16", "bfloat16", "float32"]), default="float16", show_default=True)
@click.option("--quick", is_flag=True, help="Fewer steps and sizes.")
@click.option("--timeout", type=Seconds(1, 7200), default=1200.0, show_default=True, metavar="S")
@click.option("--seed", type=click.IntRange(0, 2**63 - 1), default=0, show_default=True, metavar="N")
@click.option("--plot", type=click.Path(path_type=Path), metavar="FILE", help="Write the speed sweep as SVG.")
@click.option("--format", "format_", type=click.Choice(["text", "json"]), default="text", show_default=True)
@click.option("-o", "--output", type=click.Path(path_type=Path), metavar="FILE", help="Write the answer to a file.")
def smoke(**options: Any) -> int:
    """Train for real on the GPU in half precision, compare with the CPU, and measure how fast it is.

    Exit status: 0 it trains, 1 it does not, 3 nothing could be decided.
    """
    from mpsdoctor.smoke import SmokeRequest, run_smoke, speed_context

    runner, executable = choose(options["python"])
    _, context = speed_context(runner)
    request = SmokeRequest(
        device=options["device"],
        dtype=options["dtype"],
        quick=options["quick"],
        timeout=options["timeout"],
        seed=options["seed"],
        context=context,
    )
    with LiveProgress() as progress:
        result = run_smoke(runner, executable, request, progress.event)
    _print(result, executable, context, options)
    return EXIT_CODES.get(result.outcome or "", NOTHING_DECIDED)


def choose(python: str | None) -> tuple[Any, str]:
    """Return a live runner and the interpreter. Raises UsageError for a path that cannot be one."""
    from mpsdoctor.probes.choice import NoSuchInterpreter, choose_target
    from mpsdoctor.probes.runner import LiveRunner

    runner = LiveRunner()
    try:
        target = choose_target(python, runner.environ)
    except NoSuchInterpreter as error:
        raise click.UsageError(str(error)) from error
    if target.dangling:
        raise click.UsageError(f"{target.executable} is a link to {target.dangling}, which is gone")
    return runner, target.executable


def _print(result: Smoke, executable: str, context: Mapping[str, Any], options: Mapping[str, Any]) -> None:
    from mpsdoctor.report.smoke_svg import speed_svg
    from mpsdoctor.report.smoke_text import format_smoke

    if options["format_"] == "json":
        from mpsdoctor.cli.target import make_redactor
        from mpsdoctor.facts import encode

        document = {
            "schema": SCHEMA,
            "tool": {"version": __version__},
            "created": datetime.now(timezone.utc).isoformat(timespec="seconds"),
            "source": {"kind": "live", "name": executable},
            "context": dict(context),
            "smoke": encode(result),
        }
        text = json.dumps(make_redactor().value(document), indent=2, ensure_ascii=False)
        print_text(text, options["output"])
    else:
        print_lines(format_smoke(result, terminal_width()), options["output"])
    if options["plot"] is not None:
        picture = speed_svg(result)
        if picture is None:
            click.echo(f"{options['plot']} was not written: no size was compared with the CPU", err=True)
        else:
            write_file(options["plot"], picture)


class LiveProgress:
    """A bar over the stages on stderr, with the operator or step that runs now; nothing where nobody watches."""

    def __init__(self) -> None:
        self._progress: Progress | None = None
        self._task: TaskID | None = None
        self._done = 0

    def __enter__(self) -> LiveProgress:
        if sys.stderr is not None and sys.stderr.isatty():
            from rich.console import Console
            from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

            columns = (BarColumn(bar_width=20), TimeElapsedColumn(), TextColumn("{task.description}"))
            self._progress = Progress(*columns, console=Console(stderr=True), transient=True)
            self._progress.start()
            self._task = self._progress.add_task("starting torch", total=len(STAGES))
        return self

    def event(self, event: Mapping[str, Any]) -> None:
        """Show one event."""
        if self._progress is None or self._task is None:
            return
        if event.get("event") == "stage" and event.get("state") == "ended":
            self._done += 1
        names = [str(event[key]) for key in ("stage", "network", "case", "operator", "step") if key in event]
        if names:
            from mpsdoctor.report.words import printable

            words = printable(" · ".join(names))[:60].replace("[", "(")
            self._progress.update(self._task, completed=self._done, description=words)

    def __exit__(self, *_: object) -> None:
        if self._progress is not None:
            self._progress.stop()
