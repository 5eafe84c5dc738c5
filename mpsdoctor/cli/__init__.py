"""The command line: one click command per file, loaded when it is called."""

from __future__ import annotations

import contextlib
import importlib
import signal
import sys
import time
from typing import Any, NoReturn

import click

from mpsdoctor import __version__

# name -> (module, attribute, one line for --help); the modules load only when their command runs
COMMANDS = {
    "check": ("mpsdoctor.cli.check", "check", "Observe this Mac and one Python, name the cause and the remedy."),
    "fix": ("mpsdoctor.cli.fix", "fix", "Plan the repair, show it, and after a yes do it and prove it."),
    "undo": ("mpsdoctor.cli.undo", "undo", "Take a repair back, exactly."),
    "smoke": ("mpsdoctor.cli.smoke", "smoke", "Train for real on the GPU and compare with the CPU."),
    "explain": ("mpsdoctor.cli.explain", "explain", "Explain a check or a cause, offline."),
    "list": ("mpsdoctor.cli.listing", "listing", "List the checks, the fixes or the causes."),
    "report": ("mpsdoctor.cli.report", "report", "Write one redacted file for a ticket; nothing is sent."),
    "diff": ("mpsdoctor.cli.diff", "diff", "Say what differs between two reports, the worst first."),
    "record": ("mpsdoctor.cli.record", "record", "Record this machine so that check --replay plays it anywhere."),
    "completion": ("mpsdoctor.cli.completion", "completion", "Print the completion script for a shell."),
}
LONGEST_MESSAGE = 500  # characters
USAGE, INTERNAL_ERROR, INTERRUPTED = 2, 5, 130
_ONE_INTERRUPTION = 1.0  # seconds; a terminal sends one to each process of the job, and people press twice


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
    4 a fix ran and its cause is still there, 5 internal error, 130 interrupted.
    """


def main(arguments: list[str] | None = None) -> NoReturn:
    """Run the command line. The last line of defence: whatever escapes becomes one plain line and exit status 5."""
    for number in _interrupts():
        if signal.getsignal(number) in (signal.SIG_DFL, signal.default_int_handler):  # nohup ignores SIGHUP: that stays
            signal.signal(number, _interrupted)
    _leave(_run(arguments))


def _run(arguments: list[str] | None) -> int:
    try:
        status = cli.main(args=arguments, standalone_mode=False)
    except click.ClickException as error:
        _show(error)
        return error.exit_code
    except (KeyboardInterrupt, click.Abort):
        return _stopped()
    except SystemExit as error:
        if _raised_in(error).startswith("click."):
            return 0  # click's own answer to a reader that went away, as in `mpsdoctor --help | head -1`
        _end_children()
        return _unexpected(error)
    except Exception as error:
        _end_children()
        # Python before 3.12 puts another error around what comes while it makes a class.
        return _stopped() if isinstance(error.__cause__, KeyboardInterrupt) else _unexpected(error)
    return status if isinstance(status, int) else 0


def _stopped() -> int:
    for number in _interrupts():  # from here on everything ends anyway
        signal.signal(number, lambda *_: None)  # SIG_IGN: Python complains of a signal that came in between
    _end_children()
    _say("interrupted; nothing was changed")
    return INTERRUPTED


def _show(error: click.ClickException) -> None:
    """Print one line; the two of usage that click prints before it say nothing about a file that cannot be read."""
    if isinstance(error, getattr(click.exceptions, "NoArgsIsHelpError", ())):
        error.show()
        return
    hint = ""
    if isinstance(error, click.UsageError) and type(error) is not click.UsageError and error.ctx is not None:
        hint = f" (options: {error.ctx.command_path} --help)"
    message = error.format_message()
    if len(message) > LONGEST_MESSAGE:  # a name may be as long as the system allows
        message = f"{message[: LONGEST_MESSAGE // 2]} ... {message[-LONGEST_MESSAGE // 2 :]}"
    _say(f"Error: {message}{hint}")


def _unexpected(error: Exception | SystemExit) -> int:
    from mpsdoctor.cli.output import cannot_write

    if isinstance(error, OSError) and cannot_write(error):
        _say(f"Error: the answer could not be written: {error.strerror}")
        return USAGE
    text = " ".join(str(error).split())[:300]
    _say(f"mpsdoctor itself failed: {type(error).__name__}: {text} (at {_raised_in(error)}). Please report this line.")
    return INTERNAL_ERROR


def _raised_in(error: BaseException) -> str:
    """Return the module and the line that raised."""
    trace, where = error.__traceback__, ""
    while trace is not None:
        where = f"{trace.tb_frame.f_globals.get('__name__', '?')}:{trace.tb_lineno}"
        trace = trace.tb_next
    return where


def _say(line: str) -> None:
    """Print one line on stderr, without the escapes that names may hold; nowhere where stderr takes nothing."""
    from mpsdoctor.report.words import printable

    with contextlib.suppress(OSError, ValueError):
        click.echo(printable(line), err=True)


def _interrupts() -> list[signal.Signals]:
    return [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]


_last_interruption = -1.0


def _interrupted(number: int, frame: Any) -> None:
    """A second Ctrl-C must not cut short what the first one begins. After a second it counts again.

    For where it comes inside of a callback of Python's own, an interruption is swallowed there.
    """
    global _last_interruption
    now = time.monotonic()
    if 0 <= now - _last_interruption < _ONE_INTERRUPTION:
        return
    _last_interruption = now
    raise KeyboardInterrupt


def _end_children() -> None:
    if "mpsdoctor.probes.process" in sys.modules:
        sys.modules["mpsdoctor.probes.process"].end_all_children()


def _leave(status: int) -> NoReturn:
    if sys.stdout is not None:
        try:
            sys.stdout.flush()
        except (OSError, ValueError) as error:
            sys.stdout = None  # else Python complains once more at exit
            if isinstance(error, OSError) and not isinstance(error, BrokenPipeError):
                _say(f"Error: the answer could not be written: {error.strerror}")
                status = status or USAGE
    sys.exit(status)
