"""The small parts: names, journal, lock, download, startup files, relocation, patient commands."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mpsdoctor.facts import Distribution
from mpsdoctor.repair.actions import (
    Forget,
    Rename,
    StepFailed,
    Switch,
    Work,
    WriteText,
    action_from_json,
    digest,
)
from mpsdoctor.repair.commands import environment_of
from mpsdoctor.repair.conda_history import requested
from mpsdoctor.repair.download import fetch_verified
from mpsdoctor.repair.journal import Journal
from mpsdoctor.repair.names import is_conda_name, is_name, is_version, pinned
from mpsdoctor.repair.plan import Plan, PlannedFix, Step
from mpsdoctor.repair.relocate import relocate
from mpsdoctor.repair.startup import CLOSING, OPENING, set_otherwise, sets, without
from mpsdoctor.repair.store import INTERRUPTED, UNDONE, Locked, Store
from mpsdoctor.repair.verify import NotStarted, verify_target
from tests.repair.wheels import serve

WORK = Work(lambda python: ())


@given(st.text(max_size=30))
def test_only_names_enter_commands(text: str) -> None:
    for allowed in (is_name, is_conda_name):
        if allowed(text):
            assert not text.startswith("-")
            assert text.isascii()
            assert not set(text) & set(" \t\n;|&$`'\"\\/<>()=@")
    if is_version(text):
        assert text[0].isdigit()
        assert text.strip() == text


@given(name=st.text(max_size=20), version=st.one_of(st.none(), st.text(max_size=20)))
def test_a_pin_is_one_plain_word(name: str, version: str | None) -> None:
    word = pinned(Distribution(name=name, version=version))
    if word is not None:
        assert word[0].isalnum()
        assert not set(word) & set(" \n;|&$`'\"\\/<>()")


@pytest.mark.parametrize("name", ["torch", "a", "ruamel.yaml", "zope-interface", "A_b"])
def test_real_names_pass(name: str) -> None:
    assert is_name(name)


def test_the_local_part_is_left_out() -> None:
    assert pinned(Distribution(name="Torch_Vision", version="0.1+cu118")) == "torch-vision==0.1"


def test_a_journal_line_that_was_cut_off_never_happened(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "journal.jsonl")
    assert journal.entries() == []
    journal.write("begin", target="a\nb \udcff")
    with (tmp_path / "journal.jsonl").open("ab") as file:
        file.write(b'{"event": "step", "num')
    assert [entry["event"] for entry in journal.entries()] == ["begin"]


def test_a_run_without_an_end_is_interrupted(tmp_path: Path) -> None:
    store = Store(tmp_path)
    run = store.new_run()
    run.save("about.json", {"target": "/x/bin/python"})
    run.journal.write("begin")
    assert run.outcome == INTERRUPTED
    assert store.interrupted("/x/bin/python3") == run
    assert store.interrupted("/y/bin/python") is None
    run.journal.write("end", outcome=UNDONE)
    assert store.interrupted("/x/bin/python") is None
    assert (run.folder.stat().st_mode & 0o777) == 0o700


def test_runs_are_in_their_order_however_quickly_they_follow(tmp_path: Path) -> None:
    store = Store(tmp_path)
    made = [store.new_run().id for _ in range(30)]
    assert [run.id for run in store.runs()] == made[::-1]
    assert len(set(made)) == 30


def test_one_target_has_one_lock_and_another_its_own(tmp_path: Path) -> None:
    store = Store(tmp_path)
    with store.lock("/x/bin/python"):
        with pytest.raises(Locked), store.lock("/x/bin/python3.11"):
            pass
        with store.lock("/y/bin/python"):
            pass
    with store.lock("/x/bin/python"):
        pass


def test_a_child_keeps_the_lock(tmp_path: Path) -> None:
    store = Store(tmp_path)
    with store.lock("/x/bin/python") as descriptor:
        command = [sys.executable, "-c", "import sys; print('up', flush=True); sys.stdin.read()"]
        child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, pass_fds=(descriptor,))
        assert child.stdout is not None
        child.stdout.readline()
    with pytest.raises(Locked), store.lock("/x/bin/python"):
        pass
    child.communicate(b"")
    with store.lock("/x/bin/python"):
        pass


def test_a_download_is_kept_only_with_the_stated_checksum(tmp_path: Path) -> None:
    with serve(tmp_path / "site") as site:
        (site.folder / "installer.sh").write_bytes(b"echo hello\n")
        (site.folder / "good.sha256").write_text(
            f"{hashlib.sha256(b'echo hello' + bytes([10])).hexdigest()}  installer.sh\n"
        )
        (site.folder / "bad.sha256").write_text(f"{'0' * 64}  installer.sh\n")
        (site.folder / "none.sha256").write_text("no checksum here\n")
        target = tmp_path / "deep" / "installer.sh"
        for name, words in (
            ("bad", "is not the one"),
            ("none", "states no checksum"),
            ("missing", "cannot be reached"),
        ):
            with pytest.raises(StepFailed, match=words):
                fetch_verified(f"{site.url}installer.sh", f"{site.url}{name}.sha256", target)
            assert not target.exists()
        fetch_verified(f"{site.url}installer.sh", f"{site.url}good.sha256", target)
        assert target.read_bytes() == b"echo hello\n"
    assert [path.name for path in target.parent.iterdir()] == ["installer.sh"]


@pytest.mark.parametrize("url", ["http://example.org/x", "file:///etc/passwd", "ftp://x/y"])
def test_only_https_is_fetched(url: str, tmp_path: Path) -> None:
    with pytest.raises(StepFailed, match="no https"):
        fetch_verified(url, url, tmp_path / "x")


SHELL = "alias a=b\nexport KMP_X=1\n  PYTORCH_A=0 # why\nset -gx PYTORCH_B 1\necho KMP_X=1\nexport KMP_XY=2"


def test_a_variable_is_taken_out_as_a_marked_block() -> None:
    names = ("KMP_X", "PYTORCH_A", "PYTORCH_B", "ABSENT")
    assert sets(SHELL, names) == ("KMP_X", "PYTORCH_A", "PYTORCH_B")
    new = without(SHELL, names)
    assert sets(new, names) == ()
    assert new.count(OPENING) == new.count(CLOSING) == 3
    kept = [line for line in new.splitlines() if not line.startswith("#")]
    assert kept == ["alias a=b", "echo KMP_X=1", "export KMP_XY=2"]
    environ = subprocess.run(["sh", "-c", new + "\nenv"], capture_output=True, text=True, check=True).stdout
    assert "KMP_X=1" not in environ.splitlines()[1:]


PROFILES = {
    "the only statement of a block": 'if [ "$(uname)" ]; then\n  export KMP_X=1\nfi\n',
    "with a comment in the block": "if true\nthen\n  # why\n\n  export KMP_X=1 # so\nfi\n",
    "two in a block": "if true; then\n  export KMP_X=1\n  export KMP_X=2\nfi\n",
    "a function": "f() {\n  export KMP_X=1\n}\nf\n",
    "more than one": "export KMP_X=1 OTHER=8\n",
    "a command behind it": "export KMP_X=1; OTHER=8\n",
    "a list": "true && export KMP_X=1\n",
    "continued": "OTHER=8 \\\nKMP_X=1\n",
    "continues": "true && \\\nexport KMP_X=1\n",
    "computed": 'export KMP_X="$(echo 1)"\n',
    "plain and in another line": "export KMP_X=1\nexport OTHER=2 KMP_X=3\n",
}


@pytest.mark.parametrize("text", PROFILES.values(), ids=PROFILES.keys())
def test_a_line_that_does_more_is_left_to_the_user(text: str) -> None:
    assert sets(text, ("KMP_X",)) == ()
    assert without(text, ("KMP_X",)) == text
    assert set_otherwise(text, ("KMP_X",)) == ("KMP_X",)


SOUND_PROFILES = {
    "beside another statement": "if true; then\n  export KMP_X=1\n  OTHER=8\nfi\necho $OTHER\n",
    "between blocks": "if true; then\n  OTHER=8\nfi\nexport KMP_X='a b' # why; really\nif true; then\n  :\nfi\n",
    "for one command": "KMP_X=0 env >/dev/null\nexport KMP_X=1\n",
}


@pytest.mark.parametrize("shell", ["sh", "bash"])
@pytest.mark.parametrize("text", SOUND_PROFILES.values(), ids=SOUND_PROFILES.keys())
def test_a_real_shell_still_reads_the_profile(text: str, shell: str) -> None:
    new = without(text, ("KMP_X",))
    assert new.count(OPENING) == (0 if text.startswith("KMP_X=0") else 1)
    done = subprocess.run([shell, "-eu", "-c", new], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("text", ["cat <<EOF\nexport KMP_X=1\nEOF\n", "echo 'a\nexport KMP_X=1\nb'\n"])
def test_what_stands_in_a_text_is_no_setting(text: str) -> None:
    assert without(text, ("KMP_X",)) == text


def test_condas_own_list_of_variables() -> None:
    text = '{"version": 1, "env_vars": {"KMP_X": "1", "KEEP": "2"}}'
    assert sets(text, ("KMP_X",), conda=True) == ("KMP_X",)
    assert without(text, ("KMP_X",), conda=True) == '{"version": 1, "env_vars": {"KEEP": "2"}}'
    assert sets("no json", ("KMP_X",), conda=True) == ()


def test_a_file_that_changed_since_the_plan_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "requirements.txt"
    path.write_text("old\n")
    action = WriteText(str(path), "new\n", digest(b"old\n"))
    path.write_text("changed by somebody\n")
    with pytest.raises(StepFailed, match="has changed"):
        action.verify()


def test_a_file_is_written_through_its_link_and_keeps_its_mode(tmp_path: Path) -> None:
    real, link = tmp_path / "real", tmp_path / "link"
    real.write_text("old")
    real.chmod(0o600)
    link.symlink_to(real)
    action = WriteText(str(link), "new", digest(b"old"))
    action.verify()
    action.execute(WORK)
    assert link.is_symlink()
    assert real.read_text() == "new"
    assert real.stat().st_mode & 0o777 == 0o600


def test_a_rename_never_covers_anything(tmp_path: Path) -> None:
    (tmp_path / "torch.py").write_text("mine")
    (tmp_path / "my_torch.py").write_text("mine too")
    with pytest.raises(StepFailed, match="is there already"):
        Rename(str(tmp_path / "torch.py"), str(tmp_path / "my_torch.py")).verify()


def test_actions_survive_the_record_of_a_run(tmp_path: Path) -> None:
    for action in (WriteText("/a", "text", None), Rename("/a", "/b"), Forget("/c")):
        assert action_from_json(action.to_json()) == action


@pytest.mark.parametrize("name", ["plain", 'it\'s a "quoted" ü', "new\nline", "-rf"])
def test_a_new_environment_names_the_place_it_goes_to(name: str, tmp_path: Path) -> None:
    beside, final = tmp_path / f".{name}.new", tmp_path / name
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(beside)], check=True)
    site = next(beside.glob("lib/python3*/site-packages"))
    (beside / "bin" / "tool").write_text(f"#!{beside}/bin/python\nprint(1)\n")
    (beside / "bin" / "tool").chmod(0o755)
    (site / "tool-1.dist-info").mkdir()
    (site / "tool-1.dist-info" / "RECORD").write_text("../../../bin/tool,sha256=old,1\ntool.py,sha256=x,2\n")
    (beside / "bin" / "binary").write_bytes(b"\0" + os.fsencode(beside))
    assert relocate(beside, str(final)) >= 3
    assert (beside / "bin" / "tool").read_text().startswith(f"#!{final}/bin/python")
    assert os.access(beside / "bin" / "tool", os.X_OK)
    assert os.fsencode(beside) in (beside / "bin" / "binary").read_bytes()
    record = (site / "tool-1.dist-info" / "RECORD").read_text().splitlines()
    assert record[0].endswith(f",{(beside / 'bin' / 'tool').stat().st_size}")
    assert "sha256=old" not in record[0]
    assert record[1] == "tool.py,sha256=x,2"
    beside.rename(final)
    done = subprocess.run(
        [str(final / "bin" / "python"), "-c", "import sys; print(sys.prefix)"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip("\n") == str(final)
    for activate in (final / "bin").glob("activate*"):
        assert os.fsencode(beside) not in activate.read_bytes()


def test_the_floor_is_not_taken_from_under_our_own_feet() -> None:
    step = Step("switch", action=Switch(sys.prefix, "/new", "/old"), writes=(sys.prefix,))
    plan = Plan("python", (PlannedFix("environment", "broken-venv", "", (step,)),))
    with pytest.raises(NotStarted, match="run it from another one"):
        verify_target(plan)


def test_a_disk_that_is_too_small_is_told_before(tmp_path: Path) -> None:
    step = Step("install", ("/bin/true",), writes=(str(tmp_path),))
    plan = Plan("python", (PlannedFix("torch", "x", "", (step,)),), disk_needed_mb=2000.0, disk_free_mb=100.0)
    with pytest.raises(NotStarted, match="2000 MB of disk are needed and 100 MB are free"):
        verify_target(plan)


def test_commands_are_not_led_astray() -> None:
    environ = {"PIP_TARGET": "/x", "UV_TORCH_BACKEND": "cu121", "KEEP": "1", "KMP_X": "1"}
    found = environment_of(Step("s", ("/bin/true",), {"CONDA_SUBDIR": "osx-arm64"}), environ, ["KMP_X"])
    assert {"KEEP", "CONDA_SUBDIR", "SYSTEM_VERSION_COMPAT"} <= found.keys()
    assert not {"PIP_TARGET", "UV_TORCH_BACKEND", "KMP_X"} & found.keys()


HISTORY = """\
==> 2022-08-25 10:00:00 <==
# cmd: /opt/anaconda3/bin/conda create -n ml python=3.9 numpy
# conda version: 4.12.0
+defaults::numpy-1.21.5-py39_0
# update specs: ['python=3.9', 'numpy']
==> 2022-09-01 10:00:00 <==
# update specs: ['pandas[version=">=1"]', "scipy>=1.9,<2", "conda-forge::six=1.16.0=pyh6c4a22f_0", 'numpy=1.22']
==> 2023-01-01 10:00:00 <==
# remove specs: ['scipy']
# update specs: [__import__('os').system('touch /tmp/trap'), 'x']
# update specs: ['--channel=evil', 'a;b', 'torch vision']
"""


def test_conda_is_asked_for_what_the_user_asked_for() -> None:
    assert requested(HISTORY) == ("python=3.9", "pandas", "six=1.16.0", "numpy=1.22")


@given(st.text(max_size=60))
def test_no_history_is_too_strange(text: str) -> None:
    for spec in requested(f"# update specs: [{text!r}]\n# update specs: {text}\n"):
        assert spec[0].isalnum() or spec[0] == "_"
        assert not set(spec) & set(" ;&$`'\"\\/")
