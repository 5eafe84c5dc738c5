"""Variables, sandbox, CI and files that shadow packages: the surroundings of the target process."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from mpsdoctor.facts.codec import Subject


@dataclass(frozen=True, kw_only=True)
class Shadow:
    """A file or folder earlier on sys.path that hides a package. `kind` is file, folder or checkout."""

    name: str
    path: str
    kind: str = "file"


@dataclass(frozen=True, kw_only=True)
class Environment(Subject):
    """What surrounds the target. `variables` holds an allow-list only; values are redacted."""

    variables: Mapping[str, str] | None = None
    working_directory: str | None = None
    shadows: tuple[Shadow, ...] | None = None
    sandbox: str | None = None  # what shows that a sandbox is around us, e.g. "CODEX_SANDBOX=seatbelt"
    ci: str | None = None  # "github-actions", ...
    ci_image: str | None = None  # "macos15 20260101.1"
    ci_hosted: bool | None = None
    other_interpreters: tuple[str, ...] | None = None  # further Pythons first on PATH, where they differ
