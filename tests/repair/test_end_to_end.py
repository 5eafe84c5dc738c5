"""Real environments, real pip and uv, a real index: diagnosed, fixed, gone, undone, and bit for bit as before."""

from __future__ import annotations

import dataclasses
import json
import os
import pty
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from mpsdoctor.facts import Torch
from mpsdoctor.registry import load_registry
from mpsdoctor.repair.apply import Applier
from mpsdoctor.repair.planner import make_plan
from mpsdoctor.repair.proof import Examination
from mpsdoctor.repair.registry import load_fixes
from mpsdoctor.repair.store import FIXED, Store
from mpsdoctor.repair.survey import Survey
from mpsdoctor.repair.undo import undo
from mpsdoctor.report.model import make_report
from tests.conftest import RECORDINGS, Ran
from tests.repair.conftest import Patient
from tests.repair.wheels import TORCH, UV, Index, fingerprint, run
from tests.terminal import all_of

MACOS_13 = RECORDINGS / "04-m1-macos13-old"
Make = Callable[..., Patient]
both = pytest.mark.parametrize("manager", ["pip", "uv"])


def install(mac: Patient, manager: str, *arguments: str) -> None:
    tool = (
        (UV, "pip", "install", "--python", str(mac.python))
        if manager == "uv"
        else (str(mac.python), "-m", "pip", "install", "-q")
    )
    run(*tool, *arguments, env=mac.env)


def site(mac: Patient) -> Path:
    return next(mac.folder.glob("lib/python3*/site-packages"))


def cured(mac: Patient, cause: str, *arguments: str, diagnosed: bool = True, env: dict[str, str] | None = None) -> Ran:
    """Diagnose, show, fix, examine again, undo: the whole way. Return the fix."""
    more = {"env": env} if env else {}
    before = fingerprint(mac.project, mac.home / ".zshrc")
    shown = mac.fix("--dry-run", "--format", "json", *arguments, **more)
    assert shown.code == 0, shown.out + shown.err
    assert cause in [item["cause"] for item in shown.json["plan"]["fixes"]]
    assert not diagnosed or cause in [item["cause"] for item in shown.json["diagnosis"]["causes"]]
    assert fingerprint(mac.project, mac.home / ".zshrc") == before
    fixed = mac.fix("--yes", "--format", "json", *arguments, **more)
    assert fixed.code == 0, fixed.out + fixed.err
    assert fixed.json["applied"]["outcome"] == "fixed"
    assert not diagnosed or cause not in mac.causes()
    assert fingerprint(mac.project, mac.home / ".zshrc") != before
    undone = mac.undo()
    assert undone.code == 0, undone.out + undone.err
    assert fingerprint(mac.project, mac.home / ".zshrc") == before
    return fixed


@both
def test_companion_mismatch(manager: str, patient: Make) -> None:
    mac = patient("torch==2.13.0", manager=manager)
    install(mac, manager, "torchvision==0.27.1", "--no-deps")
    fixed = cured(mac, "companion-version-mismatch")
    assert "torchvision 0.27.1 -> 0.28.0" in fixed.json["applied"]["changes"]


@both
def test_numpy_of_the_wrong_generation(manager: str, patient: Make) -> None:
    mac = patient("torch==2.2.2", "numpy==2.4.6", manager=manager, mac=MACOS_13)
    fixed = cured(mac, "numpy2-abi")
    assert fixed.json["applied"]["changes"] == ["numpy 2.4.6 -> 1.26.4"]


@both
def test_a_torch_that_needs_a_newer_macos(manager: str, patient: Make) -> None:
    mac = patient("torch==2.13.0", "helper", manager=manager, mac=MACOS_13)
    fixed = cured(mac, "macos-too-old-for-torch")
    assert fixed.json["applied"]["changes"] == ["torch 2.13.0 -> 2.8.0"]
    assert any("System Settings" in item["text"] for item in fixed.json["plan"]["manual"])


@both
def test_two_copies_of_torch(manager: str, patient: Make, index: Index) -> None:
    mac = patient("torch==2.13.0", manager=manager)
    info = site(mac) / "torch-2.8.0.dist-info"
    shutil.copytree(site(mac) / "torch-2.13.0.dist-info", info)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: torch\nVersion: 2.8.0\n")
    record = (info / "RECORD").read_text().replace("torch-2.13.0.dist-info", "torch-2.8.0.dist-info")
    (info / "RECORD").write_text(record)
    cured(mac, "mixed-package-sources")


