"""The target interpreter is asked for real: sound, moved, bereft of its base, noisy, with files that hide others."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from mpsdoctor.probes import interpreter as probe
from mpsdoctor.probes.choice import choose_target
from mpsdoctor.probes.interpreter import InterpreterAnswer, ask_interpreter
from mpsdoctor.probes.runner import LiveRunner
from mpsdoctor.probes.torch import ask_torch

CLEAN = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "VIRTUAL_ENV", "CONDA"))}


def make(folder: Path, *options: str) -> Path:
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", *options, str(folder)], check=True)
    return folder / "bin" / "python"


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make(tmp_path_factory.mktemp("sound") / "env")


def packages(python: Path) -> Path:
    return next((python.parent.parent / "lib").glob("python3*")) / "site-packages"


def ask(python: Path | str, **variables: str) -> InterpreterAnswer:
    return ask_interpreter(LiveRunner({**CLEAN, **variables}), str(python), "--python")


def test_a_sound_environment_tells_what_it_is(sound: Path) -> None:
    found = ask(sound).interpreter
    assert found.end is None
    assert (found.executable, found.chosen_by, found.venv) == (str(sound), "--python", True)
    assert found.version_info == sys.version_info[:3]
    assert found.version_text == " ".join(sys.version.split())
    assert (found.prefix, found.base_prefix) == (str(sound.parent.parent), sys.base_prefix)
    assert (found.base_exists, found.venv_prefix_moved, found.conda) == (True, False, False)
    assert found.site_packages == (str(packages(sound)),)
    assert found.real_path == os.path.realpath(sys.executable)
    assert found.sys_path is not None
    assert found.sys_path[0] == ""
    assert not any("target" in entry for entry in found.sys_path)  # our own folder is not the user's


def test_a_moved_environment_is_known_by_its_activate_script(tmp_path: Path) -> None:
    make(tmp_path / "first")
    (tmp_path / "first").rename(tmp_path / "second")
    found = ask(tmp_path / "second" / "bin" / "python").interpreter
    assert (found.end, found.venv, found.venv_prefix_moved) == (None, True, True)


def test_an_environment_whose_base_is_gone_cannot_start_and_says_so(tmp_path: Path) -> None:
    """The base is a private copy of this interpreter's start, which an upgrade then removes."""
    base = tmp_path / "base" / "bin" / "python3"
    base.parent.mkdir(parents=True)
    base.symlink_to(os.path.realpath(sys.executable))
    python = make(tmp_path / "env")
    python.unlink()
    python.symlink_to(base)
    (tmp_path / "env" / "pyvenv.cfg").write_text(f"home = {base.parent}\n")
    assert ask(python).interpreter.version == sys.version.split()[0]
    shutil.rmtree(tmp_path / "base")
    target = choose_target(None, {"VIRTUAL_ENV": str(tmp_path / "env")})
    assert (target.executable, target.dangling) == (str(python), str(base))
    found = probe.not_started(target.executable, target.chosen_by, "gone", real_path=target.dangling)
    assert (found.base_exists, found.real_path) == (False, str(base))
    assert ask(python).interpreter.end == probe.ProcessEnd(how="not-started", error="No such file or directory")


SITECUSTOMIZE = {
    "prints": "import sys; print('hello'); sys.stderr.write('hello')",
    "prints without end": "import sys; sys.stdout.write('{'); sys.stdout.flush()",
    "floods": "import os; [os.write(1, b'x' * 65536) for _ in range(500)]",
    "prints like us": "print('\\x1empsdoctor {\"sys.version\": 3}')",
    "writes noise": "import os; os.write(1, bytes(range(256)) * 50); os.write(2, bytes(range(256)) * 50)",
    "raises": "raise RuntimeError('broken')",
    "closes stdout": "import sys; sys.stdout.close()",
    "closes stderr": "import os; os.close(2)",
    "warns": "import warnings; warnings.warn('old')",
    "leaves a thread": "import threading, time; threading.Thread(target=time.sleep, args=(600,), daemon=True).start()",
    "leaves a child": "import os, time\nif os.fork() == 0:\n    time.sleep(600)\n    os._exit(0)",
    "changes the folder": "import os; os.chdir('/')",
    "patches json": "import json; json.dumps = None",
}


@pytest.fixture
def own(sound: Path, tmp_path: Path) -> Path:
    shutil.copytree(sound.parent.parent, tmp_path / "env", symlinks=True)
    return tmp_path / "env" / "bin" / "python"


@pytest.mark.parametrize("kind", sorted(set(SITECUSTOMIZE) - {"patches json"}))
def test_what_sitecustomize_does_does_not_hide_the_answer(kind: str, own: Path) -> None:
    (packages(own) / "sitecustomize.py").write_text(SITECUSTOMIZE[kind] + "\n")
    started = time.monotonic()
    found = ask(own).interpreter
    assert (found.end, found.version) == (None, sys.version.split()[0])
    assert found.version_text == " ".join(sys.version.split())
    assert time.monotonic() - started < 8


