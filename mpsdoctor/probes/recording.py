"""Record what a machine answered, and play it anywhere.

A recording is a folder: `profile.json` lists the commands with argv, exit status and the files that hold their
output; single sysctl keys and the environment variables stand in the profile itself. Our own file readers appear as
commands whose last argument is `<NAME probe>`.
"""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any

from mpsdoctor import __version__
from mpsdoctor.facts.process import ProcessEnd
from mpsdoctor.facts.redaction import Redactor
from mpsdoctor.probes.process import Completed, OnLine
from mpsdoctor.probes.runner import Runner

FORMAT = "mpsdoctor.recording/1"
PROFILE_LIMIT = 16 * 1024 * 1024  # bytes; a real profile has some 10 kB, its largest file 60 kB
SYSCTL_MISSING = "sysctl: unknown oid '{}'"


class NotARecording(ValueError):
    """The folder holds no recording; the message is one plain line."""


class RecordingRunner:
    """Asks another runner, and keeps what it answered."""

    def __init__(self, inner: Runner) -> None:
        self.inner = inner
        self.environ = inner.environ
        self.system = inner.system
        self.live = inner.live
        self._commands: list[tuple[list[str], Completed]] = []
        self._files: dict[str, str] = {}
        self._lock = threading.Lock()

    def run(
        self,
        argv: Sequence[str],
        *,
        timeout: float,
        env: Mapping[str, str] | None = None,
        label: str | None = None,
        on_line: OnLine | None = None,
    ) -> Completed:
        """Run and keep the command; see `Runner.run`."""
        done = self.inner.run(argv, timeout=timeout, env=env, label=label, on_line=on_line)
        kept = [argv[0], label] if label else list(argv)
        with self._lock:
            self._commands.append((kept, done))
        return done

    def read(self, path: str) -> str | None:
        """Read and keep the file."""
        text = self.inner.read(path)
        if text is not None:
            with self._lock:
                self._files[path] = text
        return text

    def probe(self, name: str, function: Callable[[], Any]) -> Any:
        """Call the file reader and keep its answer."""
        answer = self.inner.probe(name, function)
        done = Completed(("mpsdoctor",), ProcessEnd(how="exit", code=0), json.dumps(answer).encode())
        with self._lock:
            self._commands.append((["mpsdoctor", f"<{name} probe>"], done))
        return answer

    def save(self, folder: Path, *, variables: Mapping[str, str], redactor: Redactor, created: str) -> None:
        """Write the recording. `variables` is the allow-list of the environment that may be kept.

        Raises OSError where the folder cannot be written.
        """
        folder.mkdir(parents=True, exist_ok=True)
        commands = []
        for index, (argv, done) in enumerate(self._commands, 1):
            stem = f"{index:02}_{_file_stem(argv)}"
            entry: dict[str, Any] = {"argv": [redactor.text(part) for part in argv], "rc": _status(done.end)}
            entry["stdout"] = _write(folder, f"{stem}.txt", redactor.output(done.text))
            if done.stderr:
                entry["stderr"] = _write(folder, f"{stem}.stderr.txt", redactor.output(done.error_text))
            entry["end"] = {k: v for k, v in vars(done.end).items() if v is not None and k != "stderr_tail"}
            commands.append(entry)
        files = {
            redactor.text(path): _write(folder, f"file_{_file_stem([path])}.txt", redactor.output(text))
            for path, text in self._files.items()
        }
        profile = {
            "profile": folder.resolve().name,
            "format": FORMAT,
            "tool": {"version": __version__},
            "created": created,
            "commands": commands,
            "files": files,
            "env": {name: redactor.text(value) for name, value in variables.items()},
            "redactions": dict(redactor.counts),
        }
        text = json.dumps(profile, indent=1, ensure_ascii=False) + "\n"
        (folder / "profile.json").write_text(text, encoding="utf-8")


def _status(end: ProcessEnd) -> int | None:
    return end.code if end.how == "exit" else 127 if end.how == "not-started" else None


def _file_stem(argv: Sequence[str]) -> str:
    name = "_".join([PurePosixPath(argv[0]).name, *argv[1:]])
    return re.sub(r"[^A-Za-z0-9._-]+", "_", name)[:60].strip("_") or "command"


def _write(folder: Path, name: str, text: str) -> str:
    (folder / name).write_text(text, encoding="utf-8", newline="")
    return name


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
        self.name = str(profile.get("profile") or folder.name)
        self.problems: list[str] = []
        self._sysctl = _mapping(profile.get("sysctl"))
        self._files = _mapping(profile.get("files"))
        environ = _mapping(profile.get("env"))
        self.environ: Mapping[str, str] = {k: v for k, v in environ.items() if isinstance(v, str)}
        words = self.run(["uname", "-a"], timeout=0).text.split()
        self.system: str | None = words[0] if words else None

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
        if on_line is not None:
            for line in done.stdout.splitlines():
                on_line(line)
        return done

    def _completed(self, command: Mapping[str, Any]) -> Completed:
        stderr = self._output(command.get("stderr"))
        recorded = command.get("end")
        code = command.get("rc")
        end = ProcessEnd(how="exit", code=code if isinstance(code, int) else None)
        if isinstance(recorded, Mapping):
            from mpsdoctor.facts.codec import decode

            end = decode(ProcessEnd, {"how": "exit", **recorded}, self.problems, "end")
        elif code == 127:
            end = ProcessEnd(how="not-started", error="no such program")
        if stderr:
            import dataclasses

            end = dataclasses.replace(end, stderr_tail=stderr.decode("utf-8", "replace")[-4000:])
        return Completed(tuple(command["argv"]), end, self._output(command.get("stdout")), stderr)

    def _output(self, name: object) -> bytes:
        if not isinstance(name, str) or not name:
            return b""
        path = self.folder / PurePosixPath(name).name  # a recording never reads outside its own folder
        try:
            if not path.is_file():
                raise FileNotFoundError
            with path.open("rb") as file:
                return file.read(PROFILE_LIMIT)
        except (OSError, ValueError):
            self.problems.append(f"{path.name} is missing from the recording")
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
            self.problems.append(f"the recorded answer of the {name} probe is no JSON")
            return None


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
        raise NotARecording(f"{path} cannot be read: {error}") from error
    except ValueError as error:
        if isinstance(error, NotARecording):
            raise
        raise NotARecording(f"{path} is no JSON (cut short or damaged)") from error
    if not isinstance(profile, Mapping):
        raise NotARecording(f"{path} is no profile of a recording: it holds no object")
    return profile
