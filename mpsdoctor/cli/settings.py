"""Which checks are asked: the options, and [tool.mpsdoctor] of the pyproject.toml in the working folder or above it."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from mpsdoctor.selection import Selection

SETTINGS = frozenset({"ignore", "select"})
SETTINGS_LIMIT = 4 * 1024 * 1024  # bytes; the longest pyproject.toml files have some 100 kB


def selection(select: tuple[str, ...], ignore: tuple[str, ...]) -> Selection:
    """Combine the options with [tool.mpsdoctor] of the pyproject.toml in the working folder or above it.

    Raises UsageError for a token that names no check.
    """
    settings = _settings()
    if select and not _tokens(select):  # an unset variable in a CI script must not turn into "everything"
        raise click.UsageError("--select names no check")
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
    path = _pyproject()
    document = _document(path) if path is not None else {}
    tools = document.get("tool", {})
    table = tools.get("mpsdoctor", {}) if isinstance(tools, dict) else {}
    if not isinstance(table, dict):
        raise click.UsageError(f"{path}: [tool.mpsdoctor] must be a table")
    strangers = sorted(table.keys() - SETTINGS)
    if strangers:
        raise click.UsageError(f"{path}: [tool.mpsdoctor] has no setting {strangers[0]!r}; it has ignore and select")
    return table


def _pyproject() -> Path | None:
    try:
        start = Path.cwd()
    except OSError:  # the working folder was deleted
        return None
    for folder in (start, *start.parents):
        path = folder / "pyproject.toml"
        try:
            if path.is_file():
                return path
        except OSError:  # a folder above that this user may not read
            continue
    return None


def _document(path: Path) -> dict[str, Any]:
    if sys.version_info >= (3, 11):
        import tomllib  # novermin: behind the test of the version
    else:
        import tomli as tomllib
    try:
        if path.stat().st_size > SETTINGS_LIMIT:
            raise ValueError(f"it is larger than {SETTINGS_LIMIT >> 20} MB")
        data = path.read_bytes()
        if b"mpsdoctor" not in data:  # no settings of ours: whatever else is wrong with it is not our affair
            return {}
        document: dict[str, Any] = tomllib.loads(data.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise click.UsageError(f"{path} cannot be read: TOML is UTF-8, and this is not") from error
    except RecursionError as error:
        raise click.UsageError(f"{path} cannot be read: it is nested too deeply") from error
    except (OSError, ValueError) as error:
        raise click.UsageError(f"{path} cannot be read: {' '.join(str(error).split())[:200]}") from error
    return document


def _strings(value: object, name: str) -> list[str]:
    if value is None:
        return []
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        return value
    if isinstance(value, dict) and name == "ignore" and all(isinstance(item, str) for item in value.values()):
        return [f"{token}={reason}" for token, reason in value.items()]
    wanted = 'a list of texts, or a table of ID = "reason"' if name == "ignore" else "a list of texts"
    raise click.UsageError(f"[tool.mpsdoctor] in pyproject.toml: {name} must be {wanted}")
