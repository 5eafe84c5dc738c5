"""Real environments, real pip and uv, a real index: diagnosed, fixed, gone, undone, and bit for bit as before."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.repair.conftest import Patient
from tests.repair.wheels import fingerprint


@pytest.mark.parametrize("manager", ["pip", "uv"])
def test_companion_mismatch(manager: str, patient: Callable[..., Patient]) -> None:
    mac = patient("torch==2.13.0", manager=manager)
    _install(mac, "torchvision==0.27.1", "--no-deps", manager=manager)
    cured(mac, "companion-version-mismatch")


def _install(mac: Patient, *arguments: str, manager: str) -> None:
    from tests.repair.wheels import UV, run

    if manager == "uv":
        run(UV, "pip", "install", "--python", str(mac.python), *arguments, env=mac.env)
    else:
        run(str(mac.python), "-m", "pip", "install", "-q", *arguments, env=mac.env)


def cured(mac: Patient, cause: str) -> None:
    assert cause in mac.causes()
    before = fingerprint(mac.project)
    shown = mac.fix("--dry-run")
    assert shown.code == 0, shown.out + shown.err
    assert fingerprint(mac.project) == before
    fixed = mac.fix("--yes", "--format", "json")
    assert fixed.code == 0, fixed.out + fixed.err
    assert fixed.json["applied"]["outcome"] == "fixed"
    assert cause not in mac.causes()
    assert fingerprint(mac.project) != before
    undone = mac.undo()
    assert undone.code == 0, undone.out + undone.err
    assert fingerprint(mac.project) == before
    assert cause in mac.causes()
