"""Plays a recorded machine (see recording.py). Recordings come from anywhere: nothing in one is trusted."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any

from mpsdoctor.facts.codec import decode_or_none
from mpsdoctor.facts.process import ProcessEnd
from mpsdoctor.probes.answers import MARK, parse_answers, parse_line
from mpsdoctor.probes.process import STDERR_TAIL, Completed, OnLine
from mpsdoctor.probes.runner import SYSTEM_NAME

PROFILE_LIMIT = 16 * 1024 * 1024  # bytes; a real profile has some 10 kB, its largest file 60 kB
NAME_LIMIT = 200  # characters of the recording's name that are shown
SYSCTL_MISSING = "sysctl: unknown oid '{}'"


class NotARecording(ValueError):
    """The folder holds no recording; the message is one plain line."""


class ReplayRunner:
    """A recorded machine. What the recording does not hold is unknown, never an error."""

    live = False

    def __init__(self, folder: Path) -> None:
        """Open a recording. Raises NotARecording where `folder` holds none."""
        self.folder = folder
        profile = _load_profile(folder)
        commands = profile.get("commands")
        self.commands: list[Mapping[str, Any]] = [
            command
            for command in (commands if isinstance(commands, list) else [])
            if isinstance(command, Mapping) and _is_argv(command.get("argv"))
        ]
        name = profile.get("profile")
        self.name = (name if isinstance(name, str) and name else folder.absolute().name)[:NAME_LIMIT]
        self.problems: list[str] = []
        self._sysctl = _mapping(profile.get("sysctl"))
        self._files = _mapping(profile.get("files"))
        environ = _mapping(profile.get("env"))
        self.environ: Mapping[str, str] = {k: v for k, v in environ.items() if isinstance(v, str)}
        words = self.run(["uname", "-a"], timeout=0).text.split()
        self.system: str | None = words[0] if words and SYSTEM_NAME.fullmatch(words[0]) else None

    def run(
        self,
        argv: Sequence[str],
        *,
        timeout: float,
        env: Mapping[str, str] | None = None,
        label: str | None = None,
        on_line: OnLine | None = None,
    ) -> Completed:
        """Return the recorded answer. With a label, the command that ends with it; tools match by their name."""
        wanted = [label] if label else [PurePosixPath(argv[0]).name, *argv[1:]]
        found = next((command for command in self.commands if _matches(command["argv"], wanted, label)), None)
        if found is None and wanted[0] == "sysctl" and self._sysctl:
            return self._sysctl_answer(argv)
        if found is None:
            return Completed(tuple(argv), ProcessEnd(how="not-started", error="not in the recording"))
        done = self._completed(found)
        if label and _cut_short(done):
            self._note(f"the recorded answer of {label.strip('<>')} is missing or cut short")
            return Completed(tuple(argv), ProcessEnd(how="not-started", error="not in the recording"))
        if on_line is not None:
            for line in done.stdout.splitlines():
                on_line(line)
        return done

    def _completed(self, command: Mapping[str, Any]) -> Completed:
        stderr = self._output(command.get("stderr"))
        end = self._end(command)
        if stderr:
            end = dataclasses.replace(end, stderr_tail=stderr.decode("utf-8", "replace")[-STDERR_TAIL:])
        return Completed(tuple(command["argv"]), end, self._output(command.get("stdout")), stderr)

    def _end(self, command: Mapping[str, Any]) -> ProcessEnd:
        recorded, code = command.get("end"), command.get("rc")
        if isinstance(recorded, Mapping):
            end = decode_or_none(ProcessEnd, {"how": "exit", **recorded}, self.problems, "end")
            if end is not None:
                return end
        if code == 127:
            return ProcessEnd(how="not-started", error="no such program")
        return ProcessEnd(how="exit", code=code if isinstance(code, int) and not isinstance(code, bool) else None)

    def _output(self, name: object) -> bytes:
        if not isinstance(name, str) or not name:
            return b""
        path = self.folder / PurePosixPath(name).name
        try:
            # A recording never reads outside its own folder: neither by a path nor through a link.
            if not path.resolve().is_relative_to(self.folder.resolve()) or not path.is_file():
                raise FileNotFoundError
            with path.open("rb") as file:
                return file.read(PROFILE_LIMIT)
        except (OSError, ValueError, RuntimeError):  # RuntimeError: a loop of links
            self._note(f"{path.name} is missing from the recording")
            return b""

    def _sysctl_answer(self, argv: Sequence[str]) -> Completed:
        lines, unknown = [], []
        for key in argv[1:]:
            value = self._sysctl.get(key)
            if isinstance(value, str):
                lines.append(f"{key}: {value}")
            elif not key.startswith("-"):
                unknown.append(SYSCTL_MISSING.format(key))
        end = ProcessEnd(how="exit", code=1 if unknown else 0)
        return Completed(tuple(argv), end, "\n".join(lines).encode(), "\n".join(unknown).encode())

    def read(self, path: str) -> str | None:
        """Return a recorded file: by its path, or as what `cat` or `head` printed of it."""
        name = self._files.get(path)
        if isinstance(name, str):
            return self._output(name).decode("utf-8", "replace")
        for command in self.commands:
            argv = command["argv"]
            if PurePosixPath(argv[0]).name in ("cat", "head") and argv[-1] == path and command.get("rc") == 0:
                return self._output(command.get("stdout")).decode("utf-8", "replace")
        return None

    def probe(self, name: str, function: Callable[[], Any]) -> Any:
        """Return the recorded answer of one of our file readers, or None; nothing of this machine is read."""
        done = self.run(["mpsdoctor"], timeout=0, label=f"<{name} probe>")
        try:
            return json.loads(done.stdout) if done.ok else None
        except (ValueError, RecursionError):
            self._note(f"the recorded answer of the {name} probe is no JSON")
            return None

    def _note(self, problem: str) -> None:
        if problem not in self.problems:  # one file may be asked for more than once
            self.problems.append(problem)


def _cut_short(done: Completed) -> bool:
    """True for a child that ended well and yet has no whole answer: its file is damaged, the child was not."""
    if not done.ok:
        return False
    if MARK not in done.stdout:
        return parse_answers(done.stdout) is None
    return parse_line(done.stdout[done.stdout.rindex(MARK) :]) is None


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _is_argv(argv: object) -> bool:
    return isinstance(argv, list) and bool(argv) and all(isinstance(part, str) for part in argv)


def _matches(argv: list[str], wanted: Sequence[str | None], label: str | None) -> bool:
    if label:
        return argv[-1] == label
    if argv[-1].startswith("<"):
        return False
    return [PurePosixPath(argv[0]).name, *argv[1:]] == list(wanted)


def _load_profile(folder: Path) -> Mapping[str, Any]:
    path = folder / "profile.json"
    try:
        if not folder.is_dir():
            raise NotARecording(f"{folder} is not a folder; a recording is a folder with a profile.json in it")
        if not path.is_file():
            raise NotARecording(f"{folder} holds no profile.json, so it is no recording")
        if path.stat().st_size > PROFILE_LIMIT:
            raise NotARecording(f"{path} is too large to be the profile of a recording")
        profile = json.loads(path.read_bytes())
    except (OSError, RecursionError) as error:
        raise NotARecording(f"{path} cannot be read: {getattr(error, 'strerror', None) or error}") from error
    except ValueError as error:
        if isinstance(error, NotARecording):
            raise
        raise NotARecording(f"{path} is no JSON (cut short or damaged)") from error
    if not isinstance(profile, Mapping):
        raise NotARecording(f"{path} is no profile of a recording: it holds no object")
    return profile