@both
def test_a_venv_whose_base_is_gone(manager: str, patient: Make) -> None:
    mac = patient("torch==2.13.0", "helper", manager=manager)
    for name in ("python", "python3", "python3.11"):
        link = mac.folder / "bin" / name
        link.unlink(missing_ok=True)
    (mac.folder / "bin" / "python").symlink_to("/gone/python3.11/bin/python3.11")
    (mac.folder / "bin" / "python3").symlink_to("python")
    settings = mac.folder / "pyvenv.cfg"
    lines = [
        line if not line.startswith("home") else "home = /gone/python3.11/bin"
        for line in settings.read_text().splitlines()
    ]
    settings.write_text("\n".join(lines) + "\n")
    fixed = cured(mac, "broken-venv")
    assert fixed.json["applied"]["after"]["diagnosis"]["causes"] == []


@pytest.mark.parametrize("manager", ["uv"])
def test_a_venv_that_was_moved(manager: str, patient: Make) -> None:
    mac = patient("torch==2.13.0", "helper", manager=manager)
    moved = mac.project / "my 'new' Umgebung ü"
    mac.folder.rename(moved)
    mac.folder = moved
    cured(mac, "broken-venv")
    assert mac.fix("--yes").code == 0
    run(str(moved / "bin" / "helper"), env=mac.env)  # its scripts name the folder that they stand in
    (aside,) = mac.project.glob(".*.mpsdoctor-old")
    row = json.loads(mac.doctor("undo", "--list", "--format", "json").out)[0]
    assert mac.undo(row["run"], "--forget").code == 0
    assert not aside.exists()
    assert "cannot" not in mac.fix("--dry-run").out


def test_a_second_new_environment_and_an_old_one_that_was_thrown_away(patient: Make) -> None:
    mac = patient("torch==2.13.0", manager="uv")
    for number in ("", "2"):
        mac.python.unlink()
        mac.python.symlink_to("/gone/bin/python3.11")
        assert mac.fix("--yes").code == 0
        assert (mac.project / f".venv.mpsdoctor-old{number}").is_dir()
    shutil.rmtree(mac.project / ".venv.mpsdoctor-old2")
    undone = mac.undo()
    assert undone.code == 4
    assert "not restored" in undone.err
    assert mac.python.exists()


def test_a_file_that_hides_torch(patient: Make) -> None:
    mac = patient("torch==2.13.0")
    (mac.project / "torch.py").write_text("import nothing_of_that_name\n")
    fixed = cured(mac, "local-file-shadows-torch")
    assert fixed.json["plan"]["fixes"][0]["steps"][0]["title"] == "rename torch.py to my_torch.py"


PINS = {
    "requirements.txt": "numpy  # keep me\ntorch==2.1.0+cu118\n--index-url https://download.pytorch.org/whl/cu118\n",
    "pyproject.toml": "[project]\nname = 'x'\nversion = '1'\n# keep me\n"
    "dependencies = [\n    'torch==2.1.0+cu118',  # here\n]\n",
    "pyproject.toml, groups": "[project]\nname = 'x'\nversion = '1'\n[project.optional-dependencies]\n# keep me\n"
    "gpu = ['torch==2.1.0+cu118']\n[dependency-groups]\ndev = ['torchvision==0.16.0+cu118']\n",
    "pyproject.toml, uv": "[project]\nname = 'x'\nversion = '1'\ndependencies = ['torch']\n"
    "[[tool.uv.index]]\nname = 'cuda'  # keep me\nurl = 'https://download.pytorch.org/whl/cu121'\nexplicit = true\n"
    "[tool.uv.sources]\ntorch = { index = 'cuda' }\n",
    "pyproject.toml, Poetry": "[tool.poetry]\nname = 'x'\n[tool.poetry.dependencies]\n# keep me\n"
    "torch = '2.1.0+cu121'\n",
    "pyproject.toml, pixi": "[tool.pixi.workspace]\nplatforms = ['linux-64']\n[tool.pixi.pypi-dependencies]\n"
    "# keep me\ntorch = '==2.1.0+cu121'\n",
    "pixi.toml": "[workspace]\nplatforms = ['linux-64']\n[pypi-dependencies]\n# keep me\ntorch = '==2.1.0+cu121'\n",
}


