"""Where the parts of an environment lie, and what is no environment."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from mpsdoctor.probes.env_folder import NotAnEnvironment, read_env
from tests import macho_bytes as make


def put(path: Path, content: bytes | str = make.library()) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def test_a_bare_prefix(tmp_path: Path):
    (tmp_path / "lib" / "python3.13" / "site-packages").mkdir(parents=True)
    (tmp_path / "lib" / "python3.9" / "site-packages").mkdir(parents=True)
    put(tmp_path / "lib" / "python3.13" / "EXTERNALLY-MANAGED", "")
    put(tmp_path / "include" / "python3.13" / "patchlevel.h", '#define PY_VERSION      "3.13.7+"\n')
    interpreter = read_env(tmp_path).interpreter
    assert (interpreter.version, interpreter.externally_managed, interpreter.venv) == ("3.13.7", True, False)
    assert interpreter.source("version") == "include/python3.13/patchlevel.h"
    assert interpreter.source("externally_managed") == "lib/python3.13"


def test_the_folder_of_the_interpreter_that_bin_python3_names(tmp_path: Path):
    for name in ("python3.13", "python3.11"):
        (tmp_path / "lib" / name / "site-packages").mkdir(parents=True)
    put(tmp_path / "bin" / "python3.11")
    (tmp_path / "bin" / "python3").symlink_to("python3.11")
    assert read_env(tmp_path).interpreter.version == "3.11"


def test_free_threaded_and_pypy(tmp_path: Path):
    (tmp_path / "a" / "lib" / "python3.14t" / "site-packages").mkdir(parents=True)
    (tmp_path / "b" / "lib" / "pypy3.10" / "site-packages").mkdir(parents=True)
    put(tmp_path / "c" / "torch" / "_C.cpython-313t-darwin.so")
    put(tmp_path / "c" / "torch-2.9.1.dist-info" / "METADATA", "Name: torch\n")
    assert read_env(tmp_path / "a").interpreter.minor == "3.14t"
    assert read_env(tmp_path / "b").interpreter.implementation == "pypy"
    assert read_env(tmp_path / "c").interpreter.minor == "3.13t"
    (tmp_path / "a" / "lib" / "python3.14" / "site-packages").mkdir(parents=True)
    assert read_env(tmp_path / "a").interpreter.minor == "3.14"


@pytest.mark.parametrize(
    ("name", "version", "implementation", "threads"),
    [
        ("python-3.13.3-h81fe080_101_cp313", "3.13.3", "cpython", False),
        ("python-3.14.0-h1234567_0_cp314t", "3.14.0", "cpython", True),
        ("python-3.9.18-1_73_pypy", "3.9.18", "pypy", False),
    ],
)
def test_python_of_a_conda_record(tmp_path: Path, name: str, version: str, implementation: str, threads: bool):
    put(tmp_path / "conda-meta" / f"{name}.json", "{}")
    put(tmp_path / "conda-meta" / "python_abi-3.99-0.json", "{}")
    found = read_env(tmp_path).interpreter
    assert (found.version, found.implementation, found.free_threaded) == (version, implementation, threads)


def test_folders_inside_an_environment_may_be_named(tmp_path: Path):
    site = tmp_path / "lib" / "python3.12" / "site-packages"
    put(site / "six.py", "")
    for path in (site, site.parent):
        interpreter = read_env(path).interpreter
        assert interpreter.site_packages == (str(site),)
    assert read_env(site).interpreter.version == "3.12"


@pytest.mark.parametrize(
    ("make_path", "words"),
    [
        (lambda p: p / "nothing", "There is nothing at"),
        (lambda p: put(p / "file", ""), "is a file"),
        (lambda p: (p / "empty").mkdir() or p / "empty", "is empty"),
        (lambda p: put(p / "src" / "main.py", "").parent, "holds no Python packages"),
        (lambda p: put(p / "proj" / ".venv" / "pyvenv.cfg", "").parents[1], ".venv is one"),
        (lambda p: put(p / "proj" / "my.egg-info" / "PKG-INFO", "Name: x\n").parents[1], "holds no Python packages"),
        (lambda p: (p / "loop").symlink_to("loop") or p / "loop", "There is nothing at"),
        (lambda p: p / "nul\0", "There is nothing at"),
        (lambda p: Path("~no-such-user/venv"), "There is nothing at"),
    ],
)
def test_what_is_no_environment(tmp_path: Path, make_path, words: str):
    path = make_path(tmp_path)
    with pytest.raises(NotAnEnvironment) as caught:
        read_env(path)
    message = str(caught.value)
    assert words in message
    assert "\n" not in message
    assert message.endswith(".")


def test_a_folder_that_may_not_be_read(tmp_path: Path):
    root = tmp_path / "venv"
    put(root / "pyvenv.cfg", "home = /opt/bin\n")
    for folder in (tmp_path, *tmp_path.parents[:3]):
        folder.chmod(folder.stat().st_mode | 0o055)
    user = os.geteuid()
    for path, closed in ((root, root), (root / "lib", root)):
        closed.chmod(0)
        if user == 0:  # root may read everything
            os.seteuid(65534)
        try:
            with pytest.raises(NotAnEnvironment, match="may not be read by this user"):
                read_env(path)
        finally:
            os.seteuid(user)


@pytest.mark.timeout(20)
def test_pipes_and_loops_inside(tmp_path: Path):
    site = tmp_path / "lib" / "python3.12" / "site-packages"
    (site / "torch" / "lib").mkdir(parents=True)
    os.mkfifo(tmp_path / "pyvenv.cfg")
    os.mkfifo(site / "torch" / "version.py")
    os.mkfifo(site / "torch" / "_C.cpython-312-darwin.so")
    (site / "torch" / "lib" / "libtorch_cpu.dylib").symlink_to("libtorch_cpu.dylib")
    (tmp_path / "conda-meta").symlink_to("conda-meta")
    (site / "numpy").symlink_to(tmp_path)
    facts = read_env(tmp_path)
    assert (facts.interpreter.venv, facts.interpreter.version, facts.torch.version) == (True, "3.12", None)
    assert {binary.kind for binary in facts.binaries.files or ()} == {"loop", "other"}
