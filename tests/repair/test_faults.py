"""Whatever goes wrong: never worse than before, and always undone or finished afterwards."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.conftest import RECORDINGS, ROOT
from tests.repair.conftest import Patient
from tests.repair.wheels import TORCH, UV, Index, fingerprint, run

MACOS_13 = RECORDINGS / "04-m1-macos13-old"
Make = Callable[..., Patient]

# Runs the command line with a journal that kills the process after its Nth entry is on the disk.
KILLED = textwrap.dedent(
    """
    import os, signal, sys
    from mpsdoctor.repair.journal import Journal
    left, write = int(sys.argv.pop(1)), Journal.write
    def killing(self, event, **values):
        global left
        write(self, event, **values)
        left -= 1
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)
    Journal.write = killing
    from mpsdoctor.cli import main
    main(sys.argv[1:])
    """
)


def mismatched(patient: Make, **options: object) -> Patient:
    mac = patient("torch==2.13.0", manager="uv", **options)
    run(UV, "pip", "install", "--python", str(mac.python), "--no-deps", "torchvision==0.27.1", env=mac.env)
    return mac


def killed_after(mac: Patient, entries: int, *command: str) -> int:
    argv = [sys.executable, "-c", KILLED, str(entries), *command]
    done = subprocess.run(argv, cwd=mac.project, env={**os.environ, **mac.env, "PYTHONPATH": str(ROOT)},
                          capture_output=True, timeout=120, check=False)  # fmt: skip
    return done.returncode


def break_base(mac: Patient) -> None:
    for name in ("python", "python3", "python3.11"):
        (mac.folder / "bin" / name).unlink(missing_ok=True)
    (mac.folder / "bin" / "python").symlink_to("/gone/python3.11/bin/python3.11")


@pytest.mark.parametrize("finish", [False, True])
@pytest.mark.parametrize("kind", ["packages", "environment"])
def test_killed_after_every_journal_entry(kind: str, finish: bool, patient: Make) -> None:
    """SIGKILL after each entry in turn; then either undone to the last bit, or finished by the next fix."""
    mac = mismatched(patient)
    if kind == "environment":
        break_base(mac)
    before = fingerprint(mac.project)
    entries, ended = 1, False
    while not ended:
        code = killed_after(mac, entries, "fix", "--python", str(mac.python), "--yes")
        ended = code == 0
        assert code in (0, -signal.SIGKILL)
        if finish:
            assert ended or mac.fix("--yes").code == 0
            assert mac.fix("--dry-run", "--format", "json").json["plan"]["fixes"] == []
        undone = mac.undo()
        assert undone.code == 0, undone.out + undone.err
        assert fingerprint(mac.project) == before, f"after entry {entries}"
        entries += 1
    # begin, saved, two for each step, proved, end
    steps = 1 if kind == "packages" else 5
    assert entries - 2 == 2 + 2 * steps + 2
    print(f"killed {entries - 2} times ({kind}, finish={finish}): all restored")


def test_an_interrupted_run_is_offered_to_be_finished_or_undone(patient: Make) -> None:
    mac = mismatched(patient)
    assert killed_after(mac, 3, "fix", "--python", str(mac.python), "--yes") == -signal.SIGKILL
    said = " ".join(mac.fix().out.split())
    assert "was interrupted" in said
    assert "mpsdoctor undo 20" in said
    assert "interrupted" in mac.doctor("undo", "--list").out


@pytest.mark.parametrize("entries", [3, 4])
def test_an_interrupted_run_is_finished_whether_its_step_was_done_or_not(entries: int, patient: Make) -> None:
    """Killed with its step done, nothing seems to be left to repair; it was never proved, and is done anew."""
    mac = mismatched(patient)
    before = fingerprint(mac.project)
    assert killed_after(mac, entries, "fix", "--python", str(mac.python), "--yes") == -signal.SIGKILL
    ran = mac.fix("--yes", "--format", "json")
    assert ran.code == 0, ran.out + ran.err
    assert "was interrupted: taking it back, then doing the repair anew" in ran.err
    assert ran.json["applied"]["outcome"] == "fixed"
    assert [fix["fix"] for fix in ran.json["plan"]["fixes"]] == ["companions"]
    listed = mac.doctor("undo", "--list").out.splitlines()
    assert [line.split()[1] for line in listed] == ["fixed", "undone"]
    assert mac.undo().code == 0
    assert fingerprint(mac.project) == before


@pytest.mark.parametrize("kind", ["packages", "environment"])
def test_an_undo_that_is_killed_is_done_again(kind: str, patient: Make) -> None:
    mac = mismatched(patient)
    if kind == "environment":
        break_base(mac)
    before = fingerprint(mac.project)
    assert mac.fix("--yes").code == 0
    assert killed_after(mac, 1, "undo", "--yes") == -signal.SIGKILL
    assert mac.undo().code == 0
    assert fingerprint(mac.project) == before


def test_the_lock_outlives_us_while_a_command_works(patient: Make, index: Index) -> None:
    """Killed in the middle of uv: until uv has ended, nobody may touch the environment."""
    mac = mismatched(patient)
    before = fingerprint(mac.project)
    index.delay = 4.0
    argv = [sys.executable, "-m", "mpsdoctor", "fix", "--python", str(mac.python), "--yes"]
    process = subprocess.Popen(argv, cwd=mac.project, env={**os.environ, **mac.env}, stderr=subprocess.PIPE)
    assert process.stderr is not None
    while b"step 1" not in process.stderr.readline():
        pass
    time.sleep(0.5)
    process.kill()
    process.wait()
    process.stderr.close()
    refused = mac.undo()
    assert refused.code == 1
    assert "is at work" in refused.err
    deadline = time.monotonic() + 60
    index.delay = 0.0
    while mac.undo().code != 0:
        assert time.monotonic() < deadline
        time.sleep(0.5)
    assert fingerprint(mac.project) == before


def test_two_fixes_at_once(patient: Make, index: Index) -> None:
    mac = mismatched(patient)
    index.delay = 1.5
    argv = [sys.executable, "-m", "mpsdoctor", "fix", "--python", str(mac.python), "--yes"]
    both = [
        subprocess.Popen(
            argv, cwd=mac.project, env={**os.environ, **mac.env}, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        for _ in range(2)
    ]
    said = [process.communicate(timeout=120) for process in both]
    codes = sorted(process.returncode for process in both)
    assert codes == [0, 1]
    assert any(b"at work on this environment" in err or b"in use" in err for _, err in said)
    assert mac.fix("--dry-run", "--format", "json").json["plan"]["fixes"] == []


def test_the_index_vanishes_in_the_middle_of_a_download(patient: Make, index: Index) -> None:
    for manager in ("uv", "pip"):
        mac = patient("torch==2.13.0", manager=manager, name=f"env-{manager}", mac=MACOS_13)
        before = fingerprint(mac.project)
        index.broken = True
        ran = mac.fix("--yes", "--format", "json")
        index.broken = False
        assert ran.code == 4
        assert ran.json["applied"]["outcome"] == "undone"
        assert ran.json["applied"]["why"]
        assert fingerprint(mac.project) == before
        assert mac.fix("--yes").code == 0  # and when it is back, all is well


def test_control_c_puts_everything_back(patient: Make, index: Index) -> None:
    mac = mismatched(patient)
    before = fingerprint(mac.project)
    index.delay = 5.0
    argv = [sys.executable, "-m", "mpsdoctor", "fix", "--python", str(mac.python), "--yes"]
    process = subprocess.Popen(
        argv, cwd=mac.project, env={**os.environ, **mac.env}, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert process.stderr is not None
    while b"step 1" not in process.stderr.readline():
        pass
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=20)
    index.delay = 0.0
    assert process.returncode == 130
    assert b"put back" in out
    assert fingerprint(mac.project) == before


def test_an_environment_in_use_is_left_alone(patient: Make) -> None:
    mac = mismatched(patient)
    before = fingerprint(mac.project)
    user = subprocess.Popen(
        [str(mac.python), "-c", "import time; print('up', flush=True); time.sleep(60)"], stdout=subprocess.PIPE
    )
    try:
        assert user.stdout is not None
        user.stdout.readline()
        ran = mac.fix("--yes")
    finally:
        user.kill()
        user.communicate()
    assert ran.code == 1
    assert f"in use by {user.pid}" in ran.err
    assert fingerprint(mac.project) == before


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Callable[[str, str], Path]]:
    """Mount small file systems; needs the right to (CI containers and this project's have it)."""
    mounted: list[Path] = []

    def mount(name: str, options: str) -> Path:
        folder = tmp_path / name
        folder.mkdir(parents=True, exist_ok=True)
        subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(folder)], check=True)
        mounted.append(folder)
        return folder

    yield mount
    for folder in mounted:
        subprocess.run(["umount", "-l", str(folder)], check=False)


