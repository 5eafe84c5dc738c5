"""The program starts with its own modules and the standard library's, whatever the user's files are called."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT

REPLAY = ["check", "--replay", str(ROOT / "tests" / "recordings" / "05-m1pro-anaconda-x86_64-rosetta")]
NAMES = ("json", "click", "typing", "queue", "rich", "datetime", "random")  # not what Python itself loads at its start


def run(argv: list[str], folder: Path, **environ: str) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, **environ}
    return subprocess.run(argv, cwd=folder, env=env, capture_output=True, text=True, check=False, timeout=60)


@pytest.mark.parametrize("text", ["import sys; sys.exit(0)", "raise ValueError('x')", "x = 1", "this is no Python"])
def test_a_file_of_the_user_takes_no_modules_place(tmp_path: Path, text: str) -> None:
    for name in NAMES:
        (tmp_path / f"{name}.py").write_text(text)
    script = str(Path(sys.executable).with_name("mpsdoctor"))
    by_path = run([script, *REPLAY], ROOT, PYTHONPATH=str(tmp_path))
    by_folder = run([sys.executable, "-m", "mpsdoctor", *REPLAY], tmp_path)
    for done in (by_path, by_folder):
        assert done.returncode == 1, done.stderr
        assert "PY101" in done.stdout
        assert done.stderr == ""


@pytest.mark.parametrize("entry", ["None", "b'/tmp'", "pathlib.Path('/tmp')", "7"])
def test_what_else_lies_on_the_path_harms_nothing(entry: str, tmp_path: Path) -> None:
    code = f"import pathlib, sys; sys.path.append({entry}); sys.argv = ['mpsdoctor', *{REPLAY!r}]\n"
    done = run([sys.executable, "-c", code + "from mpsdoctor.start import main; main()"], tmp_path)
    assert (done.returncode, done.stderr, "PY101" in done.stdout) == (1, "", True)


def test_where_nothing_can_be_imported_it_is_one_line(tmp_path: Path) -> None:
    code = "import sys; from mpsdoctor.start import main; sys.path.append('nul\\0byte'); "
    done = run([sys.executable, "-c", f"{code} sys.argv = ['mpsdoctor', *{REPLAY!r}]; main()"], tmp_path)
    assert (done.returncode, done.stderr.count("\n"), "embedded null byte" in done.stderr) == (5, 1, True)


def test_a_plug_in_on_pythonpath_is_still_found(tmp_path: Path) -> None:
    (tmp_path / "theirs.py").write_text("answer = 42")
    code = "from mpsdoctor.start import own_modules_first as go; go(); import theirs; print(theirs.answer)"
    assert run([sys.executable, "-c", code], ROOT, PYTHONPATH=str(tmp_path)).stdout == "42\n"


def test_a_start_that_fails_is_one_line_and_status_5(tmp_path: Path) -> None:
    code = "import sys; sys.modules['click'] = None; from mpsdoctor.start import main; main()"
    done = run([sys.executable, "-c", code], tmp_path)
    assert done.returncode == 5
    assert done.stderr.count("\n") == 1
    assert "mpsdoctor cannot start" in done.stderr


def test_a_module_that_leaves_is_no_health(tmp_path: Path) -> None:
    """SystemExit from somewhere inside must never become exit status 0."""
    code = "import sys, mpsdoctor.cli.check as c; c.judged = lambda o: sys.exit(0)\n"
    code += "from mpsdoctor.start import main; sys.argv = ['mpsdoctor', 'check']; main()"
    done = run([sys.executable, "-c", code], tmp_path)
    assert done.returncode == 5, done.stderr


def test_ctrl_c_while_the_program_loads_is_one_line_and_130(tmp_path: Path) -> None:
    code = """
import sys
class Interrupts:
    def find_spec(self, name, path, target=None):
        if name == "click":
            raise KeyboardInterrupt
sys.meta_path.insert(0, Interrupts())
from mpsdoctor.start import main
main()
"""
    done = run([sys.executable, "-c", code], tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "interrupted; nothing was changed\n")


def test_what_is_registered_for_the_end_is_done_and_what_was_written_is_there(tmp_path: Path) -> None:
    code = """
import atexit, sys, mpsdoctor.cli.check as check
def judged(options):
    atexit.register(lambda: print('at the end'))
    print('answer')
    sys.stderr.write('unfinished line')
    raise KeyboardInterrupt
check.judged = judged
from mpsdoctor.start import main
sys.argv = ['mpsdoctor', 'check']
main()
"""
    done = run([sys.executable, "-c", code], tmp_path)
    assert (done.returncode, done.stdout.split("\n")) == (130, ["answer", "at the end", ""])
    assert done.stderr.split() == ["unfinished", "line", "interrupted;", "nothing", "was", "changed"]
