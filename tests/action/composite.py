"""Runs the steps of action.yml as a runner does: its own reader of the file, bash with the runner's options.

What a runner does and this does too: `${{ }}` is replaced in env, if and with, and never in `run` (a test forbids it
there); `shell: bash` is `bash --noprofile --norc -eo pipefail FILE`; outputs are read back from $GITHUB_OUTPUT; a step
that fails stops all later ones.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from tests.conftest import ROOT

ACTION: dict[str, Any] = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
STEPS: list[dict[str, Any]] = ACTION["runs"]["steps"]
_EXPRESSION = re.compile(r"\$\{\{\s*([\w.-]+)\s*\}\}")


@dataclass
class Step:
    """How one step went."""

    code: int
    log: str
    outputs: dict[str, str]


@dataclass
class Result:
    """How the whole action went: its steps by id, and what it left in the summary."""

    steps: dict[str, Step] = field(default_factory=dict)
    summary: str = ""

    @property
    def code(self) -> int:
        return next((step.code for step in self.steps.values() if step.code), 0)

    @property
    def log(self) -> str:
        return "".join(step.log for step in self.steps.values())

    @property
    def outputs(self) -> dict[str, str]:
        context = {f"steps.{name}.outputs.{key}": value for name, step in self.steps.items()
                   for key, value in step.outputs.items()}  # fmt: skip
        return {name: _expand(output["value"], context) for name, output in ACTION["outputs"].items()}


def run_action(
    inputs: Mapping[str, str], folder: Path, environ: Mapping[str, str] | None = None, *, doctor: Path | None = None
) -> Result:
    """Run the steps with `run:` in `folder`; with `doctor`, a prepared home, in place of the step that installs."""
    values = {name: str(spec.get("default", "")) for name, spec in ACTION["inputs"].items()}
    context = {f"inputs.{name}": value for name, value in {**values, **inputs}.items()}
    context["github.action_path"] = str(ROOT)
    result = Result()
    summary = folder / "summary.md"
    summary.touch()
    for step in STEPS:
        if "run" not in step:
            continue
        if step["id"] == "install" and doctor is not None:
            done = Step(0, "", {"home": str(doctor)})
        else:
            done = _run_step(step, context, folder, summary, environ or {})
        result.steps[step["id"]] = done
        context.update({f"steps.{step['id']}.outputs.{key}": value for key, value in done.outputs.items()})
        if done.code:
            break
    result.summary = summary.read_text(encoding="utf-8")
    return result


def _run_step(
    step: Mapping[str, Any], context: Mapping[str, str], folder: Path, summary: Path, environ: Mapping[str, str]
) -> Step:
    script, output = folder / f"{step['id']}.sh", folder / f"{step['id']}.output"
    script.write_text(step["run"], encoding="utf-8")
    output.touch()
    kept = {key: value for key, value in os.environ.items() if key not in ("VIRTUAL_ENV", "CONDA_PREFIX")}
    env = {**kept, "RUNNER_TEMP": str(folder), "GITHUB_OUTPUT": str(output), "GITHUB_STEP_SUMMARY": str(summary),
           "GITHUB_ACTIONS": "true", "CI": "true"}  # fmt: skip
    env |= {key: _expand(value, context) for key, value in step["env"].items()} | dict(environ)
    (folder / "work").mkdir(exist_ok=True)
    done = subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", str(script)],
        cwd=folder / "work", env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        timeout=280, check=False,
    )  # fmt: skip
    return Step(done.returncode, done.stdout.decode("utf-8", "replace"), read_outputs(output.read_text("utf-8")))


def _expand(text: str, context: Mapping[str, str]) -> str:
    return _EXPRESSION.sub(lambda match: context.get(match[1], ""), str(text))


def read_outputs(text: str) -> dict[str, str]:
    """Read $GITHUB_OUTPUT by GitHub's rules: `name=value`, or `name<<DELIMITER`, lines, DELIMITER."""
    found: dict[str, str] = {}
    lines = iter(text.split("\n"))
    for line in lines:
        name, equals, value = line.partition("=")
        name2, arrows, delimiter = line.partition("<<")
        if arrows and (not equals or line.index("<<") < line.index("=")):
            block: list[str] = []
            for inner in lines:
                if inner == delimiter:
                    break
                block.append(inner)
            found[name2] = "\n".join(block)
        elif equals:
            found[name] = value
        else:
            assert line == "", f"a runner refuses this line: {line!r}"
    return found
