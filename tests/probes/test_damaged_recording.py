"""A recording whose files are cut, empty or gone says less; it never says that a sound Mac is broken."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from mpsdoctor.observe import observe
from mpsdoctor.probes.choice import Target
from mpsdoctor.probes.replay import ReplayRunner
from mpsdoctor.registry import load_registry
from mpsdoctor.report.model import Report, make_report
from mpsdoctor.report.source import Source
from tests.conftest import ROOT

SOUND = ("01-m1-air-8gb-macos14-uv", "02-m2pro-macos15-miniforge", "03-m4max-macos26")
DAMAGES: dict[str, Callable[[Path], object]] = {
    "gone": lambda path: path.unlink(),
    "empty": lambda path: path.write_bytes(b""),
    "half": lambda path: path.write_bytes(path.read_bytes()[: path.stat().st_size // 2]),
    "noise": lambda path: path.write_bytes(bytes(range(256)) * 8),
}


def replayed(folder: Path) -> tuple[Report, ReplayRunner]:
    runner = ReplayRunner(folder)
    facts, problems = observe(runner, Target("python", "the recording"))
    return make_report(facts, Source("replay", "x"), load_registry(), problems=tuple(problems)), runner


@pytest.mark.parametrize("damage", sorted(DAMAGES))
@pytest.mark.parametrize("name", SOUND)
def test_no_damage_makes_a_sound_mac_look_broken(name: str, damage: str, tmp_path: Path) -> None:
    source = ROOT / "tests" / "recordings" / name
    answers = {"python_facts.json", "torch_facts.json"}
    for victim in sorted(item.name for item in source.iterdir() if item.name != "profile.json"):
        folder = tmp_path / victim
        shutil.copytree(source, folder)
        DAMAGES[damage](folder / victim)
        report, runner = replayed(folder)
        failed = [finding.id for finding in report.findings if finding.outcome == "fail"]
        assert failed == [], f"{victim} {damage}"
        assert len(set(runner.problems)) == len(runner.problems)
        if victim in answers:
            assert any("cut short" in problem for problem in runner.problems), victim