@pytest.mark.parametrize("name", sorted(PINS))
def test_a_pin_that_no_mac_has(name: str, patient: Make) -> None:
    mac = patient("torch==2.13.0")
    file = mac.project / name.partition(",")[0]
    file.write_text(PINS[name])
    fixed = cured(mac, "non-mac-wheel-pin", diagnosed=False)
    assert [item["cause"] for item in fixed.json["plan"]["fixes"]] == ["non-mac-wheel-pin"]
    assert mac.fix("--yes").code == 0
    assert "keep me" in file.read_text()
    assert mac.fix("--dry-run", "--format", "json").json["plan"]["fixes"] == []


@pytest.mark.parametrize("manager", ["uv"])
def test_two_openmp_runtimes(manager: str, patient: Make, index: Index) -> None:
    meets = (
        "import os, sys\nfrom pathlib import Path\n"
        "if (Path(__file__).parent.parent / 'numpy' / '.dylibs').exists():\n"
        "    sys.stderr.write('OMP: Error #15: Initializing libomp.dylib, but found libiomp5.dylib already "
        "initialized.\\n')\n"
        "    sys.stderr.flush(); os.abort()\n"
    )
    index.add("torch", "2.13.0", files={"torch/__init__.py": meets + TORCH.format(version="2.13.0")})
    mac = patient("torch==2.13.0", "numpy", manager=manager)
    files = {"numpy/__init__.py": "__version__ = '2.4.6'\n", "numpy/.dylibs": "the second runtime"}
    from tests.repair.wheels import wheel

    install(mac, manager, "--no-deps", "--force-reinstall", str(wheel(mac.home, "numpy", "2.4.6", files=files)))
    cured(mac, "duplicate-openmp")


@both
def test_no_torch_at_all(manager: str, patient: Make) -> None:
    cured(patient("helper", manager=manager), "torch-not-installed")


@pytest.mark.parametrize("manager", ["uv"])
def test_a_damaged_torch(manager: str, patient: Make) -> None:
    mac = patient("torch==2.13.0", manager=manager)
    (site(mac) / "torch" / "__init__.py").unlink()
    (site(mac) / "torch" / "__init__.py").write_text("raise ImportError('cut off')\n")
    cured(mac, "torch-import-fails")


@both
def test_a_package_that_torch_needs_is_missing(manager: str, patient: Make, index: Index) -> None:
    text = "import helper\n" + TORCH.format(version="2.13.0")
    index.add("torch", "2.13.0", requires=("helper",), files={"torch/__init__.py": text})
    mac = patient("torch==2.13.0", manager=manager)
    (site(mac) / "helper.py").unlink()
    shutil.rmtree(next(site(mac).glob("helper-*.dist-info")))
    fixed = cured(mac, "torch-import-fails")
    assert "+ helper 1.0" in fixed.json["applied"]["changes"]


def test_a_variable_that_says_the_contrary(patient: Make) -> None:
    mac = patient("torch==2.13.0")
    profile = mac.home / ".zshrc"
    profile.write_text("alias x=y\nexport PYTORCH_ENABLE_MPS_FALLBACK=false\nexport KEEP=1")
    cured(mac, "env-var-ineffective", env={"PYTORCH_ENABLE_MPS_FALLBACK": "false"})


@both
def test_a_nightly_of_one_day(manager: str, patient: Make, index: Index) -> None:
    from datetime import date, timedelta

    stamp = f"{date.today() - timedelta(days=3):%Y%m%d}"
    version, companion = f"2.16.0.dev{stamp}", f"0.31.0.dev{stamp}"
    index.add("torch", version)
    index.add("torchvision", companion, requires=(f"torch=={version}",))
    mac = patient("torch==2.13.0", "torchvision==0.28.0", manager=manager)
    options = ("--nightly", version, "--index-url", index.url)
    fixed = cured(mac, "nightly", *options, diagnosed=False)
    assert fixed.json["applied"]["changes"] == [f"torch 2.13.0 -> {version}", f"torchvision 0.28.0 -> {companion}"]
    assert "leaves the nightly index" in fixed.json["plan"]["fixes"][0]["notes"][0]