def test_no_space_for_the_new_packages(patient: Make, index: Index, small_disk: Callable[[str, str], Path]) -> None:
    """The installer fills the disk: what it left is removed, and what was there is there."""
    big = {f"torch/part{n}.bin": os.urandom(1 << 19).hex() for n in range(12)}
    index.add("torch", "2.8.0", files={"torch/__init__.py": TORCH.format(version="2.8.0"), **big})
    project = small_disk("project", "size=8m")
    mac = patient("torch==2.13.0", manager="uv", mac=MACOS_13)
    before = fingerprint(project)
    ran = mac.fix("--yes", "--format", "json")
    assert ran.code == 4, ran.out + ran.err
    assert ran.json["applied"]["outcome"] == "undone"
    assert fingerprint(project) == before


def test_a_full_state_folder(patient: Make, tmp_path: Path) -> None:
    """Full at any point, from the first file on: then nothing is changed, or everything is put back."""
    mac = mismatched(patient)
    before = fingerprint(mac.project)
    state = mac.home / "state"
    state.mkdir()
    full = 0
    for kilobytes in range(4, 1000, 12):
        subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={kilobytes}k", "tmpfs", str(state)], check=True)
        try:
            ran = mac.fix("--yes")
            if ran.code == 0:
                assert mac.undo().code == 0
        finally:
            subprocess.run(["umount", "-l", str(state)], check=True)
        assert fingerprint(mac.project) == before, f"with {kilobytes} kB"
        if ran.code == 0:
            break
        assert ran.code in (1, 4), ran.out + ran.err
        assert "nothing was changed" in ran.err or "put back" in ran.out
        full += 1
    assert full >= 5
    print(f"{full} of {full} full state folders left the environment as it was")


