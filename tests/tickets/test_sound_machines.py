"""What sound Macs print is never taken for a fault."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.tickets.answers import answer
from tests.tickets.dumps import (
    MACHINES,
    Machine,
    accelerate_env,
    collect_env,
    form,
    transformers_env,
    yolo_checks,
)

LAYOUTS: dict[str, Callable[[Machine], str]] = {
    "collect_env of 1.12": lambda machine: collect_env(machine, layout="1.12"),
    "collect_env": collect_env,
    "collect_env of 2.15": lambda machine: collect_env(machine, layout="2.15"),
    "accelerate env": accelerate_env,
    "transformers env": transformers_env,
    "yolo checks": yolo_checks,
    "issue form": form,
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("machine", MACHINES, ids=lambda one: f"{one.macos}-{one.torch}-{one.vendor}")
def test_a_sound_machine_has_no_cause(machine: Machine, layout: str) -> None:
    got = answer(LAYOUTS[layout](machine))
    assert got.diagnosis.verdict in ("healthy", "undecided")
    assert [one.cause for one in got.diagnosis.causes] == []
    assert got.facts.torch.version == machine.torch or got.facts.packages.version("torch") == machine.torch
    assert got.facts.interpreter.version == machine.python


def test_there_are_at_least_thirty_machines_of_several_kinds() -> None:
    assert len(MACHINES) >= 30
    assert len({one.macos.split(".")[0] for one in MACHINES}) >= 6
    assert len({one.torch for one in MACHINES}) >= 20
    assert len({one.vendor for one in MACHINES}) >= 5


@pytest.mark.parametrize("machine", MACHINES[::4], ids=lambda one: f"{one.macos}-{one.torch}")
def test_a_cut_dump_has_no_cause_either(machine: Machine) -> None:
    lines = collect_env(machine).split("\n")
    for cut in range(1, len(lines), 3):
        assert answer("\n".join(lines[:cut])).certain is None
        assert answer("\n".join(lines[cut:])).certain is None
