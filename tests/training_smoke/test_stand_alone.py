"""The program needs the standard library and torch alone, in any release from 1.12 and any Python from 3.8."""

from __future__ import annotations

import ast
import json
import re
import sys
from pathlib import Path

import pytest
import torch
from mpsdoctor.training_smoke import apis, devices

from tests.training_smoke.harness import PROGRAM

SOURCES = sorted(PROGRAM.glob("*.py"))
SURFACE = json.loads((Path(__file__).parent / "data" / "torch_api_surface.json").read_text())
NAMED = re.compile(r"torch\.(mps|backends\.mps|amp|accelerator)\.(\w+)(\.\w+)*")
# Which of the recorded files define the names of a part of torch.
FILES = {
    "mps": ("mps/__init__.py",),
    "backends.mps": ("backends/mps/__init__.py",),
    "amp": ("amp/__init__.py", "amp/grad_scaler.py"),
    "accelerator": ("accelerator/__init__.py",),
}


def attribute_name(node: ast.AST) -> str | None:
    """``torch.mps.synchronize`` of a chain of attributes that begins with the name torch."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.insert(0, node.attr)
        node = node.value
    return ".".join(["torch", *parts]) if isinstance(node, ast.Name) and node.id == "torch" else None


def used_names() -> tuple[set[str], set[str]]:
    """The release-dependent names that the program reaches directly, and those it looks up by their text."""
    direct: set[str] = set()
    looked_up: set[str] = set()
    for path in SOURCES:
        tree = ast.parse(path.read_text())
        docstrings = {
            id(node.body[0].value)
            for node in ast.walk(tree)
            if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef))
            and node.body
            and isinstance(node.body[0], ast.Expr)
        }
        for node in ast.walk(tree):
            name = attribute_name(node)
            if name is not None and NAMED.fullmatch(name):
                direct.add(name)
            is_text = isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings
            if is_text and NAMED.fullmatch(node.value):
                looked_up.add(node.value)
    return direct, looked_up


def has(release: str, name: str) -> bool:
    match = NAMED.fullmatch(name)
    assert match is not None
    return any(match[2] in SURFACE[release].get(file, ()) for file in FILES[match[1]])


def test_the_scan_sees_the_names_that_the_program_is_known_to_use() -> None:
    _, looked_up = used_names()
    assert looked_up >= {"torch.mps.synchronize", "torch.mps.recommended_max_memory", "torch.amp.GradScaler"}


@pytest.mark.parametrize("release", SURFACE)
def test_every_torch_name_that_a_release_lacks_is_guarded(release: str) -> None:
    direct, looked_up = used_names()
    version = apis.version_of(release)
    for name in direct:
        assert has(release, name), f"{name} is used without a guard, and {release} does not have it"
    for name in looked_up:
        assert name in apis.SINCE
        assert has(release, name) == (version >= apis.SINCE[name]), (name, release)


def test_no_release_dependent_module_is_imported() -> None:
    for path in SOURCES:
        for node in ast.walk(ast.parse(path.read_text())):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom) and not node.level:
                names = [f"{node.module}.{alias.name}" for alias in node.names]
            assert not [name for name in names if re.match(r"torch\.(mps|backends|amp|accelerator|cuda)", name)], path


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.name)
def test_imports_are_the_standard_library_torch_and_siblings(path: Path) -> None:
    text = path.read_text()
    tree = ast.parse(text, feature_version=(3, 8))
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            roots = {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and not node.level:
            roots = {str(node.module).split(".")[0]}
        else:
            continue
        assert roots <= {*sys.stdlib_module_names, "torch"}, path.name
    assert "from __future__ import annotations" in text or path.name == "__init__.py"


def test_looking_up_an_unlisted_name_is_refused() -> None:
    with pytest.raises(KeyError):
        apis.find("torch.mps.compile_shader")


def test_a_torch_without_the_names_gives_no_numbers_and_no_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """As 1.12, which has no torch.mps at all, and 2.4, which does not tell the working set."""
    device = devices.MpsDevice()
    monkeypatch.delattr(torch.mps, "recommended_max_memory")
    assert device.memory_limit() is None
    monkeypatch.delattr(torch, "mps")
    assert device.memory_allocated() is None
    device.release()
    monkeypatch.setattr(devices, "find", lambda name: None)
    assert device.availability().ok is False
    assert "older than 1.12" in device.availability().reason


@pytest.mark.parametrize(
    ("text", "version"),
    [("2.13.0+cpu", (2, 13, 0)), ("2.15", (2, 15, 0)), ("2.12.0.dev20260316", (2, 12, 0)), ("unknown", (0, 0, 0))],
)
def test_versions(text: str, version: tuple[int, int, int]) -> None:
    assert apis.version_of(text) == version
