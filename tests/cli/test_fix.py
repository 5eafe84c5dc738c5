"""The commands `fix` and `undo` as a user meets them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from mpsdoctor.facts.schema import report_schema
from tests.conftest import RECORDINGS, Ran
from tests.repair.wheels import UV, fingerprint, make_venv, wheel

Doctor = Callable[..., Ran]
ROSETTA, MACOS_13 = RECORDINGS / "05-m1pro-anaconda-x86_64-rosetta", RECORDINGS / "04-m1-macos13-old"
HEALTHY = RECORDINGS / "01-m1-air-8gb-macos14-uv"
VIRTUAL = RECORDINGS / "07-github-macos-14-arm64-runner"


@pytest.mark.parametrize(
    ("arguments", "because"),
    [
        (["--replay", str(ROSETTA), "--yes"], "only a live target is ever changed"),
        (["--from", "-", "--yes"], "only a live target is ever changed"),
        (["--env", ".", "--yes"], "only a live target is ever changed"),
        (["--yes", "--dry-run"], "contradict"),
        (["--replay", str(ROSETTA), "--from", "x"], "different targets"),
        (["--replay", str(ROSETTA), "--only", "no-such-cause"], "no cause is called"),
        (["--replay", str(ROSETTA), "--nightly", "x", "--index-url", "-x"], "needs an address"),
    ],
)
def test_what_cannot_be_meant_is_refused(arguments: list[str], because: str, mpsdoctor: Doctor) -> None:
    ran = mpsdoctor("fix", *arguments, stdin=b"{}")
    assert ran.code == 2
    assert because in ran.err
    assert ran.out == ""


@pytest.mark.parametrize(
    ("recording", "code"), [(ROSETTA, 0), (HEALTHY, 0), (RECORDINGS / "09-docker-linux-on-mac", 0), (VIRTUAL, 1)]
)
def test_the_exit_status_of_a_plan(recording: Path, code: int, mpsdoctor: Doctor) -> None:
    assert mpsdoctor("fix", "--replay", str(recording)).code == code


def test_what_cannot_be_decided_is_asked_for_and_nothing_is_planned(mpsdoctor: Doctor) -> None:
    ran = mpsdoctor("fix", "--from", "-", stdin=b"it does not work on my Mac")
    assert ran.code == 3
    assert "nothing should be reinstalled; this would tell: sysctl" in " ".join(ran.out.split())


def test_a_plan_for_another_mac_is_shown_with_its_commands(mpsdoctor: Doctor) -> None:
    ran = mpsdoctor("fix", "--replay", str(MACOS_13))
    assert "torch 2.11.0 -> 2.8.0" in ran.out
    assert "-m pip install" in ran.out
    assert "undo: mpsdoctor undo" in ran.out
    assert "System Settings > General > Software Update" in " ".join(ran.out.split())
    assert max(len(line) for line in ran.out.splitlines() if "pip install" not in line) <= 80


def test_the_json_is_a_report_with_a_plan(mpsdoctor: Doctor) -> None:
    import jsonschema

    data = mpsdoctor("fix", "--replay", str(ROSETTA), "--format", "json").json
    jsonschema.validate(data, report_schema())
    assert [fix["fix"] for fix in data["plan"]["fixes"]] == ["native"]
    assert data["applied"] is None
    again = mpsdoctor("fix", "--from", "-", "--format", "json", stdin=json.dumps(data).encode())
    assert again.json["plan"] == data["plan"]


def test_only_one_cause(mpsdoctor: Doctor) -> None:
    ran = mpsdoctor("fix", "--replay", str(ROSETTA), "--only", "numpy2-abi", "--format", "json")
    assert ran.code == 1
    assert ran.json["plan"]["fixes"] == []
    told = mpsdoctor("fix", "--replay", str(ROSETTA), "--only", "numpy2-abi")
    assert told.code == 1
    assert "numpy2-abi: it was not found here; found: x86-python-under-rosetta" in " ".join(told.out.split())
    assert "Nothing was found" not in told.out


def test_a_hostile_report_is_planned_for_and_never_executed(mpsdoctor: Doctor, tmp_path: Path) -> None:
    data = mpsdoctor("check", "--replay", str(MACOS_13), "--format", "json").json
    trap = tmp_path / "trap"
    data["facts"]["interpreter"]["executable"] = f"/bin/touch {trap}; touch '{trap}'"
    data["facts"]["packages"]["distributions"] = [
        {"name": f"$(touch {trap})", "version": "1"},
        {"name": "--index-url", "version": f"`touch {trap}`"},
        {"name": "torch", "version": "2.11.0"},
    ]
    ran = mpsdoctor("fix", "--from", "-", "--format", "json", stdin=json.dumps(data).encode())
    assert not trap.exists()
    words = [w for fix in ran.json["plan"]["fixes"] for step in fix["steps"] for w in (step["argv"] or ())[1:]]
    assert not [word for word in words if "touch" in word or word == "--index-url"]


def environ(tmp_path: Path) -> dict[str, str]:
    return {
        "HOME": str(tmp_path / "home"),
        "XDG_STATE_HOME": str(tmp_path / "state"),
        "PATH": f"{Path(UV).parent}:/usr/bin:/bin",
        "MPSDOCTOR_HOST_RECORDING": str(MACOS_13),
        "UV_CACHE_DIR": str(tmp_path / "cache"),
        "UV_OFFLINE": "1",
    }


def test_without_a_terminal_nothing_is_changed(mpsdoctor: Doctor, tmp_path: Path) -> None:
    env, project = environ(tmp_path), tmp_path / "project"
    project.mkdir()
    python = make_venv(project / ".venv", env, str(wheel(tmp_path / "wheels", "torch", "2.13.0")), manager="uv")
    before = fingerprint(project)
    ran = mpsdoctor("fix", "--python", str(python), env=env, cwd=project)
    assert ran.code == 1
    assert "Nothing was changed" in ran.out
    assert fingerprint(project) == before
    assert not (tmp_path / "state" / "mpsdoctor" / "runs").exists()


def test_undo_without_runs(mpsdoctor: Doctor, tmp_path: Path) -> None:
    env = environ(tmp_path)
    assert mpsdoctor("undo", env=env).code == 0
    assert mpsdoctor("undo", "--list", env=env).code == 0
    unknown = mpsdoctor("undo", "no-such-run", env=env)
    assert unknown.code == 2
    assert "no run is called" in unknown.err


def test_runs_are_listed_and_taken_back_in_order(mpsdoctor: Doctor, tmp_path: Path) -> None:
    """Two runs on one file: the first cannot be taken back before the second."""
    env, project = environ(tmp_path), tmp_path / "project"
    env.pop("UV_OFFLINE")
    project.mkdir()
    python = make_venv(project / ".venv", env, str(wheel(tmp_path / "wheels", "torch", "2.8.0")), manager="uv")
    pins = project / "requirements.txt"
    texts = []
    for line in ("torch==2.1.0+cu118\n", "torch==2.1.0+cu118\ntriton\n"):
        pins.write_text(line)
        texts.append(line)
        ran = mpsdoctor("fix", "--python", str(python), "--yes", env=env, cwd=project)
        assert ran.code == 0, ran.out + ran.err
    rows = json.loads(mpsdoctor("undo", "--list", "--format", "json", env=env).out)
    assert [row["outcome"] for row in rows] == ["fixed", "fixed"]
    refused = mpsdoctor("undo", rows[1]["run"], "--yes", env=env)
    assert refused.code == 1
    assert "came later" in refused.err
    waits = mpsdoctor("undo", env=env)
    assert waits.code == 1
    assert "add --yes" in waits.err
    assert mpsdoctor("undo", "--yes", env=env).code == 0
    assert pins.read_text() == texts[1]
    assert [row["outcome"] for row in json.loads(mpsdoctor("undo", "--list", "--format", "json", env=env).out)] == [
        "undone",
        "fixed",
    ]
