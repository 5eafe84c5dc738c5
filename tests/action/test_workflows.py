"""The action and the workflows as GitHub's schemas and zizmor see them, offline."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.action.composite import ACTION
from tests.conftest import ROOT

WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
BIN = Path(sys.executable).parent
PINNED = re.compile(r"uses: (?:[\w-]+/[\w./-]+@[0-9a-f]{40} # v\d|\./)")


def tool(name: str, *arguments: str, cwd: Path = ROOT) -> subprocess.CompletedProcess[str]:
    # No way to the network: what these tools need is in them.
    env = {"PATH": os.environ["PATH"], "HOME": str(cwd), "https_proxy": "http://127.0.0.1:9"}
    return subprocess.run([str(BIN / name), *arguments], cwd=cwd, env=env, capture_output=True, text=True, check=False)


def schema(kind: str, *paths: Path) -> subprocess.CompletedProcess[str]:
    return tool("check-jsonschema", "--builtin-schema", f"vendor.github-{kind}", *map(str, paths))


def zizmor(*paths: Path) -> subprocess.CompletedProcess[str]:
    return tool("zizmor", "--offline", "--no-progress", *map(str, paths))


def test_zizmor_finds_nothing() -> None:
    done = zizmor(*WORKFLOWS, ROOT / "action.yml")
    assert done.returncode == 0, done.stdout


def test_githubs_schemas_are_met() -> None:
    assert (done := schema("workflows", *WORKFLOWS)).returncode == 0, done.stdout
    assert (done := schema("actions", ROOT / "action.yml")).returncode == 0, done.stdout


def test_both_would_find_a_fault(tmp_path: Path) -> None:
    text = (ROOT / "action.yml").read_text()
    (tmp_path / "action.yml").write_text(
        text.replace("unset PYTHONPATH", "echo ${{ inputs.python }}; unset PYTHONPATH")
    )
    done = zizmor(tmp_path / "action.yml")
    assert (done.returncode != 0, "template-injection" in done.stdout) == (True, True)
    (tmp_path / "action.yml").write_text(text.replace("using: composite", "using: composit"))
    assert schema("actions", tmp_path / "action.yml").returncode != 0
    (tmp_path / "w.yml").write_text(WORKFLOWS[0].read_text().replace("runs-on:", "run-on:"))
    assert schema("workflows", tmp_path / "w.yml").returncode != 0


def test_every_action_is_pinned_by_its_commit() -> None:
    lines = [line.strip().removeprefix("- ") for path in (*WORKFLOWS, ROOT / "action.yml")
             for line in path.read_text().splitlines() if re.match(r"\s*(?:- )?uses:", line)]  # fmt: skip
    assert len(lines) >= 7
    assert [line for line in lines if not PINNED.match(line)] == []


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_a_workflow_may_read_the_code_and_nothing_else(path: Path) -> None:
    workflow: dict[str, Any] = yaml.safe_load(path.read_text())
    assert workflow["permissions"] == {"contents": "read"}
    assert not [job for job in workflow["jobs"].values() if "permissions" in job]
    for job in workflow["jobs"].values():
        assert job["timeout-minutes"] <= 40
        for step in job["steps"]:
            assert "${{" not in step.get("run", ""), step
            if str(step.get("uses", "")).startswith("actions/checkout"):
                assert step["with"]["persist-credentials"] is False


def test_the_ended_image_is_asked_for_only_where_somebody_says_so() -> None:
    for path in WORKFLOWS:
        workflow: dict[str, Any] = yaml.safe_load(path.read_text())
        asking = {name: job for name, job in workflow["jobs"].items() if job["runs-on"] == "macos-14"}
        assert all("inputs.macos-14" in job["if"] or "vars." in job["if"] for job in asking.values())
        assert "ended" in path.read_text() or not asking
        assert "macos-14" not in str([job.get("strategy") for job in workflow["jobs"].values()])


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_our_action_lies_where_a_step_looks_for_it(path: Path) -> None:
    """A path is one in the working folder: what lies there was checked out before, and of the right repository."""
    for job in yaml.safe_load(path.read_text())["jobs"].values():
        there: dict[str, dict[str, Any]] = {}
        for step in job["steps"]:
            uses = step.get("uses", "")
            assert not uses.startswith("$/"), "the runner refuses it for an action at the root of a repository"
            if uses.startswith("actions/checkout@"):
                there[step.get("with", {}).get("path", "")] = step.get("with", {})
            elif uses.startswith("./"):
                where = there[uses.removeprefix("./")]
                if "workflow_call" in path.read_text():  # else the caller's own repository would be examined as ours
                    assert where["repository"] == "${{ job.workflow_repository }}"
                    assert where["ref"] == "${{ job.workflow_sha }}"


def test_the_callable_workflow_passes_only_inputs_that_the_action_has() -> None:
    workflow: dict[str, Any] = yaml.safe_load((ROOT / ".github" / "workflows" / "mps.yml").read_text())
    (step,) = [step for step in workflow["jobs"]["hosted"]["steps"] if step.get("uses") == "./.mpsdoctor"]
    assert set(step["with"]) <= set(ACTION["inputs"])
    called = workflow[True]["workflow_call"]["inputs"]  # YAML 1.1 reads the key `on` as true
    assert {"checks", "fail-on", "expect", "vm-policy", "macos-14"} <= set(called)
    assert called["macos-14"]["default"] is False


def test_inputs_and_outputs_are_those_that_were_promised() -> None:
    assert list(ACTION["inputs"]) == [
        "python", "version", "checks", "fail-on", "expect", "vm-policy", "timeout", "json", "summary", "annotations",
        "upload-report",
    ]  # fmt: skip
    assert list(ACTION["outputs"]) == [
        "status", "mps-usable", "reason", "device", "torch-version", "macos-version", "is-vm", "report",
    ]  # fmt: skip
    assert all(len(spec["description"]) > 10 for spec in (*ACTION["inputs"].values(), *ACTION["outputs"].values()))


def blocks() -> list[tuple[str, dict[str, Any]]]:
    found = {}
    for path in WORKFLOWS:
        for job in yaml.safe_load(path.read_text())["jobs"].values():
            for step in job["steps"]:
                if "run" in step:
                    found[f"{path.name}: {step['run'][:40]}"] = step
    return list(found.items())


@pytest.mark.parametrize(("name", "step"), blocks(), ids=lambda value: value if isinstance(value, str) else "")
def test_every_script_of_a_workflow_is_bash_that_runs_no_input(name: str, step: dict[str, Any], tmp_path: Path) -> None:
    """Executed for real, with programs that only note what they were given, and with hostile values of every input."""
    hostile = "$(touch x)`touch x`'; touch x; \"; touch x\n--help"
    work, programs, noted = tmp_path / "work", tmp_path / "bin", tmp_path / "noted"
    for folder in (work, programs):
        folder.mkdir()
    for program in ("python", "make", ".venv/bin/python", ".venv/bin/mpsdoctor", "patient/bin/python",
                    "doctor/bin/python", "doctor/bin/mpsdoctor"):  # fmt: skip
        path = (work if "/" in program else programs) / program
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f'#!/bin/bash\nprintf "%s\\n" "$0 $*" >> "{noted}"\n')
        path.chmod(0o755)
    script = tmp_path / "script.sh"
    script.write_text(step["run"])
    env = {"PATH": f"{programs}:{os.environ['PATH']}", "RUNNER_TEMP": str(tmp_path), "HOME": str(tmp_path)}
    env |= dict.fromkeys(step.get("env", {}), hostile)
    argv = ["bash", "--noprofile", "--norc", "-eo", "pipefail", str(script)]
    done = subprocess.run(argv, cwd=work, env=env, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, ""), name
    assert noted.read_text()
    assert not list(tmp_path.rglob("x"))
