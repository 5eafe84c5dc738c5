"""An index with the releases that the scenarios need, and `mpsdoctor` run against it as on a recorded Mac."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import RECORDINGS, Ran
from tests.repair.wheels import UV, Index, environment, make_venv, serve

MAC = RECORDINGS / "03-m4max-macos26"


@pytest.fixture
def index(tmp_path: Path) -> Iterator[Index]:
    with serve(tmp_path / "index") as served:
        for version in ("2.2.2", "2.8.0", "2.13.0", "2.14.1", "2.15.0"):
            served.add("torch", version)
        for version, torch in (("0.17.2", "2.2.2"), ("0.27.1", "2.12.1"), ("0.28.0", "2.13.0")):
            served.add("torchvision", version, requires=(f"torch=={torch}",))
        served.add("torchvision", "0.29.1", requires=("torch>=2.14.0",))
        served.add("torchvision", "0.29.2", requires=("torch>=2.14.0",))
        served.add("numpy", "1.26.4")
        served.add("numpy", "2.4.6")
        served.add(
            "helper",
            "1.0",
            scripts={"helper": "helper:main"},
            files={"helper.py": "def main():\n    print('helped')\n"},
        )
        yield served


@dataclass
class Patient:
    """A throwaway environment on a recorded Mac, and what can be done with it."""

    folder: Path
    home: Path
    project: Path
    env: dict[str, str]
    run: Callable[..., Ran]

    @property
    def python(self) -> Path:
        return self.folder / "bin" / "python"

    def doctor(self, *arguments: str, **options: Any) -> Ran:
        options.setdefault("cwd", self.project)
        return self.run(*arguments, env={**self.env, **options.pop("env", {})}, **options)

    def causes(self, **options: Any) -> list[str]:
        ran = self.doctor("check", "--python", str(self.python), "--format", "json", **options)
        return [cause["cause"] for cause in ran.json["diagnosis"]["causes"]]

    def fix(self, *arguments: str, **options: Any) -> Ran:
        return self.doctor("fix", "--python", str(self.python), *arguments, **options)

    def undo(self, *arguments: str) -> Ran:
        return self.doctor("undo", "--yes", *arguments)


@pytest.fixture
def patient(tmp_path: Path, index: Index, mpsdoctor: Callable[..., Ran]) -> Callable[..., Patient]:
    """Make a patient: `patient("torch==2.13.0", manager="uv", name="my env")`."""

    def make(*requirements: str, manager: str = "pip", name: str = ".venv", mac: Path = MAC) -> Patient:
        home, project = tmp_path / "home", tmp_path / "project"
        home.mkdir(exist_ok=True)
        project.mkdir(exist_ok=True)
        more = {"PATH": f"{Path(UV).parent}:/usr/bin:/bin"} if manager == "uv" else {"PATH": "/usr/bin:/bin"}
        env = environment(index, home, MPSDOCTOR_HOST_RECORDING=str(mac), **more)
        make_venv(project / name, env, *requirements, manager=manager)
        return Patient(project / name, home, project, env, mpsdoctor)

    return make
