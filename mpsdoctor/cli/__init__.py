"""The command line: one click command per file, loaded when it is called."""

from __future__ import annotations

import importlib
import signal
import sys
from typing import Any

import click

from mpsdoctor import __version__

# name -> (module, attribute, one line for --help); the modules load only when their command runs
COMMANDS = {
    "check": ("mpsdoctor.cli.check", "check", "Observe this Mac and one Python, name the cause and the remedy."),
    "explain": ("mpsdoctor.cli.explain", "explain", "Explain a check or a cause, offline."),
    "list": ("mpsdoctor.cli.listing", "listing", "List the checks or the causes."),
    "record": ("mpsdoctor.cli.record", "record", "Record this machine so that check --replay plays it anywhere."),
}
INTERNAL_ERROR, INTERRUPTED = 5, 130


class LazyGroup(click.Group):
    """A group whose commands are imported on demand, so that --help stays fast."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names in the order of use."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import one command."""
        if cmd_name not in COMMANDS:
            return None
        module, attribute, _ = COMMANDS[cmd_name]
        command: click.Command = getattr(importlib.import_module(module), attribute)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the table of commands without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, line) for name, (_, _, line) in COMMANDS.items()])


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 80})
@click.version_option(__version__, prog_name="mpsdoctor")
def cli() -> None:
    """Find the one reason why PyTorch cannot use this Mac's GPU, and the remedy.

    Exit status: 0 healthy or not applicable, 1 a finding at or above --fail-on, 2 usage, 3 nothing could be decided,
    5 internal error, 130 interrupted.
    """


def main(arguments: list[str] | None = None) -> None:
    """Run the command line. The last line of defence: whatever escapes becomes one plain line and exit status 5."""
    signal.signal(signal.SIGTERM, _terminated)
    try:
        status = cli.main(args=arguments, standalone_mode=False)
    except click.ClickException as error:
        error.show()
        _leave(error.exit_code)
    except (KeyboardInterrupt, click.Abort):
        _end_children()
        click.echo("interrupted; nothing was changed", err=True)
        _leave(INTERRUPTED)
    except BrokenPipeError:
        _leave(141)  # the reader of our output went away: 128 + SIGPIPE, as the shell says it
    except Exception as error:
        _end_children()
        _internal_error(error)
        _leave(INTERNAL_ERROR)
    _leave(status if isinstance(status, int) else 0)


def _internal_error(error: Exception) -> None:
    trace = error.__traceback__
    where = ""
    while trace is not None:
        where = f"{trace.tb_frame.f_globals.get('__name__', '?')}:{trace.tb_lineno}"
        trace = trace.tb_next
    text = " ".join(str(error).split())[:300]
    click.echo(
        f"mpsdoctor itself failed: {type(error).__name__}: {text} (at {where}). Please report this line.", err=True
    )


def _terminated(number: int, frame: Any) -> None:
    raise KeyboardInterrupt


def _end_children() -> None:
    if "mpsdoctor.probes.process" in sys.modules:
        sys.modules["mpsdoctor.probes.process"].end_all_children()


def _leave(status: int) -> None:
    try:
        sys.stdout.flush()
    except (BrokenPipeError, ValueError):
        sys.stdout = None  # else Python complains once more at exit
    sys.exit(status)
