"""What an installation would change, by the real resolvers and by the metadata of what stays."""

from __future__ import annotations

import io
import tarfile
from collections.abc import Callable

import pytest

from tests.repair.conftest import Patient
from tests.repair.test_faults import MACOS_13
from tests.repair.wheels import Index, fingerprint


@pytest.mark.parametrize("manager", ["pip", "uv"])
def test_the_plan_says_what_else_comes_and_which_pin_cannot_stay(
    manager: str, patient: Callable[..., Patient], index: Index
) -> None:
    index.add("extra", "1.0")
    index.add("torch", "2.8.0", requires=("extra>=1",))
    index.add("needy", "3.1", requires=("torch>=2.9", "other<2; sys_platform == 'win32'"))
    mac = patient("torch==2.13.0", "needy", "helper", manager=manager, mac=MACOS_13)
    before = fingerprint(mac.project)
    plan = mac.fix("--dry-run", "--format", "json").json["plan"]
    assert plan["cannot_keep"] == ["needy 3.1 asks for torch>=2.9"]
    assert "with it: + extra 1.0" in plan["fixes"][0]["notes"]
    assert fingerprint(mac.project) == before


@pytest.mark.parametrize("manager", ["pip", "uv"])
def test_what_the_index_does_not_have_is_said_before_anything_is_done(
    manager: str, patient: Callable[..., Patient], index: Index
) -> None:
    mac = patient("torch==2.13.0", manager=manager, mac=MACOS_13)
    (index.folder / "torch" / "torch-2.8.0-py3-none-any.whl").unlink()
    index.add("helper", "2.0")  # writes the pages anew
    ran = mac.fix("--dry-run")
    assert "the index does not give it" in ran.out
    assert "2.8.0" in ran.out


@pytest.mark.parametrize("manager", ["pip", "uv"])
def test_no_source_package_is_built_before_the_yes(manager: str, patient: Callable[..., Patient], index: Index) -> None:
    mac = patient("torch==2.13.0", manager=manager, mac=MACOS_13)
    trap = mac.home / "trap"
    index.add("torch", "2.8.0", requires=("source-only",))
    folder = index.folder / "source-only"
    folder.mkdir()
    setup = (
        f"open({str(trap)!r}, 'w').close()\nfrom setuptools import setup\nsetup(name='source-only', version='1.0')\n"
    )
    with tarfile.open(folder / "source_only-1.0.tar.gz", "w:gz") as archive:
        for name, text in (
            ("setup.py", setup),
            ("PKG-INFO", "Metadata-Version: 1.0\nName: source-only\nVersion: 1.0\n"),
        ):
            member = tarfile.TarInfo(f"source_only-1.0/{name}")
            member.size = len(text)
            archive.addfile(member, io.BytesIO(text.encode()))
    (folder / "index.html").write_text('<a href="source_only-1.0.tar.gz">source_only-1.0.tar.gz</a>')
    ran = mac.fix("--dry-run")
    assert "the index does not give it" in ran.out
    assert not trap.exists()
