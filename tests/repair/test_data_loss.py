"""Taking a run back loses no work, whatever the user did since and whatever goes wrong, and no half passes as done."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import textwrap
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from mpsdoctor.repair import snapshot
from mpsdoctor.repair.actions import WriteText, digest
from mpsdoctor.repair.plan import Plan, PlannedFix, Step
from mpsdoctor.repair.restore import restore
from mpsdoctor.repair.store import INTERRUPTED, UNDONE, NoState, Run, Store
from mpsdoctor.repair.undo import CannotUndo, forget, undo
from mpsdoctor.repair.verify import NotStarted, verify_target
from tests.conftest import ROOT
from tests.repair.test_later import apply, environment, package, shell, switched, take_back
from tests.repair.wheels import fingerprint

as_administrator = pytest.mark.skipif(os.geteuid() != 0, reason="needs the right to mount and to change owners")
EDIT = 'echo run > "$1/marker"; echo run > "$1/made"'


def the_run(base: Path) -> Run:
    return Store(base / "state").runs()[0]


def taken_back(base: Path) -> None:
    undo(the_run(base), Store(base / "state"))


def test_an_environment_behind_a_link_is_kept_and_comes_back(tmp_path: Path) -> None:
    real = environment(tmp_path, "real", "before\n")
    (tmp_path / "env").symlink_to("real")
    before = fingerprint(tmp_path / "env", real)
    run = apply(tmp_path, shell(EDIT, tmp_path / "env")).run
    assert (real / "marker").read_text() == "run\n"
    take_back(tmp_path, run)
    assert fingerprint(tmp_path / "env", real) == before


def test_a_profile_behind_a_link_is_kept_and_comes_back(tmp_path: Path) -> None:
    real = tmp_path / "dotfiles"
    real.write_text("export A=1\n")
    (tmp_path / ".zshrc").symlink_to(real)
    before = fingerprint(tmp_path / ".zshrc", real)
    action = WriteText(str(tmp_path / ".zshrc"), "nothing\n", digest(b"export A=1\n"))
    run = apply(tmp_path, Step("write", action=action, writes=(action.path,))).run
    assert real.read_text() == "nothing\n"
    take_back(tmp_path, run)
    assert fingerprint(tmp_path / ".zshrc", real) == before


def test_an_environment_behind_a_link_is_replaced_by_its_link_alone(tmp_path: Path) -> None:
    real = environment(tmp_path, "real", "before\n")
    (tmp_path / "env").symlink_to("real")
    before = fingerprint(tmp_path / "env", real)
    run = apply(tmp_path, *switched(tmp_path, "old")).run
    assert (tmp_path / "env" / "marker").read_text() == "new\n"
    take_back(tmp_path, run)
    assert fingerprint(tmp_path / "env", real) == before


@pytest.mark.parametrize("moved", [True, False])
def test_an_environment_that_was_moved_or_deleted_does_not_rise_again_in_part(moved: bool, tmp_path: Path) -> None:
    env = environment(tmp_path, "env", "before\n")
    apply(tmp_path, shell(EDIT, env))
    if moved:
        env.rename(tmp_path / "elsewhere")
    else:
        shutil.rmtree(env)
    with pytest.raises(CannotUndo, match="is not there any more: it was moved or deleted"):
        taken_back(tmp_path)
    assert not env.exists()
    assert the_run(tmp_path).outcome != UNDONE
    if moved:
        (tmp_path / "elsewhere").rename(env)
        taken_back(tmp_path)
        assert (env / "marker").read_text() == "before\n"


def test_a_switched_environment_whose_halves_are_both_gone_is_told(tmp_path: Path) -> None:
    environment(tmp_path, "env", "before\n")
    apply(tmp_path, *switched(tmp_path, "old"))
    shutil.rmtree(tmp_path / "env")
    shutil.rmtree(tmp_path / "old")
    with pytest.raises(CannotUndo, match="both were moved or deleted"):
        taken_back(tmp_path)


def test_another_environment_of_the_same_name_is_left_alone(tmp_path: Path) -> None:
    env = environment(tmp_path, "env", "before\n")
    (env / "pyvenv.cfg").write_text("home = /old\n")
    apply(tmp_path, shell(EDIT, env))
    env.rename(tmp_path / "thrown away")  # stays, so that its number is not given again
    (environment(tmp_path, "env", "another\n") / "pyvenv.cfg").write_text("home = /another/one\n")
    before = fingerprint(env)
    with pytest.raises(CannotUndo, match="another environment stands at"):
        taken_back(tmp_path)
    assert fingerprint(env) == before


def test_an_interrupted_run_on_an_environment_that_was_made_anew_can_be_let_go(tmp_path: Path) -> None:
    env = environment(tmp_path, "env", "before\n")
    (env / "pyvenv.cfg").write_text("home = /old\n")
    apply(tmp_path, shell(EDIT, env))
    run, store = interrupted(tmp_path, 1000.0), Store(tmp_path / "state")
    with pytest.raises(CannotUndo, match="must be taken back or finished first"):
        forget(run, store)
    env.rename(tmp_path / "thrown away")
    (environment(tmp_path, "env", "another\n") / "pyvenv.cfg").write_text("home = /another/one\n")
    before = fingerprint(env)
    with pytest.raises(CannotUndo, match="another environment stands at"):
        taken_back(tmp_path)
    forget(run, store)
    assert store.runs() == []
    assert fingerprint(env) == before


def test_an_environment_that_came_back_from_a_backup_is_the_same(tmp_path: Path) -> None:
    env = environment(tmp_path, "env", "before\n")
    (env / "pyvenv.cfg").write_text("home = /old\n")
    apply(tmp_path, shell(EDIT, env))
    env.rename(tmp_path / "backup")
    shutil.copytree(tmp_path / "backup", env, symlinks=True)
    taken_back(tmp_path)
    assert (env / "marker").read_text() == "before\n"


def test_a_run_of_a_newer_version_is_not_guessed_at(tmp_path: Path) -> None:
    env = environment(tmp_path, "env", "before\n")
    apply(tmp_path, shell(EDIT, env))
    run = the_run(tmp_path)
    run.save("about.json", {**run.about, "format": 2, "mpsdoctor": "9.1"})
    with pytest.raises(CannotUndo, match=r"mpsdoctor 9\.1 made the run"):
        taken_back(tmp_path)
    assert (env / "marker").read_text() == "run\n"


@pytest.mark.parametrize(
    "record", [[{"kind": "holographic", "path": "/x"}], [{"path": "/x"}], ["x"], [{"kind": "file"}]]
)
def test_a_record_that_is_damaged_is_told_with_where_the_copies_lie(record: object, tmp_path: Path) -> None:
    env = environment(tmp_path, "env", "before\n")
    apply(tmp_path, shell(EDIT, env))
    the_run(tmp_path).save("saved.json", record)
    with pytest.raises(CannotUndo, match=r"is damaged; its copies lie in .*saved"):
        taken_back(tmp_path)
    assert (env / "marker").read_text() == "run\n"


def edited(base: Path, text: str) -> Step:
    """A step that stands for somebody who writes into the file while the run is at work."""
    return Step("somebody writes", ("/bin/sh", "-c", f'printf %s {text} > "$1"', "sh", str(base / "requirements.txt")))


def rewrite(base: Path) -> Step:
    action = WriteText(str(base / "requirements.txt"), "of the run", digest(b"before"))
    return Step("write", action=action, writes=(action.path,))


@pytest.mark.parametrize("when", ["before its step", "after its step"])
def test_what_is_written_while_a_run_fails_is_not_lost(when: str, tmp_path: Path) -> None:
    env, file = environment(tmp_path, "env", "before\n"), tmp_path / "requirements.txt"
    file.write_text("before")
    writes = [edited(tmp_path, "mine"), rewrite(tmp_path)]
    steps = [shell(EDIT, env), *(writes if when == "before its step" else writes[::-1]), shell("false")]
    failed = apply(tmp_path, *steps)
    assert (failed.outcome, failed.not_restored) == (UNDONE, ())
    assert (env / "marker").read_text() == "before\n"
    if when == "before its step":
        assert "has changed since the plan was made" in failed.why
        assert file.read_text() == "mine"
        assert len(list(tmp_path.iterdir())) == 3
    else:
        assert file.read_text() == "before"
        assert (tmp_path / f"requirements.txt.{failed.run}").read_text() == "mine"
        assert f"kept in {tmp_path / 'requirements.txt'}.{failed.run}" in failed.why


def test_what_an_interrupted_run_had_not_come_to_is_not_put_back(tmp_path: Path) -> None:
    env, file = environment(tmp_path, "env", "before\n"), tmp_path / "requirements.txt"
    file.write_text("before")
    apply(tmp_path, shell(EDIT, env), rewrite(tmp_path))
    run = interrupted(tmp_path, 1.0)
    journal = run.folder / "journal.jsonl"
    journal.write_text("".join(line for line in journal.read_text().splitlines(True) if "requirements" not in line))
    file.write_text("mine, a minute after the power was gone")
    take_back(tmp_path, run.id)
    assert (env / "marker").read_text() == "before\n"
    assert file.read_text() == "mine, a minute after the power was gone"


def test_a_journal_that_tells_nothing_leaves_nothing_out(tmp_path: Path) -> None:
    env = environment(tmp_path, "env", "before\n")
    run = apply(tmp_path, shell(EDIT, env)).run
    (the_run(tmp_path).folder / "journal.jsonl").write_text("damaged\n")
    take_back(tmp_path, run)
    assert (env / "marker").read_text() == "before\n"


def test_a_run_is_taken_back_once(tmp_path: Path) -> None:
    env = environment(tmp_path, "env", "before\n")
    run = apply(tmp_path, shell(EDIT, env)).run
    take_back(tmp_path, run)
    (env / "marker").write_text("my work\n")
    with pytest.raises(CannotUndo, match="was taken back already"):
        taken_back(tmp_path)
    assert (env / "marker").read_text() == "my work\n"


def test_a_file_that_changes_while_it_is_copied_stops_it_before_the_first_change(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    env = environment(tmp_path, "env", "before\n")

    def copy(source: Path, target: Path) -> None:
        shutil.copyfile(source, target)
        source.write_text("changed by somebody\n")

    monkeypatch.setattr(snapshot, "copy_file", copy)
    with pytest.raises(NotStarted, match=r"marker: it is being changed by another program.*nothing was changed"):
        apply(tmp_path, shell(EDIT, env))
    assert not (env / "made").exists()
    assert Store(tmp_path / "state").runs() == []


def interrupted(base: Path, before_now: float) -> Run:
    """Make the last run one that was killed `before_now` seconds ago: no proof, no end, no record of what it left."""
    run = the_run(base)
    entries = [e for e in run.journal.entries() if e["event"] not in ("proved", "end")]
    last = time.time() - before_now
    (run.folder / "journal.jsonl").write_text("".join(json.dumps({**e, "time": last}) + "\n" for e in entries))
    (run.folder / "left.json").unlink()
    assert run.outcome == INTERRUPTED
    return run


def test_what_was_made_long_after_an_interrupted_run_stays(tmp_path: Path) -> None:
    env = environment(tmp_path, "env", "before\n")
    package(env, "numpy", "1.0")
    apply(tmp_path, shell(EDIT + '; mkdir "$1/pack"; echo run > "$1/pack/file"', env))
    time.sleep(0.1)
    run = interrupted(tmp_path, 900.05)
    (env / "notes.ipynb").write_text("my work")
    (env / "marker").write_text("my work on a file of the run\n")
    (env / "pack" / "__pycache__").mkdir()
    package(env, "requests", "2.0")
    kept = take_back(tmp_path, run.id)
    assert (env / "marker").read_text() == "before\n"
    assert not (env / "made").exists()
    assert not (env / "pack").exists()
    assert (env / "notes.ipynb").read_text() == "my work"
    assert (env / "requests.py").exists()
    copy = tmp_path / f"env.{run.id}" / "marker"
    assert copy.read_text() == "my work on a file of the run\n"
    assert str(copy) in kept


def test_an_interrupted_run_is_taken_back_whole_at_once(tmp_path: Path) -> None:
    env = environment(tmp_path, "env", "before\n")
    before = fingerprint(env)
    apply(tmp_path, shell(EDIT, env))
    run = interrupted(tmp_path, 1.0)
    assert take_back(tmp_path, run.id) == ()
    assert fingerprint(env) == before


def test_a_folder_with_work_in_the_place_of_a_file_goes_aside(tmp_path: Path) -> None:
    env = environment(tmp_path, "env", "before\n")
    run = apply(tmp_path, shell(EDIT, env)).run
    (env / "marker").unlink()
    (env / "marker").mkdir()
    (env / "marker" / "thesis").write_text("years of work")
    take_back(tmp_path, run)
    assert (env / "marker").read_text() == "before\n"
    assert (tmp_path / f"env.{run}" / "marker" / "thesis").read_text() == "years of work"


def test_a_link_that_the_user_made_of_a_file_of_the_run_is_kept(tmp_path: Path) -> None:
    env = environment(tmp_path, "env", "before\n")
    run = apply(tmp_path, shell(EDIT, env)).run
    (env / "marker").unlink()
    (env / "marker").symlink_to("/somewhere/of/mine")
    take_back(tmp_path, run)
    assert (env / "marker").read_text() == "before\n"
    assert os.readlink(tmp_path / f"env.{run}" / "marker") == "/somewhere/of/mine"


def test_an_environment_in_use_is_not_taken_back(tmp_path: Path) -> None:
    env = tmp_path / "env"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", "--copies", str(env)], check=True)
    (env / "marker").write_text("before\n")
    apply(tmp_path, shell(EDIT, env))
    python = str(env / "bin" / "python")
    user = subprocess.Popen(
        [python, "-c", "print('up', flush=True); input()"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    try:
        assert user.stdout is not None
        user.stdout.readline()
        with pytest.raises(CannotUndo, match=f"in use by {user.pid}"):
            taken_back(tmp_path)
    finally:
        user.communicate(b"\n")
    assert (env / "marker").read_text() == "run\n"
    taken_back(tmp_path)
    assert (env / "marker").read_text() == "before\n"


@as_administrator
def test_the_administrator_leaves_the_users_environment_to_the_user(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    env = environment(tmp_path, "env", "before\n")
    apply(tmp_path, shell(EDIT, env))
    os.chown(env, 65534, 65534)
    monkeypatch.setenv("SUDO_UID", "65534")
    plan = Plan("python", (PlannedFix("torch", "x", "", (shell(EDIT, env),)),))
    with pytest.raises(NotStarted, match="without sudo; nothing was changed"):
        verify_target(plan)
    with pytest.raises(CannotUndo, match="without sudo; nothing was changed"):
        taken_back(tmp_path)
    assert (env / "marker").read_text() == "run\n"


@as_administrator
def test_another_user_changes_nothing_and_takes_nothing_back() -> None:
    base = Path(tempfile.mkdtemp())
    try:
        base.chmod(0o755)
        env = environment(base, "env", "before\n")
        apply(base, shell(EDIT, env))
        subprocess.run(["chmod", "-R", "a+rX", str(base / "state")], check=True)
        plan = Plan("python", (PlannedFix("torch", "x", "", (shell(EDIT, env),)),))
        os.seteuid(65534)
        with pytest.raises(NotStarted, match="env cannot be written; nothing was changed"):
            verify_target(plan)
        with pytest.raises(NoState, match="nothing was changed"):
            taken_back(base)
    finally:
        os.seteuid(0)
        text = (base / "env" / "marker").read_text()
        shutil.rmtree(base)
    assert text == "run\n"


def test_folders_that_are_not_to_be_written_come_back_as_they_were() -> None:
    """As an ordinary user: the superuser may write everywhere, and would see no fault."""
    base = Path(tempfile.mkdtemp())
    who = os.geteuid()
    try:
        if who == 0:
            os.chown(base, 65534, 65534)
            os.seteuid(65534)
        tree = base / "tree"
        (tree / "closed" / "inner").mkdir(parents=True)
        (tree / "closed" / "file").write_text("before")
        (tree / "closed" / "inner" / "deep").write_text("before")
        for folder in ("closed/inner", "closed"):
            (tree / folder).chmod(0o555)
        was = fingerprint(tree)
        roots = snapshot.save([str(tree)], {}, base / "kept")
        for folder in ("closed", "closed/inner"):
            (tree / folder).chmod(0o755)
        shutil.rmtree(tree / "closed" / "inner")
        (tree / "closed" / "file").write_text("after")
        (tree / "closed" / "new" / "inner").mkdir(parents=True)
        (tree / "closed" / "new" / "inner" / "x").write_text("x")
        for folder in ("closed/new/inner", "closed/new", "closed"):
            (tree / folder).chmod(0o555)
        assert restore(roots, base / "kept") == []
        assert fingerprint(tree) == was
    finally:
        os.seteuid(who)
        subprocess.run(["chmod", "-R", "u+rwX", str(base)], check=True)
        shutil.rmtree(base)


# Takes the last run back, and dies at the Nth change of a file or folder.
DIES = textwrap.dedent(
    """
    import os, signal, sys
    from pathlib import Path
    left, base = int(sys.argv[1]), Path(sys.argv[2])
    CHANGES = {"os.rename", "os.remove", "os.rmdir", "os.mkdir", "os.chmod", "os.utime", "os.symlink", "shutil.rmtree"}
    def hook(event, arguments):
        global left
        writes = event == "open" and isinstance(arguments[2], int) and arguments[2] & (os.O_WRONLY | os.O_RDWR)
        if event in CHANGES or writes:
            left -= 1
            if left == 0:
                os.kill(os.getpid(), signal.SIGKILL)
    from mpsdoctor.repair.store import Store
    from mpsdoctor.repair.undo import undo
    store = Store(base / "state")
    sys.addaudithook(hook)
    assert undo(store.runs()[0], store).not_restored == ()
    """
)


def dies_at(base: Path, change: int) -> int:
    argv = [sys.executable, "-c", DIES, str(change), str(base)]
    return subprocess.run(argv, env={**os.environ, "PYTHONPATH": str(ROOT)}, check=False).returncode


@pytest.mark.parametrize("kind", ["files", "environment"])
def test_an_undo_that_is_killed_at_any_change_of_a_file_is_finished_by_the_next(kind: str, tmp_path: Path) -> None:
    killed, change = 0, 1
    while True:
        base = tmp_path / str(change)
        base.mkdir()
        env = environment(base, "env", "before\n")
        for number in range(4):
            (env / f"file{number}").write_text("before")
        (env / "link").symlink_to("file0")
        profile = base / "profile"
        profile.write_text("before\n")
        before = fingerprint(env, profile)
        edit = 'for n in 0 1 2; do echo run > "$1/file$n"; done; rm "$1/link"; mkdir "$1/new"; echo x > "$1/new/x"; '
        steps = [shell(edit + EDIT, env)] if kind == "files" else [*switched(base, "old")]
        apply(base, *steps, shell('echo run > "$1"', profile))
        code = dies_at(base, change)
        if code == 0:
            break
        assert code == -signal.SIGKILL
        killed += 1
        assert take_back(base, the_run(base).id) == ()
        assert fingerprint(env, profile) == before, f"killed at change {change}"
        assert sorted(path.name for path in base.iterdir()) == ["env", "profile", "state"]
        change += 1
    assert killed >= 8
    print(f"undo killed at {killed} of {killed} changes of files ({kind}): all restored")


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Callable[[int], Path]]:
    folder = tmp_path / "disk"
    folder.mkdir()

    def mount(kilobytes: int) -> Path:
        subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={kilobytes}k", "tmpfs", str(folder)], check=True)
        return folder

    yield mount
    subprocess.run(["umount", "-l", str(folder)], check=False)


@as_administrator
def test_a_disk_that_is_full_while_a_run_is_taken_back(small_disk: Callable[[int], Path]) -> None:
    disk = small_disk(4000)
    base = disk.parent
    env = environment(disk, "env", "before\n")
    for number in range(4):
        (env / f"file{number}").write_bytes(os.urandom(400_000))
    before = fingerprint(env)
    apply(base, shell('rm "$1"/file*; echo run > "$1/marker"', env))
    (disk / "films").write_bytes(bytes(3_000_000))
    store = Store(base / "state")
    undone = undo(the_run(base), store)
    assert undone.not_restored
    assert "No space left on device" in undone.not_restored[0]
    assert the_run(base).outcome != UNDONE
    (disk / "films").unlink()
    take_back(base, the_run(base).id)
    assert fingerprint(env) == before


@as_administrator
def test_a_folder_that_cannot_be_written_is_told_before_anything_is_changed(small_disk: Callable[[int], Path]) -> None:
    disk = small_disk(4000)
    base = disk.parent
    env, profile = environment(disk, "env", "before\n"), base / "profile"
    profile.write_text("before\n")
    apply(base, shell(EDIT, env), shell('echo run > "$1"', profile))
    subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
    with pytest.raises(CannotUndo, match="cannot be written; nothing was changed"):
        taken_back(base)
    assert profile.read_text() == "run\n"
    subprocess.run(["mount", "-o", "remount,rw", str(disk)], check=True)
    taken_back(base)
    assert (profile.read_text(), (env / "marker").read_text()) == ("before\n", "before\n")
