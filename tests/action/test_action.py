"""Every `run:` block of action.yml, executed for real with bash: outputs, exit status, log and summary."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from tests.action.composite import ACTION, STEPS, read_outputs, run_action
from tests.action.conftest import on
from tests.report.workflow_commands import read

HOSTILE = [
    "$(touch x)`touch x`", "'; touch x; '\"; touch x; \"", "a\r\nstatus=healthy\nb", "--help", "*",
    "${{ secrets.TOKEN }}", "\u00e4 \u20ac \\ | touch x", "x" * 3000,
]  # fmt: skip
FREE = ("python", "json", "timeout")
CHOICES = ("checks", "fail-on", "expect", "vm-policy", "summary", "annotations")
CASES = [(name, value) for name in FREE for value in HOSTILE] + [(n, v) for n in CHOICES for v in HOSTILE[:3:2]]


def left_behind(folder: Path) -> list[str]:
    return sorted(path.name for path in (folder / "work").iterdir())


def test_on_linux_it_says_that_this_is_no_mac_and_passes(doctor: Path, tmp_path: Path) -> None:
    result = run_action({"python": sys.executable}, tmp_path, {"ImageOS": "ubuntu24"}, doctor=doctor)
    assert result.code == 0, result.log
    assert result.outputs["status"] == "not-applicable"
    assert (result.outputs["device"], result.outputs["mps-usable"]) == ("cpu", "false")
    assert result.summary.startswith("### · This is Linux, not a Mac")
    assert "Image ubuntu24" in result.steps["examine"].log
    assert json.loads(Path(result.outputs["report"]).read_text())["schema"] == "mpsdoctor.report/1"
    assert {c.name for c in read(result.log)} >= {"notice", "stop-commands"}


@pytest.mark.parametrize(("expect", "code"), [("mps", 1), ("any", 0), ("cpu", 0)])
def test_expect_decides_on_linux_too(expect: str, code: int, doctor: Path, tmp_path: Path) -> None:
    result = run_action({"python": sys.executable, "expect": expect, "checks": "full"}, tmp_path, doctor=doctor)
    assert result.code == code, result.log
    assert ("::error" in result.log) is bool(code)
    assert result.outputs["status"] == "not-applicable"  # the outputs are there for a failed job, too


@pytest.mark.parametrize(
    ("name", "inputs", "code", "kind"),
    [
        ("01-m1-air-8gb-macos14-uv", {"expect": "mps"}, 0, "notice"),
        ("04-m1-macos13-old", {}, 1, "error"),
        ("04-m1-macos13-old", {"fail-on": "never"}, 0, "error"),
        ("07-github-macos-14-arm64-runner", {}, 0, "warning"),
        ("07-github-macos-14-arm64-runner", {"vm-policy": "fail"}, 1, "error"),
        ("07-github-macos-14-arm64-runner", {"vm-policy": "ignore"}, 0, None),
        ("07-github-macos-14-arm64-runner", {"expect": "mps"}, 1, "error"),
        ("08-github-macos-15-arm64-runner", {"expect": "mps"}, 0, "warning"),
        ("08-github-macos-15-arm64-runner", {"fail-on": "warning"}, 1, "warning"),
        ("08-github-macos-15-arm64-runner", {"fail-on": "warning", "vm-policy": "ignore"}, 0, None),
        ("14-bonus-github-macos-26-arm64-runner", {}, 0, "warning"),
    ],
)
def test_a_recorded_runner_gives_its_exit_status_and_annotation(
    name: str, inputs: dict[str, str], code: int, kind: str | None, replaying: Path, tmp_path: Path
) -> None:
    result = run_action(inputs, tmp_path, on(name), doctor=replaying)
    assert result.code == code, result.log
    kinds = [c.name for c in read(result.log) if c.name in ("error", "warning", "notice")]
    assert kinds[:1] == ([kind] if kind else [])
    assert result.summary.startswith("### ")


@pytest.mark.parametrize(
    ("name", "pin"),
    [
        ("07-github-macos-14-arm64-runner", "runs-on: macos-15"),
        ("08-github-macos-15-arm64-runner", "Keep torch 2.14.x on macos-15"),
        ("14-bonus-github-macos-26-arm64-runner", "runs-on: macos-15 (macos-latest is macos-26)"),
    ],
)
def test_each_hosted_image_gets_its_pin(name: str, pin: str, replaying: Path, tmp_path: Path) -> None:
    result = run_action({}, tmp_path, on(name), doctor=replaying)
    assert pin in "".join(c.data for c in read(result.log))
    assert result.outputs["is-vm"] == "true"


def test_summary_and_annotations_can_be_turned_off(replaying: Path, tmp_path: Path) -> None:
    inputs = {"summary": "false", "annotations": "none"}
    result = run_action(inputs, tmp_path, on("04-m1-macos13-old"), doctor=replaying)
    assert (result.code, result.summary) == (1, "")
    assert [c.name for c in read(result.log) if c.name in ("error", "warning", "notice")] == []
    assert result.outputs["reason"] == "macos-too-old-for-torch"


def test_the_cases_are_all_inputs() -> None:
    assert {*FREE, *CHOICES} == set(ACTION["inputs"]) - {"version", "upload-report"}


@pytest.mark.parametrize(("name", "value"), CASES)
def test_no_input_is_ever_run_or_taken_for_another_output(
    name: str, value: str, replaying: Path, tmp_path: Path
) -> None:
    result = run_action({name: value}, tmp_path, on("01-m1-air-8gb-macos14-uv"), doctor=replaying)
    written = left_behind(tmp_path)
    assert "x" not in written
    if name == "json" and result.code == 0:
        assert Path(tmp_path / "work", result.outputs["report"]).is_file()
    else:
        assert written == []
    if result.code == 0:
        assert set(result.steps["judge"].outputs) <= set(ACTION["outputs"])
    else:
        assert "Traceback" not in result.log
    assert result.outputs["status"] in ("", "healthy")


@pytest.mark.parametrize("value", HOSTILE)
def test_a_version_that_is_none_installs_nothing(value: str, tmp_path: Path) -> None:
    result = run_action({"version": value}, tmp_path)
    assert result.code == 2
    assert [c.name for c in read(result.log)] == ["error"]
    assert left_behind(tmp_path) == []
    assert not list(tmp_path.glob("mpsdoctor.*"))


def test_what_a_machine_says_is_no_command_to_the_runner(replaying: Path, tmp_path: Path) -> None:
    result = run_action({}, tmp_path, on("05-m1pro-anaconda-x86_64-rosetta"), doctor=replaying)
    log = result.steps["judge"].log
    (start,) = [c for c in read(log) if c.name == "stop-commands"]
    assert len(start.data) >= 20
    assert log.count(f"::{start.data}::") == 1
    assert log.index("What to do") < log.index(f"::{start.data}::") < log.index("::error ")


def test_outputs_are_read_as_a_runner_reads_them() -> None:
    assert read_outputs("a=1\nb<<X\n2\n3\nX\nc=<<\n") == {"a": "1", "b": "2\n3", "c": "<<"}
    with pytest.raises(AssertionError):
        read_outputs("no output\n")


@pytest.mark.slow
def test_it_installs_itself_apart_from_the_callers_python(tmp_path: Path) -> None:
    spoiled = {"PYTHONPATH": "/nowhere", "PYTHONHOME": "/nowhere", "PIP_USER": "1", "PIP_REQUIRE_VIRTUALENV": "1",
               "PIP_TARGET": str(tmp_path / "target")}  # fmt: skip
    result = run_action({"python": sys.executable}, tmp_path, spoiled)
    assert result.code == 0, result.log
    home = Path(result.steps["install"].outputs["home"])
    assert home.parent == tmp_path
    assert (home / "venv" / "bin" / "mpsdoctor").is_file()
    assert not (tmp_path / "target").exists()
    assert result.outputs["status"] == "not-applicable"


def test_every_step_that_runs_is_bash_and_interpolates_nothing() -> None:
    runs = [step for step in STEPS if "run" in step]
    assert [step["id"] for step in runs] == ["install", "examine", "judge"]
    for step in runs:
        assert step["shell"] == "bash"
        assert "${{" not in step["run"]
        assert "GITHUB_ENV" not in step["run"]
