"""Records what a machine answered, so that replay.py plays it anywhere.

A recording is a folder: `profile.json` lists the commands with argv, exit status and the files that hold their
output; the environment variables stand in the profile itself. Our own file readers appear as commands whose last
argument is `<NAME probe>`.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import tempfile
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any

from mpsdoctor import __version__
from mpsdoctor.facts.process import ProcessEnd
from mpsdoctor.facts.redaction import Redactor
from mpsdoctor.probes.answers import MARK, parse_line
from mpsdoctor.probes.process import Completed, OnLine
from mpsdoctor.probes.runner import Runner

PROFILE = "profile.json"

FORMAT = "mpsdoctor.recording/1"


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
        """Write the recording, whole or not at all. `variables` is the allow-list of the environment that may be kept.

        Raises OSError where the folder cannot be written, or where it is not empty any more.
        """
        target = Path(os.path.realpath(folder))
        target.parent.mkdir(parents=True, exist_ok=True)
        beside = Path(tempfile.mkdtemp(prefix=f".{target.name[:40]}-", dir=target.parent))
        try:
            self._write_all(beside, variables=variables, redactor=redactor, created=created, name=target.name)
            _move_into(beside, target)
        finally:
            shutil.rmtree(beside, ignore_errors=True)

    def _write_all(
        self, folder: Path, *, variables: Mapping[str, str], redactor: Redactor, created: str, name: str
    ) -> None:
        commands = []
        for index, (argv, done) in enumerate(self._commands, 1):
            stem = f"{index:02}_{_file_stem(argv)}"
            entry: dict[str, Any] = {"argv": [redactor.text(part) for part in argv], "rc": _status(done.end)}
            entry["stdout"] = _write(folder, f"{stem}.txt", _redacted(redactor, done.stdout))
            if done.stderr:
                entry["stderr"] = _write(folder, f"{stem}.stderr.txt", _redacted(redactor, done.stderr))
            end = {k: v for k, v in vars(done.end).items() if v is not None and k != "stderr_tail"}
            entry["end"] = redactor.value(end)
            commands.append(entry)
        files = {
            redactor.text(path): _write(folder, f"file_{number:02}_{_file_stem([path])}.txt", redactor.output(text))
            for number, (path, text) in enumerate(self._files.items(), 1)
        }
        profile = {
            "profile": redactor.text(name),
            "format": FORMAT,
            "tool": {"version": __version__},
            "created": created,
            "commands": commands,
            "files": files,
            "env": {name: redactor.text(value) for name, value in variables.items()},
            "redactions": dict(redactor.counts),
        }
        text = json.dumps(profile, indent=1, ensure_ascii=False) + "\n"
        _write(folder, PROFILE, text)


def _move_into(source: Path, target: Path) -> None:
    """Move the files of a whole recording into a folder that is new or empty; of two that try, one gets it."""
    made = not target.exists()
    target.mkdir(exist_ok=True)
    profile = target / PROFILE
    os.close(os.open(profile, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))
    moved = [profile]
    try:
        for item in sorted(source.iterdir(), key=lambda path: path.name == PROFILE):  # the profile last
            moved.append(item.replace(target / item.name))
    except BaseException:
        for path in moved:
            path.unlink(missing_ok=True)
        if made:
            target.rmdir()
        raise


def _status(end: ProcessEnd) -> int | None:
    return end.code if end.how == "exit" else 127 if end.how == "not-started" else None


def _file_stem(argv: Sequence[str]) -> str:
    name = "_".join([PurePosixPath(argv[0]).name, *argv[1:]])
    return re.sub(r"[^A-Za-z0-9._-]+", "_", name)[:60].strip("_") or "command"


def _redacted(redactor: Redactor, output: bytes) -> str:
    """Redact an output; the answers of our probes as data, for in their lines every letter but ASCII is escaped."""
    if MARK not in output:
        return redactor.output(output.decode("utf-8", "replace"))
    return "\n".join(_redacted_line(redactor, line) for line in output.split(b"\n"))


def _redacted_line(redactor: Redactor, line: bytes) -> str:
    answer = parse_line(line)
    if answer is None:
        return redactor.text(line.decode("utf-8", "replace"))
    before = line[: line.find(MARK)].decode("utf-8", "replace")
    return redactor.text(before) + MARK.decode() + json.dumps(redactor.value(answer), sort_keys=True)


def _write(folder: Path, name: str, text: str) -> str:
    (folder / name).write_bytes(text.encode("utf-8", "backslashreplace"))  # a path may hold bytes that are no text
    return name
