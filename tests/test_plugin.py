"""A plug-in package is installed for real and its check is found, judged and explained; a broken one harms nobody."""

from __future__ import annotations

import json
import subprocess
import sys
import venv
from pathlib import Path

import pytest

from tests.conftest import RECORDINGS, ROOT

EXAMPLE = ROOT / "tests" / "plugin_example"


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment that sees the packages of this one and has the plug-in installed in it by pip."""
    folder = tmp_path_factory.mktemp("plugin") / "env"
    venv.create(folder, with_pip=False)
    python = folder / "bin" / "python"
    packages = next((folder / "lib").glob("python3*")) / "site-packages"
    ours = [path for path in sys.path if path.endswith("site-packages")]
    (packages / "base.pth").write_text("".join(f"import site; site.addsitedir({path!r})\n" for path in ours))
    command = [sys.executable, "-m", "pip", "--python", str(python), "install", "--quiet", "--no-deps"]
    subprocess.run([*command, "--no-build-isolation", str(EXAMPLE)], check=True)
    return python


def run(python: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([str(python), "-m", "mpsdoctor", *arguments], capture_output=True, text=True, check=False)


def report(python: Path, recording: str) -> dict[str, object]:
    data = json.loads(run(python, "check", "--replay", str(RECORDINGS / recording), "--format", "json").stdout)
    assert isinstance(data, dict)
    return data


def test_the_check_of_a_plugin_is_judged_like_any_other(environment: Path) -> None:
    small = report(environment, "01-m1-air-8gb-macos14-uv")
    large = report(environment, "03-m4max-macos26")
    outcomes = [
        next(check["outcome"] for check in found["checks"] if check["id"] == "EX101")  # type: ignore[index,attr-defined]
        for found in (small, large)
    ]
    assert outcomes == ["warn", "pass"]
    assert small["diagnosis"]["causes"][0]["cause"] == "example-too-little-memory"  # type: ignore[index]


def test_the_plugin_shows_in_the_text_with_its_remedy(environment: Path) -> None:
    done = run(environment, "check", "--replay", str(RECORDINGS / "01-m1-air-8gb-macos14-uv"), "--select", "EX")
    assert "less memory than our models need" in done.stdout
    assert "train --config small" in done.stdout


@pytest.mark.parametrize("what", ["checks", "fixes"])
def test_the_list_tells_what_does_not_load(what: str, tmp_path: Path) -> None:
    info = tmp_path / "broken_plugin-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: broken-plugin\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[mpsdoctor.{what}]\nbroken = no_such_module\n")
    command = [sys.executable, "-m", "mpsdoctor", "list", what]
    done = subprocess.run(command, capture_output=True, text=True, env={"PYTHONPATH": str(tmp_path)}, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert "no_such_module" in lines[-1]
    assert len(lines) > 14  # ours stand above it


def test_a_plugin_that_does_not_load_is_told_and_harms_no_other(environment: Path, tmp_path: Path) -> None:
    info = tmp_path / "broken_plugin-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: broken-plugin\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[mpsdoctor.checks]\nbroken = no_such_module\n")
    done = subprocess.run(
        [
            str(environment),
            "-m",
            "mpsdoctor",
            "check",
            "--replay",
            str(RECORDINGS / "03-m4max-macos26"),
            "--format",
            "json",
        ],
        capture_output=True,
        text=True,
        env={"PYTHONPATH": str(tmp_path)},
        check=False,
    )
    data = json.loads(done.stdout)
    assert data["diagnosis"]["verdict"] == "healthy"
    assert any("broken" in problem and "no_such_module" in problem for problem in data["problems"])
