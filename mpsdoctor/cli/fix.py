"""`mpsdoctor fix`."""

from __future__ import annotations

import os
import sys
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from mpsdoctor.cli.options import Seconds, once
from mpsdoctor.cli.output import Progress, print_lines, print_text, terminal_width
from mpsdoctor.report.program import command

if TYPE_CHECKING:
    from mpsdoctor.repair.apply import Applied
    from mpsdoctor.repair.plan import Plan
    from mpsdoctor.repair.survey import Survey
    from mpsdoctor.report.model import Report

STILL_THERE = 4
_FOUND = "An earlier run on this environment was interrupted"
_FIRST = "Take it back first, and plan the repair anew?"


@click.command()
@click.option(
    "--python", "python", metavar="PATH", help="The interpreter to repair. Default: the active environment's."
)
@click.option("--env", "env", metavar="PATH", help="Plan for an environment by its files; changes nothing.")
@click.option(
    "--from",
    "from_",
    multiple=True,
    callback=once,
    metavar="FILE",
    help="Plan for the Mac of an mpsdoctor report; changes nothing.",
)
@click.option("--replay", metavar="DIR", help="Plan for a recorded Mac; changes nothing.")
@click.option("--only", multiple=True, metavar="CAUSE", help="Repair this cause alone (may be given again).")
@click.option("--nightly", metavar="VERSION|DATE", help="Install this night's torch and torchvision.")
@click.option("--index-url", metavar="URL", help="A mirror of PyTorch's nightly index, for --nightly.")
@click.option("--save-wheels", metavar="DIR", help="Keep the nightly's wheels here.")
@click.option("--resolve", is_flag=True, help="For another Mac: ask uv whether the index has all of it there.")
@click.option("--yes", is_flag=True, help="Do it without asking.")
@click.option("--dry-run", is_flag=True, help="Show the plan only.")
@click.option("--format", "format_", type=click.Choice(["text", "json"]), default="text", show_default=True)
@click.option("-o", "--output", type=click.Path(path_type=Path), metavar="FILE", help="Write the answer to a file.")
@click.option("--timeout", type=Seconds(1, 3600), default=60.0, show_default=True, metavar="S",
              help="Seconds for everything that torch does.")  # fmt: skip
@click.option("-v", "--verbose", is_flag=True, help="Show whole commands.")
def fix(**options: Any) -> int:
    """Plan the repair of what `check` finds, show it, and after a yes do it, prove it, and keep the way back.

    Without a terminal and without --yes the plan is shown, nothing is changed, and the exit status is 1.
    """
    _usage(options)
    with Progress("asking the machine and importing torch ..."):
        report, plan = _plan(options)
    live = report.source.kind == "live"
    show = _Show(options)
    may_change = live and not options["dry_run"] and (options["yes"] or _can_ask(options))
    if may_change and (old := _interrupted_run(plan)) is not None:
        from mpsdoctor.cli.applying import take_back

        if not options["yes"] and not click.confirm(f"{_FOUND} ({old}). {_FIRST}", default=False, err=True):
            click.echo(f"nothing was changed; {command(f'undo {old}')} takes it back", err=True)
            return 1
        take_back(plan.target)
        with Progress("asking the machine and importing torch ..."):
            report, plan = _plan(options)
    if not live or options["dry_run"] or not plan.steps:
        there = f"On that Mac: {command('fix')}" if plan.steps else None
        show.plan(report, plan, _interrupted(plan) if live else there)
        return _planned_status(report, plan)
    if not options["yes"] and not _can_ask(options):
        last = f"Nothing was changed: there is no terminal to ask on. To have it done: {command('fix --yes')}"
        show.plan(report, plan, _interrupted(plan) or last)
        return 1
    if options["format_"] == "text" and options["output"] is None:
        show.plan(report, plan, None)
    if not options["yes"] and not click.confirm("Go ahead?", default=False, err=True):
        click.echo("nothing was changed", err=True)
        return 1
    from mpsdoctor.cli.applying import apply

    applied = apply(report, plan, options["timeout"])
    show.applied(report, plan, applied)
    return {"fixed": 0, "interrupted": 130}.get(applied.outcome, STILL_THERE)


def _usage(options: dict[str, Any]) -> None:
    names = {"python": "--python", "env": "--env", "from_": "--from", "replay": "--replay"}
    given = [names[name] for name in names if options[name] is not None]
    if len(given) > 1:
        raise click.UsageError(f"{' and '.join(given)} ask for different targets; give one of them")
    if options["yes"] and options["dry_run"]:
        raise click.UsageError("--yes and --dry-run contradict each other")
    if options["yes"] and given and given[0] != "--python":
        raise click.UsageError(
            f"{given[0]} plans for another machine or from files; only a live target is ever changed"
        )
    if options["index_url"] is not None and not options["index_url"].startswith(("https://", "http://", "file://")):
        raise click.UsageError("--index-url needs an address that begins with https://")
    if options["save_wheels"] is not None:
        options["save_wheels"] = str(Path(options["save_wheels"]).expanduser().absolute())


