"""What is loaded when: nothing heavy for --help, and for each command only what that command needs."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import RECORDINGS

REPLAY = ["check", "--replay", str(RECORDINGS / "05-m1pro-anaconda-x86_64-rosetta")]
# Everything that costs more than some milliseconds, ours and others'.
HEAVY = ["torch", "numpy", "macholib", "asyncio", "email", "http", "urllib.request", "xml", "unittest",
         "multiprocessing", "sqlite3", "pydantic", "setuptools", "pkg_resources", "pip", "ssl"]  # fmt: skip
ONLY_FOR_WORK = ["rich", "packaging", "platformdirs", "importlib.metadata", "json", "subprocess", "tempfile",
                 "concurrent.futures", "tomllib", "mpsdoctor.facts", "mpsdoctor.registry", "mpsdoctor.probes",
                 "mpsdoctor.report", "mpsdoctor.knowledge", "mpsdoctor.checks", "mpsdoctor.repair"]  # fmt: skip
# The library's reader of metadata (for packages in zip files), and what writes files or searches PATH.
ONLY_FOR_ODD_CASES = ["importlib.metadata", "importlib.resources", "zipfile", "csv", "tempfile", "shutil", "pkgutil"]


def loaded(tmp_path: Path, *arguments: str) -> set[str]:
    """Run the program and return the names of every module that it imported."""
    command = [sys.executable, "-X", "importtime", "-m", "mpsdoctor", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=False)
    assert done.returncode in (0, 1), done.stderr[-2000:]
    return {line.rsplit("|", 1)[1].strip() for line in done.stderr.splitlines() if line.startswith("import time:")}


def bare(tmp_path: Path) -> set[str]:
    """What Python, its site and click load by themselves."""
    command = [sys.executable, "-X", "importtime", "-c", "import click; click.echo()"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=True)
    return {line.rsplit("|", 1)[1].strip() for line in done.stderr.splitlines() if line.startswith("import time:")}


def among(names: list[str], found: set[str]) -> list[str]:
    return sorted(name for name in found if any(name == heavy or name.startswith(f"{heavy}.") for heavy in names))


@pytest.mark.parametrize("arguments", [["--help"], ["--version"]])
def test_help_loads_nothing_but_click(arguments: list[str], tmp_path: Path) -> None:
    found = loaded(tmp_path, *arguments) - bare(tmp_path)
    assert "mpsdoctor.cli" in found
    assert among([*HEAVY, *ONLY_FOR_WORK], found) == []


def test_the_help_of_a_command_loads_that_command_alone(tmp_path: Path) -> None:
    found = loaded(tmp_path, "check", "--help") - bare(tmp_path)
    assert among([*HEAVY, "rich", "packaging", "mpsdoctor.checks", "mpsdoctor.knowledge"], found) == []
    assert "mpsdoctor.cli.record" not in found


def test_replay_loads_neither_torch_nor_what_reads_files_of_programs(tmp_path: Path) -> None:
    found = loaded(tmp_path, *REPLAY) - bare(tmp_path)
    assert among([*HEAVY, *ONLY_FOR_ODD_CASES], found) == []
    assert among(["mpsdoctor.cli.fix", "mpsdoctor.repair", "mpsdoctor.smoke", "mpsdoctor.training_smoke"], found) == []


def test_a_look_without_torch_loads_no_more(tmp_path: Path) -> None:
    found = loaded(tmp_path, "check", "--python", sys.executable, "--no-import") - bare(tmp_path)
    assert "mpsdoctor.probes.packages" in found
    assert among([*HEAVY, *ONLY_FOR_ODD_CASES, "mpsdoctor.repair", "mpsdoctor.facts.redaction"], found) == []


def test_what_starts_the_first_child_loads_neither_facts_nor_checks(tmp_path: Path) -> None:
    """What reads and judges its answer takes as long to load as the child takes to answer."""
    code = "import mpsdoctor.cli.check, mpsdoctor.cli.target, mpsdoctor.observe, mpsdoctor.probes.choice"
    command = [sys.executable, "-X", "importtime", "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=True)
    found = {line.rsplit("|", 1)[1].strip() for line in done.stderr.splitlines() if line.startswith("import time:")}
    assert "mpsdoctor.probes.target_child" in found
    late = ["mpsdoctor.facts", "mpsdoctor.registry", "mpsdoctor.checks", "mpsdoctor.knowledge", "rich"]
    assert among([*late, *HEAVY, *ONLY_FOR_ODD_CASES], found - bare(tmp_path)) == []


def test_json_needs_no_rich(tmp_path: Path) -> None:
    assert among(["rich"], loaded(tmp_path, *REPLAY, "--format", "json") - bare(tmp_path)) == []


def test_the_target_scripts_load_only_the_standard_library(tmp_path: Path) -> None:
    import mpsdoctor.probes.target as target

    for script in ("interpreter_probe.py", "torch_probe.py"):
        command = [sys.executable, "-I", "-S", "-X", "importtime", str(Path(target.__file__).with_name(script)), "5"]
        done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=False)
        lines = [
            line
            for line in done.stderr.splitlines()
            if line.startswith("import time: ") and line[13:].lstrip()[0].isdigit()
        ]
        names = {line.rsplit("|", 1)[1].strip().split(".")[0] for line in lines}
        assert "_answer" in names
        strangers = names - set(sys.stdlib_module_names) - {"_answer", "allow_list", "torch"}
        assert {name for name in strangers if not name.startswith("_sysconfigdata")} == set()
