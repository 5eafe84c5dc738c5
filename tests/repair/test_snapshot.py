"""What was kept is put back exactly, whatever happened to it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mpsdoctor.repair import snapshot
from mpsdoctor.repair.restore import restore
from tests.repair.wheels import fingerprint

NAMES = ["a", "b b", "ü", "-rf", "new\nline", "it's"]
PATHS = st.lists(st.sampled_from(NAMES), min_size=1, max_size=3).map(lambda parts: "/".join(parts))
CONTENT = st.one_of(st.binary(max_size=40), st.none())  # None: a link
TREES = st.dictionaries(PATHS, CONTENT, max_size=6)


def build(folder: Path, tree: dict[str, bytes | None]) -> None:
    for name, content in tree.items():
        path = folder / name
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            if path.is_symlink() or path.is_file():
                path.unlink()
            if path.is_dir():
                continue
            if content is None:
                path.symlink_to("nowhere")
            else:
                path.write_bytes(content)
                path.chmod(0o755 if content[:1] == b"#" else 0o640)
        except (FileExistsError, NotADirectoryError):
            continue  # a file stands where a folder is wanted


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(before=TREES, after=TREES, removed=st.sets(PATHS, max_size=3))
def test_any_tree_is_restored_after_any_change(
    before: dict[str, bytes | None],
    after: dict[str, bytes | None],
    removed: set[str],
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    base = tmp_path_factory.mktemp("tree")
    tree = base / "tree"
    tree.mkdir()
    build(tree, before)
    was = fingerprint(tree)
    roots = snapshot.save([str(tree), str(base / "absent")], {}, base / "kept")
    assert snapshot.differences(roots) == []
    for name in removed:
        if os.path.lexists(tree / name):
            from mpsdoctor.repair.paths import remove

            remove(tree / name)
    build(tree, after)
    (base / "absent").write_text("new")
    assert restore(roots, base / "kept") == []
    assert fingerprint(tree) == was
    assert not (base / "absent").exists()
    assert restore(roots, base / "kept") == []  # again, as after a kill


def test_a_moved_environment_goes_back_at_every_point(tmp_path: Path) -> None:
    env, beside, aside = tmp_path / "env", tmp_path / "beside", tmp_path / "aside"

    def world() -> list[snapshot.Entry]:
        env.mkdir()
        (env / "old").write_text("old")
        paths = [str(beside), str(env), str(aside)]
        return snapshot.save(paths, {str(env): str(aside)}, tmp_path / f"kept{len(list(tmp_path.iterdir()))}")

    roots = world()
    kept = next(tmp_path.glob("kept*"))
    for done in range(4):
        if done >= 1:
            beside.mkdir()
        if done >= 2:
            env.rename(aside)
        if done >= 3:
            beside.rename(env)
        assert restore(roots, kept) == []
        assert (env / "old").read_text() == "old"
        assert not beside.exists()
        assert not aside.exists()


def test_a_path_inside_another_is_kept_once(tmp_path: Path) -> None:
    (tmp_path / "env").mkdir()
    (tmp_path / "env" / "file").write_text("x")
    roots = snapshot.save([str(tmp_path / "env" / "file"), str(tmp_path / "env"), "relative"], {}, tmp_path / "kept")
    assert [root["path"] for root in roots] == [str(tmp_path / "env")]


def test_a_file_becomes_a_folder_and_back(tmp_path: Path) -> None:
    path = tmp_path / "thing"
    path.write_text("a file")
    roots = snapshot.save([str(path)], {}, tmp_path / "kept")
    path.unlink()
    path.mkdir()
    (path / "inner").write_text("x")
    assert restore(roots, tmp_path / "kept") == []
    assert path.read_text() == "a file"