def _plan(options: dict[str, Any]) -> tuple[Report, Plan]:
    from mpsdoctor.cli.target import gather
    from mpsdoctor.registry import load_registry
    from mpsdoctor.repair.planner import make_plan, with_project_pins
    from mpsdoctor.repair.registry import load_fixes
    from mpsdoctor.repair.situation import Request
    from mpsdoctor.report.model import make_report

    gathered = gather(
        python=options["python"],
        env=options["env"],
        from_=options["from_"],
        replay=options["replay"],
        timeout=options["timeout"],
    )
    report = make_report(gathered.facts, gathered.source, load_registry(), problems=gathered.problems)
    causes = {cause.cause for cause in report.diagnosis.causes}
    unknown = [cause for cause in options["only"] if not _is_cause(cause)]
    if unknown:
        raise click.UsageError(f"no cause is called {unknown[0]!r}; {command('list causes')} shows them")
    survey = _survey(report, causes) if gathered.source.kind == "live" else None
    report = with_project_pins(report, survey)
    request = Request(options["nightly"], options["index_url"], options["save_wheels"], date.today())
    fixes = load_fixes()
    plan = make_plan(report.facts, report.diagnosis, fixes, survey=survey, request=request, only=options["only"])
    if survey is not None:
        from mpsdoctor.repair.resolve import with_resolution

        plan = with_resolution(plan, report.facts, os.environ)
    elif options["resolve"]:
        from shutil import which

        from mpsdoctor.repair.elsewhere import with_resolution_elsewhere

        plan = with_resolution_elsewhere(plan, report.facts, os.environ, which("uv"))
    return report, plan


def _is_cause(name: str) -> bool:
    from mpsdoctor.knowledge.causes import cause
    from mpsdoctor.repair.registry import load_fixes

    return cause(name) is not None or bool(load_fixes().for_cause(name))


def _survey(report: Report, causes: set[str]) -> Survey:
    from mpsdoctor.repair.look import look_around

    return look_around(report.facts, causes, os.environ, Path.cwd())


def _interrupted(plan: Plan) -> str | None:
    """Offer to finish or undo a run on this target that was interrupted."""
    old = _interrupted_run(plan)
    if old is None:
        return None
    return (
        f"{_FOUND}. {command(f'undo {old}')} takes it back; {command('fix --yes')} takes it back and does the repair "
        "anew."
    )


def _interrupted_run(plan: Plan) -> str | None:
    from mpsdoctor.repair.store import Store

    old = Store().interrupted(plan.target)
    return None if old is None else old.id


def _planned_status(report: Report, plan: Plan) -> int:
    """0 where there is a plan or nothing to repair, 1 where what was found cannot be repaired here, 3 undecided."""
    verdict = report.diagnosis.verdict
    if plan.steps or verdict == "not-applicable":
        return 0
    if not plan.manual and not plan.refused:
        return 0
    return 3 if verdict == "undecided" else 1


def _can_ask(options: dict[str, Any]) -> bool:
    return bool(options["format_"] == "text" and sys.stdin and sys.stdin.isatty() and sys.stderr.isatty())


class _Show:
    """Prints plan and result in the format that was asked for."""

    def __init__(self, options: dict[str, Any]) -> None:
        from mpsdoctor.report.text import Style

        self._json = options["format_"] == "json"
        self._output = options["output"]
        self._style = Style(terminal_width(), options["verbose"], str(Path.home()))

    def plan(self, report: Report, plan: Plan, last: str | None) -> None:
        from mpsdoctor.report.plan_text import format_plan

        if self._json:
            self._document(report, plan, None)
        else:
            print_lines(format_plan(plan.to_json(), report.facts, self._style, last=last), self._output)

    def applied(self, report: Report, plan: Plan, applied: Applied) -> None:
        from mpsdoctor.report.plan_text import format_applied

        if self._json:
            self._document(report, plan, applied)
        else:
            print_lines(format_applied(applied.to_json(), self._style), self._output)

    def _document(self, report: Report, plan: Plan, applied: Applied | None) -> None:
        from mpsdoctor.cli.target import make_redactor
        from mpsdoctor.repair.apply import with_plan
        from mpsdoctor.report.json_format import format_json

        print_text(format_json(with_plan(report, plan, applied), make_redactor()), self._output)
