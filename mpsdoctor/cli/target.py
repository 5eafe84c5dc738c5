"""Turns the target options of a command into facts: live, from files, from a recording or from a report."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from mpsdoctor.facts import Facts
from mpsdoctor.probes.runner import expanded, home_folder
from mpsdoctor.report.source import Source
from mpsdoctor.selection import Selection

if TYPE_CHECKING:
    from mpsdoctor.facts.redaction import Redactor

SETTINGS = frozenset({"ignore", "select"})
SETTINGS_LIMIT = 4 * 1024 * 1024  # bytes; the longest pyproject.toml files have some 100 kB
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
    timeout: float = 60.0,
) -> Gathered:
    """Get the facts that the options ask for. Raises ClickException with one plain line for bad input."""
    if env is not None:
        return _from_env(env)
    if from_ is not None:
        from mpsdoctor.cli.tickets import gather_ticket

        return gather_ticket(from_)
    if replay is not None:
        return _from_recording(replay, import_torch, timeout)
    return _live(python, import_torch, timeout)


def _live(python: str | None, import_torch: bool, timeout: float) -> Gathered:
    from mpsdoctor.observe import observe
    from mpsdoctor.probes.choice import NoSuchInterpreter, choose_target
    from mpsdoctor.probes.runner import LiveRunner

    runner = LiveRunner()
    try:
        target = choose_target(python, runner.environ)
    except NoSuchInterpreter as error:
        raise click.UsageError(str(error)) from error
    facts, problems = observe(runner, target, import_torch=import_torch, timeout=timeout)
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


def selection(select: tuple[str, ...], ignore: tuple[str, ...]) -> Selection:
    """Combine the options with [tool.mpsdoctor] of the pyproject.toml in the working folder or above it.

    Raises UsageError for a token that names no check.
    """
    settings = _settings()
    selected = _tokens(select) or _tokens(tuple(_strings(settings.get("select"), "select")))
    ignored = dict(_with_reason(token) for token in _tokens(tuple(_strings(settings.get("ignore"), "ignore"))))
    ignored.update(_with_reason(token) for token in _tokens(ignore))
    if selected or ignored:
        _known((*selected, *ignored))
    return Selection(tuple(selected), ignored)


def _tokens(values: tuple[str, ...]) -> list[str]:
    tokens: list[str] = []
    for value in values:
        # A reason may hold commas, so that only an option without a reason is a list.
        tokens += [value.strip()] if "=" in value else [part.strip() for part in value.split(",") if part.strip()]
    return tokens


def _with_reason(token: str) -> tuple[str, str]:
    name, _, reason = token.partition("=")
    return name.strip(), reason.strip()


def _known(tokens: tuple[str, ...]) -> None:
    from mpsdoctor.registry import load_registry
    from mpsdoctor.report.program import command

    checks = load_registry().checks
    for token in tokens:
        if not token or not any(c.id.startswith(token.upper()) or c.family == token.lower() for c in checks):
            raise click.UsageError(f"no check is called {token!r}; {command('list checks')} shows them")


def _settings() -> dict[str, Any]:
    try:
        start = Path.cwd()
    except OSError:  # the working folder was deleted
        return {}
    for folder in (start, *start.parents):
        path = folder / "pyproject.toml"
        try:
            if not path.is_file():
                continue
        except OSError:  # a folder above that this user may not read
            continue
        if sys.version_info >= (3, 11):
            import tomllib  # novermin: behind the test of the version
        else:
            import tomli as tomllib
        try:
            if path.stat().st_size > SETTINGS_LIMIT:
                raise ValueError(f"it is larger than {SETTINGS_LIMIT >> 20} MB")
            document = tomllib.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError, RecursionError) as error:
            raise click.UsageError(f"{path} cannot be read: {' '.join(str(error).split())[:200]}") from error
        tools = document.get("tool", {})
        table = tools.get("mpsdoctor", {}) if isinstance(tools, dict) else {}
        if not isinstance(table, dict):
            raise click.UsageError(f"{path}: [tool.mpsdoctor] must be a table")
        strangers = sorted(table.keys() - SETTINGS)
        if strangers:
            raise click.UsageError(
                f"{path}: [tool.mpsdoctor] has no setting {strangers[0]!r}; it has ignore and select"
            )
        return table
    return {}


def _strings(value: object, name: str) -> list[str]:
    if value is None:
        return []
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        return value
    if isinstance(value, dict) and name == "ignore" and all(isinstance(item, str) for item in value.values()):
        return [f"{token}={reason}" for token, reason in value.items()]
    raise click.UsageError(f"[tool.mpsdoctor] in pyproject.toml: {name} must be a list of texts")
