"""The one file: built for real, run in an empty folder by an interpreter that has nothing installed."""

from __future__ import annotations

import ast
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time
import zipfile
from pathlib import Path

import pytest

from tests.conftest import RECORDINGS, ROOT

BROKEN = str(RECORDINGS / "04-m1-macos13-old")


@pytest.fixture(scope="module")
def pyz(tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("built") / "mpsdoctor.pyz"
    argv = [sys.executable, str(ROOT / "scripts" / "build_pyz.py"), "-o", str(target)]
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return target


def start(pyz: Path, folder: Path, *arguments: str) -> subprocess.Popen[str]:
    # -I -S: no environment variables, no user site, no site-packages; nothing but the standard library and the file.
    (folder / "empty").mkdir(exist_ok=True)
    (folder / "temporary").mkdir(exist_ok=True)
    env = {"PATH": os.environ["PATH"], "HOME": str(folder), "TMPDIR": str(folder / "temporary")}
    return subprocess.Popen(
        [sys.executable, "-I", "-S", str(pyz), *arguments],
        cwd=folder / "empty", env=env, text=True,
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip


def run(pyz: Path, folder: Path, *arguments: str) -> tuple[int, str]:
    process = start(pyz, folder, *arguments)
    out, err = process.communicate(timeout=200)
    assert "Traceback" not in err, err
    assert list((folder / "temporary").glob("mpsdoctor-*")) == []
    return process.returncode, out


def test_it_holds_pure_python_and_no_paths_of_the_machine_that_built_it(pyz: Path) -> None:
    with zipfile.ZipFile(pyz) as archive:
        names = archive.namelist()
        assert [name for name in names if name.endswith((".so", ".pyd", ".pyc"))] == []
        assert {"mpsdoctor", "click", "rich", "packaging", "platformdirs", "tomlkit", "tomli"} <= {
            name.split("/")[0] for name in names
        }
        assert not any(
            str(ROOT).encode() in archive.read(name) for name in names if name.endswith((".json", "METADATA"))
        )
    assert pyz.stat().st_size < 8 * 1024 * 1024


def test_it_judges_a_recorded_mac_as_the_installed_one_does(pyz: Path, tmp_path: Path) -> None:
    code, out = run(pyz, tmp_path, "check", "--replay", BROKEN, "--format", "json")
    argv = [sys.executable, "-m", "mpsdoctor", "check", "--replay", BROKEN, "--format", "json"]
    installed = json.loads(subprocess.run(argv, capture_output=True, check=False).stdout)
    found = json.loads(out)
    assert code == 1
    assert found["diagnosis"] == installed["diagnosis"]
    assert [c["id"] for c in found["checks"]] == [c["id"] for c in installed["checks"]]


def test_it_examines_another_interpreter(pyz: Path, tmp_path: Path) -> None:
    code, out = run(pyz, tmp_path, "check", "--python", sys.executable, "--no-import", "--format", "json")
    facts = json.loads(out)["facts"]
    assert code in (0, 1, 3)
    assert facts["interpreter"]["version"] == ".".join(map(str, sys.version_info[:3]))
    assert any(d["name"] == "pytest" for d in facts["packages"]["distributions"])


def test_it_writes_a_report_and_plans_a_repair(pyz: Path, tmp_path: Path) -> None:
    assert run(pyz, tmp_path, "report", "--replay", BROKEN)[0] == 0
    assert json.loads((tmp_path / "empty" / "mpsdoctor-report.json").read_text())["schema"] == "mpsdoctor.report/1"
    code, out = run(pyz, tmp_path, "fix", "--replay", BROKEN, "--dry-run")
    assert "torch==2.8.0" in out
    assert code in (0, 1)


def test_every_command_that_it_tells_can_be_run_as_it_stands(pyz: Path, tmp_path: Path) -> None:
    asked = [
        ("check", "--replay", BROKEN),
        ("check", "--replay", BROKEN, "--select", "nothing"),
        ("explain", "PY101"),
        ("explain", "what nobody knows"),
        ("explain", "float64-on-mps"),
        ("fix", "--replay", BROKEN, "--dry-run"),
        ("fix", "--replay", BROKEN, "--dry-run", "--only", "nothing"),
        ("undo", "nothing"),
        ("report", "--replay", BROKEN),
        ("record", "recorded here", "--no-import", "--python", sys.executable),
    ]
    told = ""
    for arguments in asked:
        process = start(pyz, tmp_path, *arguments)
        out, err = process.communicate(timeout=200)
        told += " ".join(f"{out} {err}".split()) + "\n"
    names = "|".join(("check", "explain", "fix", "undo", "report", "record", "list", "smoke", "diff"))
    assert re.findall(rf"(?<![\w/.-])mpsdoctor (?:{names})\b", told) == []
    commands = re.findall(rf"{re.escape(f'{sys.executable} {pyz}')} (?:{names})\b", told)
    assert len({command.split()[-1] for command in commands}) >= 6, told


def test_it_trains(pyz: Path, tmp_path: Path) -> None:
    pytest.importorskip("torch")
    arguments = ("smoke", "--python", sys.executable, "--device", "cpu", "--dtype", "float32", "--quick")
    code, out = run(pyz, tmp_path, *arguments)
    assert (code, "This CPU trains in float32." in out) == (0, True), out


def test_the_scripts_lie_in_a_private_folder_that_is_gone_after_an_interrupt(pyz: Path, tmp_path: Path) -> None:
    slow = tmp_path / "slow"
    slow.write_text(f'#!/bin/sh\necho "$@" > "{tmp_path}/seen"\nsleep 60\n')
    slow.chmod(0o755)
    process = start(pyz, tmp_path, "check", "--python", str(slow))
    deadline = time.monotonic() + 60
    while not (tmp_path / "seen").exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    (folder,) = (tmp_path / "temporary").iterdir()
    assert folder.stat().st_mode & 0o777 == 0o700
    assert (folder / "target" / "interpreter_probe.py").is_file()
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=30)
    assert process.returncode == 130
    assert list((tmp_path / "temporary").iterdir()) == []


def others() -> list[str]:
    """The other Pythons of this machine, of every version that there is."""
    named = [path for n in range(15) if (path := shutil.which(f"python3.{n}")) is not None]
    found = [path for path in named if Path(path).parent.name != "shims"]  # what stands behind them comes below
    root = os.environ.get("PYENV_ROOT") or str(Path.home() / ".pyenv")
    return [*found, *map(str, sorted(Path(root).glob("versions/*/bin/python")))]


@pytest.mark.parametrize("python", others())
def test_every_python_that_is_new_enough_runs_it_and_an_older_one_says_so(
    python: str, pyz: Path, tmp_path: Path
) -> None:
    asked = [python, "-c", "import sys; sys.stdout.write('%d.%d' % sys.version_info[:2])"]
    version = subprocess.run(asked, capture_output=True, text=True, check=False).stdout
    argv = [python, "-E", "-s", str(pyz), "check", "--replay", BROKEN]
    done = subprocess.run(argv, capture_output=True, text=True, cwd=tmp_path, check=False)
    if tuple(map(int, version.split("."))) >= (3, 10):
        assert (done.returncode, done.stderr) == (1, "")
        hint = next(line.strip() for line in done.stdout.splitlines() if " explain " in line)
        interpreter, *rest = shlex.split(hint)
        assert rest == [str(pyz), "explain", "TO102"]  # on one line, to be copied
        assert interpreter == python
    else:
        assert (done.returncode, done.stdout) == (1, "")
        assert f"needs Python 3.10 or newer, and this is {version};" in done.stderr


def test_a_python_that_is_too_old_gets_a_sentence(pyz: Path) -> None:
    with zipfile.ZipFile(pyz) as archive:
        main = archive.read("__main__.py").decode()
    ast.parse(main, feature_version=(3, 7))
    old = "import sys; sys.version_info = (3, 9, 1)\n"
    done = subprocess.run([sys.executable, "-I", "-S", "-c", old + main], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.startswith("mpsdoctor itself needs Python 3.10 or newer, and this is 3.9;")
