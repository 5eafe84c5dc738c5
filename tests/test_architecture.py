"""The house keeps its shape: imports go down, files stay small, the README tells the truth."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

from mpsdoctor.cli import COMMANDS
from tests.conftest import ROOT

# What each part may import of ours, by module prefix; the first matching row counts.
ALLOWED = {
    "mpsdoctor.facts": ("mpsdoctor.facts",),
    "mpsdoctor.knowledge": ("mpsdoctor.knowledge",),
    "mpsdoctor.probes": ("mpsdoctor.probes", "mpsdoctor.facts", "mpsdoctor.knowledge", "mpsdoctor"),
    "mpsdoctor.verdict": ("mpsdoctor.facts",),
    "mpsdoctor.entry_points": (),
    "mpsdoctor.plugins": ("mpsdoctor.entry_points",),
    "mpsdoctor.registry": (
        "mpsdoctor.plugins",
        "mpsdoctor",
        "mpsdoctor.facts",
        "mpsdoctor.verdict",
        "mpsdoctor.selection",
    ),
    "mpsdoctor.diagnosis": ("mpsdoctor.facts", "mpsdoctor.verdict", "mpsdoctor.registry", "mpsdoctor.knowledge"),
    "mpsdoctor.observe": ("mpsdoctor.facts", "mpsdoctor.probes"),
    "mpsdoctor.smoke": ("mpsdoctor.facts", "mpsdoctor.probes"),
    "mpsdoctor.report": (
        *("mpsdoctor.report", "mpsdoctor.diagnosis", "mpsdoctor.registry", "mpsdoctor.verdict", "mpsdoctor.selection"),
        *("mpsdoctor.facts", "mpsdoctor.knowledge", "mpsdoctor"),
    ),
    "mpsdoctor.repair": (
        *("mpsdoctor.repair", "mpsdoctor.observe", "mpsdoctor.smoke", "mpsdoctor.probes", "mpsdoctor.report"),
        *("mpsdoctor.diagnosis", "mpsdoctor.registry", "mpsdoctor.facts", "mpsdoctor.knowledge", "mpsdoctor"),
        "mpsdoctor.plugins",
    ),
    "mpsdoctor.checks": ("mpsdoctor", "mpsdoctor.knowledge", "mpsdoctor.checks"),
    "mpsdoctor.fixes": ("mpsdoctor", "mpsdoctor.repair", "mpsdoctor.facts", "mpsdoctor.knowledge", "mpsdoctor.fixes"),
}


def modules() -> dict[str, Path]:
    """Return every module of the package by its installed name."""
    found = {}
    for folder, name in (("mpsdoctor", "mpsdoctor"), ("checks", "mpsdoctor.checks"), ("fixes", "mpsdoctor.fixes")):
        for path in (ROOT / folder).rglob("*.py"):
            if "target" in path.parts:
                continue
            parts = path.relative_to(ROOT / folder).with_suffix("").parts
            found[".".join([name, *(p for p in parts if p != "__init__")])] = path
    return found


def imports(name: str, path: Path) -> set[str]:
    """Return the modules of ours that a module imports, lazily or not; those for type checkers only are left out."""
    package = name if path.name == "__init__.py" else name.rsplit(".", 1)[0]
    found = set()
    for node in ast.walk(_without_type_checking(ast.parse(path.read_text()))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = package.rsplit(".", node.level - 1)[0] if node.level else ""
            target = ".".join(filter(None, [base, node.module or ""]))
            found |= {target}
    return {item for item in found if item == "mpsdoctor" or item.startswith("mpsdoctor.")}


def _without_type_checking(tree: ast.Module) -> ast.Module:
    tree.body = [
        node for node in tree.body
        if not (isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING")
    ]  # fmt: skip
    return tree


def inside(module: str, prefix: str) -> bool:
    return module == prefix or (module.startswith(prefix + ".") and prefix != "mpsdoctor")


@pytest.mark.parametrize("prefix", sorted(ALLOWED))
def test_imports_only_go_down(prefix: str) -> None:
    wrong = []
    for name, path in modules().items():
        if not inside(name, prefix):
            continue
        for item in imports(name, path):
            if not any(inside(item, allowed) for allowed in ALLOWED[prefix]):
                wrong.append(f"{name} imports {item}")
    assert wrong == []


def test_training_smoke_stands_apart() -> None:
    for path in (ROOT / "training_smoke").glob("*.py"):
        found = imports("mpsdoctor.training_smoke.any", path)
        assert [item for item in found if not inside(item, "mpsdoctor.training_smoke")] == [], path


def test_only_the_places_meant_for_it_start_processes() -> None:
    starters = [
        name for name, path in modules().items()
        if re.search(r"^\s*(import subprocess|from subprocess import|import os; os\.system)", path.read_text(), re.M)
    ]  # fmt: skip
    assert [name for name in starters if not name.startswith("mpsdoctor.repair")] == ["mpsdoctor.probes.process"]


def test_the_readme_names_every_command() -> None:
    text = (ROOT / "README.md").read_text()
    missing = [name for name in COMMANDS if f"mpsdoctor {name}" not in text]
    assert missing == []


def test_every_command_of_the_readme_is_accepted() -> None:
    lines = re.findall(r"^(?:\| `|\$ )(mpsdoctor [^`|]*)", (ROOT / "README.md").read_text(), re.M)
    assert len(lines) > 5
    for line in lines:
        command = line.split()[1]
        done = subprocess.run(
            [sys.executable, "-m", "mpsdoctor", command, "--help"], capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, line
        for option in re.findall(r"(?<= )--[a-z-]+", line):
            assert option in done.stdout, (line, option)


def test_the_picture_of_the_readme_fetches_nothing() -> None:
    for path in (ROOT / "docs").rglob("*.svg"):
        text = path.read_text()
        assert not re.search(r"(?:src|href)=|url\(\s*['\"]?http|@import|@font-face", text), path


def test_files_stay_small() -> None:
    long = {name: n for name, path in modules().items() if (n := len(path.read_text().splitlines())) > 300}
    assert long == {}
