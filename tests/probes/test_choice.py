"""Which interpreter is examined: every way to name one, and every way in which a name can be wrong."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import venv
from pathlib import Path

import pytest

from mpsdoctor.probes.choice import NoSuchInterpreter, Target, choose_target
from tests.conftest import ROOT

NAMES = [
    "plain",
    "with space",
    "it's",
    'quo"te',
    "new\nline",
    "jürgen",
    "ju\u0308rgen",
    "-dash",
    "$HOME",
    "a;b",
    "日本",
]


def program(path: Path, text: str = "#!/bin/sh\nexit 0\n") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)
    return path


def environment(folder: Path) -> str:
    return str(program(folder / "bin" / "python"))


@pytest.fixture
def path_folder(tmp_path: Path) -> Path:
    program(tmp_path / "on path" / "python3")
    return tmp_path / "on path"


@pytest.mark.parametrize("name", NAMES)
def test_a_path_is_taken_as_it_is(name: str, tmp_path: Path) -> None:
    python = program(tmp_path / name / "python")
    assert choose_target(str(python), {}) == Target(str(python), "--python")


@pytest.mark.parametrize("name", [name for name in NAMES if "/" not in name])
def test_a_name_is_the_file_here_and_else_the_one_on_path(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    on_path = program(tmp_path / "folder" / name)
    found = choose_target(name, {"PATH": f"/nowhere:{tmp_path}/folder"})
    assert found == Target(str(on_path), "--python, found on PATH")
    here = program(tmp_path / name)
    assert choose_target(name, {"PATH": f"{tmp_path}/folder"}) == Target(str(here), "--python")


def test_a_folder_here_does_not_hide_the_program_on_path(
    path_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Many repositories hold a folder called python."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "python3").mkdir()
    assert choose_target("python3", {"PATH": str(path_folder)}).executable == str(path_folder / "python3")
    with pytest.raises(NoSuchInterpreter, match="is a folder"):
        choose_target("python3", {"PATH": "/nowhere"})


def test_a_relative_path_and_a_relative_path_variable_become_absolute(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    python = environment(tmp_path / "env")
    assert choose_target("env/bin/python", {}).executable == python
    assert choose_target("python", {"PATH": "env/bin"}).executable == python
    assert choose_target(None, {"PATH": "env/bin"}).executable == python


def test_a_link_keeps_its_own_name(tmp_path: Path) -> None:
    """A venv is known by the path of its link, not by what it leads to."""
    link = tmp_path / "link"
    link.symlink_to(program(tmp_path / "real"))
    assert choose_target(str(link), {}) == Target(str(link), "--python")


@pytest.mark.parametrize("variable", ["--python", "VIRTUAL_ENV", "CONDA_PREFIX"])
@pytest.mark.parametrize("kind", ["gone", "loop"])
def test_a_link_to_nothing_is_a_target_and_no_error(variable: str, kind: str, tmp_path: Path) -> None:
    """A venv whose base Python is gone: just what the user wants to be told."""
    link = tmp_path / "bin" / "python"
    link.parent.mkdir()
    leads = "/opt/gone/bin/python3" if kind == "gone" else "python"
    link.symlink_to(leads)
    found = choose_target(str(link), {}) if variable == "--python" else choose_target(None, {variable: str(tmp_path)})
    assert found == Target(str(link), variable, dangling=leads)


@pytest.mark.parametrize(
    ("python", "says"),
    [
        ("", "needs the path"),
        ("a\0b", "needs the path"),
        ("no-such-python", "none on PATH"),
        ("./no/such/file", "there is no file"),
        ("~no-such-user/python", "there is no file"),
        ("-", "none on PATH"),
        ("-x", "none on PATH"),
        ("/", "is a folder"),
        ("/dev/null", "no ordinary file"),
        ("/etc/passwd", "no execute permission"),
        ("/etc/passwd/python", "there is no file"),
        ("x/" + "a" * 5000, "cannot be reached"),
    ],
)
def test_what_cannot_be_an_interpreter_is_one_plain_line(python: str, says: str) -> None:
    with pytest.raises(NoSuchInterpreter, match=says) as caught:
        choose_target(python, {"PATH": "/nowhere"})
    assert "\n" not in str(caught.value)


def test_a_pipe_is_no_interpreter_and_is_not_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe", 0o777)
    with pytest.raises(NoSuchInterpreter, match="no ordinary file"):
        choose_target(str(tmp_path / "pipe"), {})


def test_the_folder_of_an_environment_names_the_interpreter_in_it(tmp_path: Path) -> None:
    python = environment(tmp_path / "env")
    with pytest.raises(NoSuchInterpreter, match="did you mean") as caught:
        choose_target(str(tmp_path / "env"), {})
    assert python in str(caught.value)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("variable", ["VIRTUAL_ENV", "CONDA_PREFIX"])
def test_the_active_environment_comes_before_path(variable: str, name: str, tmp_path: Path, path_folder: Path) -> None:
    python = environment(tmp_path / name)
    environ = {variable: str(tmp_path / name), "PATH": str(path_folder)}
    assert choose_target(None, environ) == Target(python, variable)


def test_a_venv_comes_before_conda(tmp_path: Path) -> None:
    """conda's base stays active in most shells; a venv is activated on top of it."""
    python = environment(tmp_path / "venv")
    environment(tmp_path / "conda")
    environ = {"VIRTUAL_ENV": str(tmp_path / "venv"), "CONDA_PREFIX": str(tmp_path / "conda")}
    assert choose_target(None, environ).executable == python


