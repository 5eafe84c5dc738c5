"""The folder of knowledge keeps its rules: data with sources, readers that import nothing of ours and cost nothing."""

import ast
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "mpsdoctor" / "knowledge"
READERS = sorted(FOLDER.glob("*.py"))
DATA = sorted(FOLDER.glob("*.json"))
TABLES = ("causes", "chips", "known_bad", "messages", "pythons", "releases", "variables")


def imported(path):
    """The modules that a file imports from outside of this folder."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            yield node.module
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 1


@pytest.mark.parametrize("path", READERS, ids=lambda path: path.name)
def test_readers_import_the_standard_library_and_packaging_only(path):
    roots = {name.split(".")[0] for name in imported(path)}
    assert roots <= sys.stdlib_module_names | {"packaging"}


@pytest.mark.parametrize("path", READERS, ids=lambda path: path.name)
def test_every_topic_has_its_data_and_every_file_its_reader(path):
    topics = {each.stem for each in DATA}
    assert topics <= {each.stem for each in READERS}
    assert path.stem in topics or path.stem.startswith("_") or path.stem in {"companions", "versions"}


@pytest.mark.parametrize("topic", TABLES)
def test_a_table_says_its_day_and_holds_one_list_of_the_files_name(topic):
    text = (FOLDER / f"{topic}.json").read_text()
    document = json.loads(text)
    assert re.fullmatch(r"\d{4}-\d{2}-\d{2}", document["state"])
    assert all(isinstance(row, dict) for row in document[topic])
    assert text == json.dumps(document, indent=1, ensure_ascii=False) + "\n"


@pytest.mark.parametrize("path", DATA, ids=lambda path: path.name)
def test_data_names_its_sources(path):
    document = json.loads(path.read_text())
    rows = document.get(path.stem, [])
    assert document.get("sources") or document.get("source") or all(row.get("source") or row["sources"] for row in rows)
    assert rows or document.get("source")


@pytest.mark.parametrize("path", DATA, ids=lambda path: path.name)
def test_data_names_no_address_but_pytorchs_own_index(path):
    assert set(re.findall(r"https?://([^/\s\"\\`]+)", path.read_text())) <= {"download.pytorch.org"}
    assert not re.search(r"/(?:root|work|home)/", path.read_text())


def test_importing_every_reader_reads_no_file_and_no_packaging():
    names = [f"mpsdoctor.knowledge.{path.stem}" for path in READERS if path.stem != "__init__"]
    program = (
        "import importlib, sys\n"
        "opened = []\n"
        "sys.addaudithook(lambda event, args: event == 'open' and opened.append(str(args[0])))\n"
        f"for name in {names}: importlib.import_module(name)\n"
        "assert not [path for path in opened if path.endswith('.json')], opened\n"
        "assert 'packaging' not in sys.modules and 'json' not in sys.modules\n"
    )
    ran = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
