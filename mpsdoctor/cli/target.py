"""Turns the target options of a command into facts: live, from files, from a recording or from a report."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from mpsdoctor.probes.runner import expanded, home_folder
from mpsdoctor.probes.target_child import TORCH_TIMEOUT
from mpsdoctor.report.source import Source

if TYPE_CHECKING:
    from mpsdoctor.facts import Facts
    from mpsdoctor.facts.redaction import Redactor

REPORT_LIMIT = 64 * 1024 * 1024  # bytes; a full report of 300 packages has under 1 MB


@dataclass(frozen=True)
class Gathered:
    """Facts, where they came from, and what could not be read."""

    facts: Facts
    source: Source
    problems: tuple[str, ...] = ()


def gather(
    *,
    python: str | None,
    env: str | None,
    from_: str | None,
    replay: str | None,
    import_torch: bool = True,
    timeout: float = TORCH_TIMEOUT,
    meanwhile: Callable[[], None] = lambda: None,
) -> Gathered:
    """Get the facts that the options ask for. Raises ClickException with one plain line for bad input.

    meanwhile: see `observe`; not called where nothing runs that could be waited for.
    """
    if env is not None:
        return _from_env(env)
    if from_ is not None:
        from mpsdoctor.cli.tickets import gather_ticket

        return gather_ticket(from_)
    if replay is not None:
        return _from_recording(replay, import_torch, timeout)
    return _live(python, import_torch, timeout, meanwhile)


def _live(python: str | None, import_torch: bool, timeout: float, meanwhile: Callable[[], None]) -> Gathered:
    from mpsdoctor.observe import observe
    from mpsdoctor.probes.choice import NoSuchInterpreter, choose_target
    from mpsdoctor.probes.runner import LiveRunner

    runner = LiveRunner()
    try:
        target = choose_target(python, runner.environ)
    except NoSuchInterpreter as error:
        raise click.UsageError(str(error)) from error
    facts, problems = observe(runner, target, import_torch=import_torch, timeout=timeout, meanwhile=meanwhile)
    recording = runner.environ.get("MPSDOCTOR_HOST_RECORDING")
    if recording:
        from mpsdoctor.probes.demonstration import as_if_on

        facts = as_if_on(_from_recording(recording, False, timeout).facts, facts)
        problems.append(f"the Mac is that of the recording {recording} (MPSDOCTOR_HOST_RECORDING), not this machine")
    return Gathered(facts, Source("live", target.executable), tuple(problems))


def _from_env(env: str) -> Gathered:
    from mpsdoctor.probes.env_folder import NotAnEnvironment, read_env

    try:
        return Gathered(read_env(expanded(env)), Source("env", env))
    except NotAnEnvironment as error:
        raise click.UsageError(str(error)) from error
    except FileNotFoundError as error:  # a relative path, and the working folder was deleted
        raise click.UsageError(f"{env!r} cannot be read: the folder in which this runs is gone") from error


def _from_recording(replay: str, import_torch: bool, timeout: float) -> Gathered:
    from mpsdoctor.observe import observe
    from mpsdoctor.probes.choice import Target
    from mpsdoctor.probes.replay import NotARecording, ReplayRunner

    try:
        runner = ReplayRunner(expanded(replay))
    except NotARecording as error:
        raise click.UsageError(str(error)) from error
    facts, problems = observe(runner, Target("python", "the recording"), import_torch=import_torch, timeout=timeout)
    return Gathered(facts, Source("replay", runner.name), (*runner.problems, *problems))


def read_bytes(name: str) -> bytes:
    """Read a file or stdin ("-"). Raises UsageError in plain words."""
    if name == "-":
        if sys.stdin is None:
            raise click.UsageError("there is nothing on stdin")
        data = sys.stdin.buffer.read(REPORT_LIMIT + 1)
    else:
        path = expanded(name)
        try:
            if not path.exists():
                raise click.UsageError(f"there is no file {name!r}")
            # A pipe, as the shell's <(command) makes one, is read to its end.
            if not (path.is_file() or path.is_fifo()):
                raise click.UsageError(f"{name!r} is no file that can be read")
            if path.stat().st_size > REPORT_LIMIT:
                raise click.UsageError(f"{name!r} is larger than {REPORT_LIMIT >> 20} MB; no report is")
            data = _content(path)
        except (OSError, ValueError) as error:
            if isinstance(error, OSError) and error.strerror:
                raise click.UsageError(f"{name!r} cannot be read: {error.strerror}") from error
            raise click.UsageError(f"{name!r} cannot be read: {error}") from error
    if len(data) > REPORT_LIMIT:
        raise click.UsageError(f"more than {REPORT_LIMIT >> 20} MB; no report is that large")
    return data


def _content(path: Path) -> bytes:
    """Read a file or a pipe; a pipe that nobody writes into is empty, and no wait for ever."""
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
    with os.fdopen(descriptor, "rb") as file:
        os.set_blocking(descriptor, True)
        return file.read(REPORT_LIMIT + 1)


def make_redactor(kind: type[Redactor] | None = None) -> Redactor:
    """Return a redactor, of that kind where one is given, that knows this user, home folder and host."""
    import getpass
    import platform

    from mpsdoctor.facts.redaction import Redactor

    try:
        user: str | None = getpass.getuser()
    except (OSError, KeyError, ImportError):
        user = None
    home = home_folder()
    return (kind or Redactor)(home=None if home is None else str(home), user=user, host=platform.node() or None)
