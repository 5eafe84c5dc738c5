"""What somebody made after a repair outlives undo; what an earlier run put aside is no other run's."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

import pytest

from mpsdoctor.facts import Facts
from mpsdoctor.registry import load_registry
from mpsdoctor.repair.actions import Switch
from mpsdoctor.repair.apply import Applied, Applier
from mpsdoctor.repair.plan import Plan, PlannedFix, Step
from mpsdoctor.repair.proof import Examination
from mpsdoctor.repair.store import UNDONE, Store
from mpsdoctor.repair.undo import CannotUndo, undo
from mpsdoctor.repair.verify import NotStarted, verify_target
from mpsdoctor.report.model import make_report
from mpsdoctor.report.source import Source
from tests.repair.wheels import fingerprint


def apply(base: Path, *steps: Step) -> Applied:
    plan = Plan(str(base / "env" / "bin" / "python"), (PlannedFix("environment", "broken-venv", "", steps),))
    before = make_report(Facts(), Source("live", "x"), load_registry())
    return Applier(plan, before, Examination(os.environ), Store(base / "state")).apply()


def take_back(base: Path, run: str) -> tuple[str, ...]:
    store = Store(base / "state")
    chosen = store.get(run)
    assert chosen is not None
    undone = undo(chosen, store)
    assert undone.not_restored == ()
    assert chosen.outcome == UNDONE
    return undone.kept


def shell(command: str, *writes: Path) -> Step:
    return Step("change", ("/bin/sh", "-c", command, "sh", *map(str, writes)), writes=tuple(map(str, writes)))


def switched(base: Path, aside: str) -> tuple[Step, Step]:
    new, env, old = base / "new", base / "env", base / aside
    return (
        shell('mkdir "$1" && echo new > "$1/marker"', new),
        Step("switch", action=Switch(str(env), str(new), str(old)), writes=(str(env), str(new), str(old))),
    )


def environment(base: Path, name: str, text: str) -> Path:
    (base / name).mkdir()
    (base / name / "marker").write_text(text)
    return base / name


@pytest.mark.parametrize("fails_at", [0, 1, 2])
def test_a_failed_second_repair_leaves_the_working_environment(fails_at: int, tmp_path: Path) -> None:
    env = environment(tmp_path, "env", "works\n")
    first = environment(tmp_path, "old", "broken, put aside by an earlier run\n")
    before = fingerprint(env, first)
    steps = list(switched(tmp_path, "old2"))
    steps.insert(fails_at, shell("false"))
    failed = apply(tmp_path, *steps)
    assert (failed.outcome, failed.not_restored) == (UNDONE, ())
    assert fingerprint(env, first) == before
    assert not (tmp_path / "old2").exists()
    assert not (tmp_path / "new").exists()


def test_a_name_that_is_taken_stops_it_before_the_first_change(tmp_path: Path) -> None:
    env, first = environment(tmp_path, "env", "works\n"), environment(tmp_path, "old", "broken\n")
    before = fingerprint(env, first)
    with pytest.raises(NotStarted, match="is there already"):
        apply(tmp_path, *switched(tmp_path, "old"))
    assert fingerprint(env, first) == before
    assert list((tmp_path / "state").rglob("journal.jsonl")) == []


def test_an_environment_inside_the_replaced_one_is_the_one_we_stand_on(tmp_path: Path) -> None:
    inner = os.path.realpath(sys.prefix)
    step = Step("switch", action=Switch(str(Path(inner).parent), "/new", "/old"), writes=())
    with pytest.raises(NotStarted, match="one made for mpsdoctor alone"):
        verify_target(Plan("python", (PlannedFix("environment", "broken-venv", "", (step,)),)))


def test_a_new_environment_that_was_worked_in_goes_aside(tmp_path: Path) -> None:
    environment(tmp_path, "env", "old\n")
    run = apply(tmp_path, *switched(tmp_path, "old")).run
    (tmp_path / "env" / "notes.txt").write_text("my work")
    assert take_back(tmp_path, run) == (str(tmp_path / f"env.{run}"),)
    assert (tmp_path / "env" / "marker").read_text() == "old\n"
    assert (tmp_path / f"env.{run}" / "notes.txt").read_text() == "my work"


def test_an_environment_that_nobody_touched_since_leaves_nothing_behind(tmp_path: Path) -> None:
    environment(tmp_path, "env", "old\n")
    run = apply(tmp_path, *switched(tmp_path, "old")).run
    cache = tmp_path / "env" / "__pycache__"
    cache.mkdir()
    (cache / "x.pyc").write_bytes(b"compiled by the next run")
    assert take_back(tmp_path, run) == ()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["env", "state"]


def test_undo_does_not_say_done_where_the_old_environment_is_gone(tmp_path: Path) -> None:
    environment(tmp_path, "env", "old\n")
    run = apply(tmp_path, *switched(tmp_path, "old")).run
    shutil.rmtree(tmp_path / "old")
    store = Store(tmp_path / "state")
    undone = undo(store.runs()[0], store)
    assert undone.not_restored == (str(tmp_path / "env"),)
    assert (tmp_path / "env" / "marker").read_text() == "new\n"
    assert store.runs()[0].outcome != UNDONE
    assert store.runs()[0].id == run


def test_what_was_made_later_in_a_new_folder_stays(tmp_path: Path) -> None:
    root = tmp_path / "miniforge3"
    run = apply(tmp_path, shell('mkdir -p "$1/envs/torch/lib" && echo x > "$1/envs/torch/lib/a"', root)).run
    thesis = root / "envs" / "mine" / "thesis.ipynb"
    thesis.parent.mkdir()
    thesis.write_text("years of work")
    assert take_back(tmp_path, run) == (str(thesis.parent),)
    assert thesis.read_text() == "years of work"
    assert [path.name for path in (root / "envs").iterdir()] == ["mine"]


def test_other_environments_of_condas_base_are_not_touched(tmp_path: Path) -> None:
    root = tmp_path / "miniforge3"
    for folder in ("conda-meta", "lib", "envs/other", "pkgs/cached"):
        (root / folder).mkdir(parents=True)
    (root / "envs" / "other" / "notes").write_text("before")
    run = apply(tmp_path, shell('echo x > "$1/lib/new"; echo x > "$1/pkgs/got"', root)).run
    (root / "envs" / "other" / "notes").write_text("after")
    saved = Store(tmp_path / "state").runs()[0].load("saved.json")
    assert not [name for name in saved[0]["entries"] if name.startswith(("envs", "pkgs"))]
    assert take_back(tmp_path, run) == ()
    assert (root / "envs" / "other" / "notes").read_text() == "after"
    assert not (root / "lib" / "new").exists()


def test_what_the_run_did_not_touch_stays_as_it_is_now(tmp_path: Path) -> None:
    root = environment(tmp_path, "folder", "marker\n")
    for name in ("untouched", "removed", "both"):
        (root / name).write_text("before")
    run = apply(
        tmp_path, shell('echo run > "$1/both"; echo run > "$1/made"; echo run > "$1/made-and-edited"', root)
    ).run
    (root / "untouched").write_text("edited since")
    (root / "removed").unlink()
    (root / "both").write_text("edited since, too")
    (root / "made-and-edited").write_text("edited since")
    kept = take_back(tmp_path, run)
    copy = tmp_path / f"folder.{run}" / "both"
    assert sorted(kept) == sorted(map(str, (copy, root / "made-and-edited", root / "untouched")))
    assert {path.name: path.read_text() for path in root.iterdir()} == {
        "marker": "marker\n",
        "untouched": "edited since",
        "both": "before",
        "made-and-edited": "edited since",
    }
    assert copy.read_text() == "edited since, too"


def package(site: Path, name: str, version: str) -> None:
    for old in site.glob(f"{name}-*.dist-info"):
        shutil.rmtree(old)
    info = site / f"{name}-{version}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Name: {name}\nVersion: {version}\n")
    (site / f"{name}.py").write_text(f"version = {version!r}\n")
    (site / f"{name}_{version}.so").write_text("compiled")
    files = (f"{name}.py", f"{name}_{version}.so", f"{info.name}/METADATA", f"{info.name}/RECORD")
    (info / "RECORD").write_text("".join(f"{file},,\n" for file in files))


def test_a_package_is_back_once_and_whole_after_a_later_installation(tmp_path: Path) -> None:
    site = tmp_path / "site"
    site.mkdir()
    package(site, "torch", "2.11.0")
    package(site, "numpy", "1.26.4")
    before = {path.name for path in site.iterdir() if path.name.startswith("torch")}
    move = 'mv "$1/torch-2.11.0.dist-info" "$1/torch-2.8.0.dist-info"; echo "version = 2.8" > "$1/torch.py"'
    run = apply(tmp_path, shell(move, site)).run
    package(site, "torch", "2.14.1")
    package(site, "numpy", "2.4.6")
    take_back(tmp_path, run)
    assert {path.name for path in site.iterdir() if path.name.startswith("torch")} == before
    assert (site / "torch.py").read_text() == "version = '2.11.0'\n"
    assert [path.name for path in site.glob("numpy-*")] == ["numpy-2.4.6.dist-info"]
    assert (site / "numpy.py").read_text() == "version = '2.4.6'\n"


@pytest.mark.parametrize("outer_first", [True, False])
def test_a_later_run_inside_what_an_earlier_one_wrote_goes_first(outer_first: bool, tmp_path: Path) -> None:
    root = environment(tmp_path, "folder", "x")
    paths = [root, root / ".condarc"] if outer_first else [root / ".condarc", root]
    runs = []
    for path in paths:
        file = root / "made" if path == root else path
        runs.append(apply(tmp_path, Step("make", ("/usr/bin/touch", str(file)), writes=(str(path),))).run)
        os.rename(tmp_path / "state" / "runs" / runs[-1], tmp_path / "state" / "runs" / f"{len(runs)}")
    store = Store(tmp_path / "state")
    with pytest.raises(CannotUndo, match="came later and changed the same"):
        undo(store.runs()[1], store)
    assert (root / ".condarc").exists()