@pytest.mark.parametrize("kind", ["a file", "read-only"])
def test_a_state_folder_that_cannot_be_written(kind: str, patient: Make) -> None:
    mac = mismatched(patient)
    before, state = fingerprint(mac.project), mac.home / "state"
    if kind == "a file":
        state.write_text("mine")
    else:
        state.mkdir()
        subprocess.run(["mount", "-t", "tmpfs", "-o", "ro", "tmpfs", str(state)], check=True)
    try:
        ran = mac.fix("--yes")
    finally:
        if kind == "read-only":
            subprocess.run(["umount", "-l", str(state)], check=True)
    assert ran.code == 1, ran.err
    assert "the folder that repairs are kept in cannot be written" in ran.err
    assert "nothing was changed" in ran.err
    assert fingerprint(mac.project) == before


def test_a_read_only_environment(patient: Make) -> None:
    mac = mismatched(patient)
    before = fingerprint(mac.project)
    subprocess.run(["mount", "--bind", str(mac.project), str(mac.project)], check=True)
    try:
        subprocess.run(["mount", "-o", "remount,ro,bind", str(mac.project)], check=True)
        ran = mac.fix("--yes")
    finally:
        subprocess.run(["umount", "-l", str(mac.project)], check=True)
    assert ran.code == 1
    assert "cannot be written; nothing was changed" in ran.err
    assert fingerprint(mac.project) == before


def test_a_kept_copy_that_is_damaged_is_told_and_not_put_back(patient: Make) -> None:
    mac = mismatched(patient)
    assert mac.fix("--yes").code == 0
    after = fingerprint(mac.project)
    saved = next((mac.home / "state").rglob("saved/*/lib/python3*/site-packages/torchvision/__init__.py"))
    saved.write_text("damaged")
    undone = mac.undo()
    assert undone.code == 4
    assert "damaged" in undone.err
    kept = next(mac.folder.glob("lib/python3*/site-packages/torchvision/__init__.py"))
    assert str(kept) not in after or "damaged" not in kept.read_text()