@pytest.mark.parametrize("kind", ["gone", "empty", "file", "link to nothing"])
def test_an_active_environment_that_is_gone_is_passed_over_and_said(
    kind: str, tmp_path: Path, path_folder: Path
) -> None:
    place = tmp_path / "env"
    if kind == "empty":
        place.mkdir()
    elif kind == "file":
        place.write_text("")
    elif kind == "link to nothing":
        place.symlink_to("nothing")
    found = choose_target(None, {"VIRTUAL_ENV": str(place), "PATH": str(path_folder)})
    assert found.executable == str(path_folder / "python3")
    assert "VIRTUAL_ENV" in found.chosen_by


def test_without_any_environment_it_is_python3_and_then_python_on_path(tmp_path: Path, path_folder: Path) -> None:
    assert choose_target(None, {"PATH": str(path_folder)}) == Target(str(path_folder / "python3"), "python3 on PATH")
    only = program(tmp_path / "old" / "python")
    assert choose_target(None, {"PATH": str(only.parent), "VIRTUAL_ENV": ""}).executable == str(only)


def test_where_path_has_none_it_is_our_own(tmp_path: Path) -> None:
    found = choose_target(None, {"PATH": str(tmp_path)})
    assert (found.executable, "no other" in found.chosen_by) == (sys.executable, True)


ZIPPED, WITH_TORCH, UV_TOOL = "run from a zip file", "with torch", "a tool of uv's, with torch"


@pytest.mark.parametrize("through", ["itself", "a link"])
@pytest.mark.parametrize(
    ("kind", "passed_over"), [("plain", True), (ZIPPED, False), (WITH_TORCH, False), (UV_TOOL, True)]
)
def test_an_environment_in_which_somebody_works_is_not_passed_over(
    kind: str, passed_over: bool, through: str, tmp_path: Path, path_folder: Path
) -> None:
    """uvx runs the tool from an environment of its own, which stands first on PATH: that one nobody asks about."""
    env = tmp_path / "env"
    venv.create(env, with_pip=False)
    site = next(env.glob("lib/python3*/site-packages"))
    where = tmp_path / "code" if kind == ZIPPED else site
    shutil.copytree(ROOT / "mpsdoctor", where / "mpsdoctor", ignore=shutil.ignore_patterns("__pycache__"))
    if kind in (WITH_TORCH, UV_TOOL):
        (site / "torch").mkdir()
    if kind == UV_TOOL:
        (env / "uv-receipt.toml").touch()
    first = env / "bin"
    if through == "a link":
        first = tmp_path / "link"
        first.symlink_to(env / "bin")
    code = (
        f"import sys; sys.path[:0] = {[str(where), *sys.path]!r}\n"
        "from mpsdoctor.probes.choice import choose_target\n"
        f"found = choose_target(None, {{'PATH': {f'{first}:{path_folder}'!r}}})\n"
        "print(found.executable, found.chosen_by, sep='\\n')"
    )
    done = subprocess.run([str(env / "bin" / "python"), "-c", code], capture_output=True, text=True, check=True)
    executable, chosen_by = done.stdout.splitlines()
    assert executable == str((path_folder if passed_over else first) / "python3")
    assert ("behind mpsdoctor's own" in chosen_by) is passed_over