def test_a_folder_with_every_awkward_character(patient: Make) -> None:
    mac = patient("torch==2.13.0", manager="uv", name="-rf $(touch trap); 'q' \"d\" ü\n&")
    install(mac, "uv", "torchvision==0.27.1", "--no-deps")
    cured(mac, "companion-version-mismatch")
    assert not list(mac.project.rglob("trap"))


def test_what_was_written_after_the_repair_is_kept_by_undo(patient: Make) -> None:
    mac = patient("torch==2.13.0", manager="uv")
    pins = mac.project / "requirements.txt"
    pins.write_text("torch==2.1.0+cu118\n")
    assert mac.fix("--yes").code == 0
    pins.write_text("all my work\n")
    undone = mac.undo()
    assert "changed since the repair, and kept" in undone.err
    assert pins.read_text() == "torch==2.1.0+cu118\n"
    (kept,) = mac.project.glob("requirements.txt.2*")
    assert kept.read_text() == "all my work\n"


def test_an_environment_without_pip_or_uv(patient: Make) -> None:
    mac = patient("torch==2.13.0", mac=MACOS_13)
    run(UV, "pip", "uninstall", "--python", str(mac.python), "pip", env=mac.env)
    fixed = cured(mac, "macos-too-old-for-torch")
    assert fixed.json["plan"]["fixes"][0]["steps"][0]["title"] == "bring pip into the environment"


def test_a_python_that_is_managed_stays_and_gets_a_venv_beside_it(patient: Make) -> None:
    """No Python here is managed by Homebrew: this one is said to be, and the plan for it is carried out."""
    mac = patient(manager="uv")
    base = os.path.realpath(sys.executable)
    examination = Examination({**os.environ, **mac.env})
    report = examination.report(base)
    interpreter = dataclasses.replace(report.facts.interpreter, externally_managed=True, venv=False)
    packages = dataclasses.replace(report.facts.packages, distributions=())
    facts = dataclasses.replace(report.facts, interpreter=interpreter, packages=packages, torch=Torch())
    diagnosis = make_report(facts, report.source, load_registry()).diagnosis
    survey = Survey(live=True, uv=UV, pip=False, project_folder=str(mac.project), existing=(str(mac.folder),))
    plan = make_plan(facts, diagnosis, load_fixes(), survey=survey, only=("torch-not-installed",))
    (fix,) = plan.fixes
    venv = mac.project / ".venv-torch"
    assert fix.python == f"{venv}/bin/python"
    assert not any(base in path for step in fix.steps for path in step.writes)
    store, before = Store(mac.home / "state"), fingerprint(mac.project)
    applied = Applier(plan, dataclasses.replace(report, facts=facts), examination, store).apply()
    assert applied.outcome == FIXED, applied.why
    assert (next(venv.glob("lib/python3*/site-packages")) / "torch").is_dir()
    assert undo(store.runs()[0], store).not_restored == ()
    assert fingerprint(mac.project) == before


def test_somebody_who_watches_sees_how_long_a_step_takes(patient: Make, index: Index) -> None:
    mac = patient("torch==2.13.0", manager="pip")
    install(mac, "pip", "torchvision==0.27.1", "--no-deps")
    index.delay = 1.5  # pip asks for each project
    ours, theirs = pty.openpty()
    argv = [sys.executable, "-m", "mpsdoctor", "fix", "--python", str(mac.python), "--yes"]
    process = subprocess.Popen(
        argv, cwd=mac.project, env={**os.environ, **mac.env}, stdout=subprocess.PIPE, stderr=theirs
    )
    os.close(theirs)
    said = all_of(ours)
    out, _ = process.communicate(timeout=60)
    assert process.returncode == 0, out
    step = "step 1 of 1: install torch==2.13.0 torchvision==0.28.0"
    lines = [line.split("\r")[-1] for line in said.decode().replace("\r\n", "\n").splitlines()]
    assert any(line.startswith(f"{step} (") and line.endswith(" s)") for line in lines), lines
    assert lines[-1].startswith("examining the environment anew")