@pytest.mark.parametrize(
    ("code", "how"),
    [
        ("raise SystemExit(3)", "left with exit status"),
        ("import os; os._exit(0)", "left with exit status 0"),
        ("import os; os.abort()", "ended by SIGABRT"),
        ("import os, signal; os.kill(os.getpid(), signal.SIGSEGV)", "ended by SIGSEGV"),
        ("import time; time.sleep(600)", "gave no answer for"),
        ("while True: print('x' * 1000)", "gave no answer for"),
        (SITECUSTOMIZE["patches json"], "left with exit status 1"),
    ],
)
def test_a_start_that_never_reaches_us_is_told(code: str, how: str, own: Path) -> None:
    (packages(own) / "sitecustomize.py").write_text(code + "\n")
    started = time.monotonic()
    found = ask_interpreter(LiveRunner(CLEAN), str(own), "--python", timeout=1.5).interpreter
    assert found.end is not None
    assert how in found.end.describe()
    assert (found.executable, found.version) == (str(own), None)
    assert time.monotonic() - started < 8


SHADOWS = [
    ("torch.py", "torch", "file"), ("torch/__init__.py", "torch", "folder"), ("numpy/__init__.py", "numpy", "folder"),
    ("random.py", "random", "file"), ("typing.py", "typing", "file"), ("json/__init__.py", "json", "folder"),
    ("platform.py", "platform", "file"), ("signal.py", "signal", "file"),
]  # fmt: skip


@pytest.mark.parametrize("where", ["working folder", "PYTHONPATH"])
@pytest.mark.parametrize(("file", "name", "kind"), SHADOWS)
def test_a_file_that_hides_a_module_is_found_and_does_not_hide_it_from_us(
    file: str, name: str, kind: str, where: str, sound: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / file).parent.mkdir(exist_ok=True)
    (tmp_path / file).write_text("raise RuntimeError('mine')\n")
    if where == "working folder":
        monkeypatch.chdir(tmp_path)
    answer = ask(sound, **({"PYTHONPATH": str(tmp_path)} if where == "PYTHONPATH" else {}))
    assert answer.interpreter.end is None
    found = {(item.name, item.kind, item.path) for item in answer.environment.shadows or ()}
    place = tmp_path / (file if kind == "file" else name)
    assert (name, kind, str(place)) in found


@pytest.mark.parametrize("file", ["typing.py", "json/__init__.py", "functools.py", "warnings.py"])
def test_torch_meets_the_hiding_file_as_it_would_in_the_users_program(
    file: str, own: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (packages(own) / "torch.py").write_text(f"import {file.split('/')[0].removesuffix('.py')}\n")
    (tmp_path / file).parent.mkdir(exist_ok=True)
    (tmp_path / file).write_text("raise RuntimeError('mine')\n")
    monkeypatch.chdir(tmp_path)
    found = ask_torch(LiveRunner(CLEAN), str(own), 20.0)
    theirs = subprocess.run(
        [str(own), "-c", "import torch"], cwd=tmp_path, env=CLEAN, stderr=subprocess.PIPE, check=False
    )
    assert found.imported is (theirs.returncode == 0)
    assert found.import_failure is None or found.import_failure.file == str(tmp_path / file)


def test_a_checkout_of_torch_and_an_installed_folder_are_told_apart(
    sound: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "torch").mkdir()
    (tmp_path / "torch" / "__init__.py").touch()
    (tmp_path / "setup.py").touch()
    (tmp_path / "numpy").mkdir()  # without __init__.py it hides nothing
    monkeypatch.chdir(tmp_path)
    assert [(s.name, s.kind) for s in ask(sound).environment.shadows or ()] == [("torch", "checkout")]
    (tmp_path / "torch-2.13.0.dist-info").mkdir()  # pip install --target
    assert ask(sound).environment.shadows == ()


@pytest.mark.parametrize(
    "variables",
    [{"PYTHONOPTIMIZE": "2"}, {"PYTHONSAFEPATH": "1"}, {"PYTHONWARNINGS": "error"}, {"PYTHONDEVMODE": "1"},
     {"PYTHONINSPECT": "1"}, {"PYTHONPROFILEIMPORTTIME": "1"}, {"PYTHONPATH": "/no/such:\n:"}, {"PYTHONUTF8": "0"},
     {"PYTHONIOENCODING": "utf-16"}, {"LC_ALL": "C"}, {"PYTHONUNBUFFERED": "1"}, {"PYTHONVERBOSE": "1"},
     {"PYTHONSTARTUP": "/dev/zero"}, {"PYTHONNOUSERSITE": "1"}, {"PATH": ""}, {"HOME": "/nonexistent"}],
    ids=str,
)  # fmt: skip
def test_variables_that_change_python_do_not_change_that_it_answers(variables: dict[str, str], sound: Path) -> None:
    found = ask(sound, **variables)
    assert (found.interpreter.end, found.interpreter.version) == (None, sys.version.split()[0])
    assert ask_torch(LiveRunner({**CLEAN, **variables}), str(sound), 20.0).imported is False


def test_a_home_that_is_none_ends_the_interpreter_and_is_told(sound: Path) -> None:
    found = ask(sound, PYTHONHOME="/no/such/home")
    assert found.interpreter.end is not None
    assert found.interpreter.end.how == "exit"
    assert found.environment.variables is not None
    assert found.environment.variables["PYTHONHOME"] == "/no/such/home"
