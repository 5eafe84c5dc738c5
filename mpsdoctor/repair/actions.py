"""What a step does itself instead of running a command. Each verifies first, so that nothing is half done by surprise.

None needs a reverse of its own: every path that an action writes is saved before the first change (see snapshot.py).
"""

from __future__ import annotations

import dataclasses
import hashlib
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from mpsdoctor.repair.paths import beside


class StepFailed(Exception):
    """A step could not be done; the message is one plain line."""


@dataclass(frozen=True)
class Work:
    """What an action may ask of the run that it belongs to.

    `observe` examines an interpreter anew and returns the causes that it has, most fundamental first.
    """

    observe: Callable[[str], Sequence[str]]


@dataclass(frozen=True)
class Action:
    """A change that this program makes itself."""

    kind: ClassVar[str] = ""

    def to_json(self) -> dict[str, Any]:
        """Return the action as data, its kind among it."""
        return {"kind": self.kind, **dataclasses.asdict(self)}

    def verify(self) -> None:
        """Raise StepFailed where the action cannot be done as planned."""

    def execute(self, work: Work) -> None:
        """Do it. Raises StepFailed or OSError."""
        raise NotImplementedError


def digest(data: bytes) -> str:
    """Return the SHA-256 of data in hexadecimal digits."""
    return hashlib.sha256(data).hexdigest()


@dataclass(frozen=True)
class WriteText(Action):
    """Replace the text of a file that has not changed since the plan was made.

    `before` is its SHA-256, None where there was no file.
    """

    kind: ClassVar[str] = "write"
    path: str
    text: str
    before: str | None

    def verify(self) -> None:
        """The file is as it was when the plan was made."""
        path = Path(self.path)
        found = digest(path.read_bytes()) if path.is_file() else None
        if found != self.before:
            raise StepFailed(f"{self.path} has changed since the plan was made")

    def execute(self, work: Work) -> None:
        """Write beside it and switch, so that the file is whole at every moment."""
        path = Path(os.path.realpath(self.path))
        mode = path.stat().st_mode & 0o7777 if path.exists() else 0o644
        new = beside(path)
        with new.open("w", encoding="utf-8", newline="") as file:
            file.write(self.text)
            file.flush()
            os.fsync(file.fileno())
        new.chmod(mode)
        new.replace(path)


@dataclass(frozen=True)
class Rename(Action):
    """Give a file or folder another name in its folder; nothing is deleted."""

    kind: ClassVar[str] = "rename"
    path: str
    to: str

    def verify(self) -> None:
        """The one is there and the other is not."""
        if not os.path.lexists(self.path):
            raise StepFailed(f"{self.path} is not there any more")
        if os.path.lexists(self.to):
            raise StepFailed(f"{self.to} is there already")

    def execute(self, work: Work) -> None:
        """Rename it."""
        Path(self.path).rename(self.to)


@dataclass(frozen=True)
class Forget(Action):
    """Delete compiled caches (.pyc) of one module: Python would go on importing them."""

    kind: ClassVar[str] = "forget"
    path: str

    def execute(self, work: Work) -> None:
        """Delete the file, where it is."""
        Path(self.path).unlink(missing_ok=True)


@dataclass(frozen=True)
class Prove(Action):
    """Examine a new environment before it takes the old one's place."""

    kind: ClassVar[str] = "prove"
    python: str
    without: str

    def execute(self, work: Work) -> None:
        """Observe it; the cause must be gone."""
        if not os.path.lexists(self.python):
            raise StepFailed(f"the new environment has no {self.python}")
        left = work.observe(self.python)
        if self.without in left:
            raise StepFailed(f"the new environment has the same fault ({self.without}); the old one was left alone")


@dataclass(frozen=True)
class Relocate(Action):
    """Make the scripts of a new environment speak of the folder that it will stand in."""

    kind: ClassVar[str] = "relocate"
    path: str
    to: str

    def execute(self, work: Work) -> None:
        """Rewrite the text files that name the folder; the lists of installed files stay true."""
        from mpsdoctor.repair.relocate import relocate

        relocate(Path(self.path), self.to)


@dataclass(frozen=True)
class Switch(Action):
    """Put a new environment in the place of the old one, which stays under another name."""

    kind: ClassVar[str] = "switch"
    path: str
    new: str
    aside: str

    def verify(self) -> None:
        """The old one is there, and its new name is free."""
        if os.path.lexists(self.aside):
            raise StepFailed(f"{self.aside} is there already")

    def execute(self, work: Work) -> None:
        """Two renames; a run that dies between them is put right by undo."""
        if os.path.lexists(self.path):
            Path(self.path).rename(self.aside)
        Path(self.new).rename(self.path)


@dataclass(frozen=True)
class Download(Action):
    """Fetch one file, and keep it only if its SHA-256 is the one that its publisher states."""

    kind: ClassVar[str] = "download"
    url: str
    checksum_url: str
    path: str

    def execute(self, work: Work) -> None:
        """Download and compare."""
        from mpsdoctor.repair.download import fetch_verified

        fetch_verified(self.url, self.checksum_url, Path(self.path))


_KINDS: dict[str, type[Action]] = {
    cls.kind: cls for cls in (WriteText, Rename, Forget, Prove, Relocate, Switch, Download)
}


def action_from_json(data: dict[str, Any]) -> Action:
    """Read an action back from the record of one of our own runs. Raises KeyError or TypeError for anything else."""
    values = dict(data)
    return _KINDS[values.pop("kind")](**values)
