"""`mpsdoctor check`."""

from __future__ import annotations

import functools
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from mpsdoctor.cli.formats import FORMATS, expectation, print_report
from mpsdoctor.cli.options import Seconds, not_onto_input
from mpsdoctor.cli.output import Progress, print_lines, terminal_width
from mpsdoctor.probes.target_child import TORCH_TIMEOUT

if TYPE_CHECKING:
    from mpsdoctor.cli.target import Gathered
    from mpsdoctor.report.model import Report


@click.command()
@click.option(
    "--python", "python", metavar="PATH", help="The interpreter to examine. Default: the active environment's."
)
@click.option(
    "--env", "env", metavar="PATH", help="Read a venv, conda prefix or site-packages from its files; run nothing."
)
@click.option("--from", "from_", multiple=True, metavar="FILE",
              help="Judge a ticket, log or report ('-': stdin); several, or a folder, give a table.")  # fmt: skip
@click.option("--replay", metavar="DIR", help="Judge a recorded machine.")
@click.option("--select", multiple=True, metavar="IDS", help="Only these checks: ids, prefixes (PY) or families.")
@click.option("--ignore", multiple=True, metavar="IDS", help="Not these checks; a reason may follow: PY103=reason.")
@click.option("--no-import", is_flag=True, help="Run the interpreter, but do not import torch.")
@click.option("--smoke", is_flag=True, help="Also train for real on the GPU (see mpsdoctor smoke).")
@click.option("--format", "format_", type=click.Choice(FORMATS), default="text", show_default=True)
@click.option("-o", "--output", type=click.Path(path_type=Path), metavar="FILE", help="Write the answer to a file.")
@click.option("--fail-on", type=click.Choice(["error", "warning", "never"]), default="error", show_default=True)
@click.option("--expect", type=click.Choice(["mps", "cpu", "any"]), default="any", show_default=True,
              help="mps: exit 1 unless the GPU can be used. cpu: exit 1 unless torch imports.")  # fmt: skip
@click.option("--timeout", type=Seconds(1, 3600), default=TORCH_TIMEOUT, show_default=True, metavar="S",
              help="Seconds for everything that torch does.")  # fmt: skip
@click.option("--vm-policy", type=click.Choice(["warn", "fail", "ignore"]), metavar="POLICY",
              help="What a virtual machine's GPU means to a CI job: warn, fail or ignore.")  # fmt: skip
@click.option("-v", "--verbose", is_flag=True, help="Show every cause in full, and every check.")
def check(**options: Any) -> int:
    """Observe this Mac and one Python environment, and name the one cause and the remedy."""
    names, options["from_"] = options["from_"], next(iter(options["from_"]), None)
    _only_one(options)
    not_onto_input(options["output"], names)
    if names:
        from mpsdoctor.cli import tickets

        if tickets.many(names):
            return tickets.check_many(names, options)
    report = judged(options)
    status = _status(report, options)
    if options["format_"] != "text":
        print_report(report, options, status)
    else:
        from mpsdoctor.probes.runner import home_folder
        from mpsdoctor.report.text import Style, format_text

        home = home_folder()
        style = Style(terminal_width(), options["verbose"], None if home is None else str(home))
        unmet = expectation(report, options["expect"], status)
        told = f"--expect {options['expect']} is not met: {unmet}." if unmet else None
        print_lines(format_text(report, style, told), options["output"])
    return status


def _status(report: Report, options: dict[str, Any]) -> int:
    from mpsdoctor.diagnosis import exit_code
    from mpsdoctor.report.vm_policy import exit_with_policy

    asked = {"fail_on": options["fail_on"], "expect": options["expect"]}
    return exit_with_policy(report, exit_code(report.diagnosis, report.facts, **asked), options["vm_policy"], **asked)


def _with_smoke(gathered: Gathered, options: dict[str, Any]) -> Gathered:
    import dataclasses

    from mpsdoctor.cli.smoke import choose
    from mpsdoctor.smoke import SmokeRequest, run_smoke, speed_context

    if gathered.source.kind != "live":
        raise click.UsageError("--smoke trains on this machine; it does not go with --env, --from or --replay")
    runner, executable = choose(options["python"])
    result = run_smoke(runner, executable, SmokeRequest(quick=True, context=speed_context(runner)[1]))
    return dataclasses.replace(gathered, facts=dataclasses.replace(gathered.facts, smoke=result))


def _only_one(options: dict[str, Any]) -> None:
    names = {"python": "--python", "env": "--env", "from_": "--from", "replay": "--replay"}
    given = [names[name] for name in names if options[name] is not None]
    if len(given) > 1:
        raise click.UsageError(f"{' and '.join(given)} ask for different targets; give one of them")


def _load_late(format_: str) -> None:
    """Load what judges and tells while the children run; asked for again afterwards, it is there."""
    from mpsdoctor.registry import load_registry

    load_registry()
    if format_ == "text":
        import mpsdoctor.report.text  # noqa: F401


def judged(options: dict[str, Any]) -> Report:
    """Observe what the target options ask for, and judge it."""
    from mpsdoctor.cli.settings import selection
    from mpsdoctor.cli.target import gather

    chosen = selection(options["select"], options["ignore"])
    started = time.monotonic()
    with Progress("asking the machine and importing torch ..."):
        gathered = gather(
            python=options["python"],
            env=options["env"],
            from_=options["from_"],
            replay=options["replay"],
            import_torch=not options["no_import"],
            timeout=options["timeout"],
            meanwhile=functools.partial(_load_late, options["format_"]),
        )
        if options["smoke"]:
            gathered = _with_smoke(gathered, options)
    from mpsdoctor.registry import load_registry
    from mpsdoctor.report.model import make_report

    return make_report(
        gathered.facts,
        gathered.source,
        load_registry(),
        selection=chosen,
        seconds=time.monotonic() - started if gathered.source.kind == "live" else None,
        problems=gathered.problems,
    )
