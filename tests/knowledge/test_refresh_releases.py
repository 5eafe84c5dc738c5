"""The refresh script against a made-up package index that really answers over HTTP."""

import copy
import http.server
import importlib.util
import json
import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import ClassVar

import pytest

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "scripts" / "refresh_releases.py"
TABLE = json.loads((ROOT / "mpsdoctor" / "knowledge" / "releases.json").read_text())
SPEC = importlib.util.spec_from_file_location("refresh_releases", SCRIPT)
refresh = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(refresh)
OTHER_FILES = [
    {"filename": "torch-2.15.0-cp312-cp312-manylinux_2_28_x86_64.whl", "upload-time": "2026-10-28T23:00:00Z"},
    {"filename": "torch-2.14.0rc1-cp312-cp312-macosx_14_0_arm64.whl", "upload-time": "2026-08-01T00:00:00Z"},
    {"filename": "torch-1.11.0-cp39-none-macosx_11_0_arm64.whl", "upload-time": "2022-03-10T00:00:00Z"},
    {"filename": "torch-2.15.0-cp39-cp39-macosx_14_0_arm64.whl", "upload-time": "2026-10-01T00:00:00Z", "yanked": "x"},
    {"filename": "torch-2.15.0.tar.gz", "upload-time": "2026-10-28T00:00:00Z"},
    {"filename": "torchvision-0.1-py3-none-any.whl", "upload-time": "2026-10-28T00:00:00Z"},
]


def wheel(version, tag, day, requires=">=3.11"):
    return {
        "filename": f"torch-{version}-{tag}.whl",
        "upload-time": f"{day}T12:00:00Z",
        "requires-python": requires,
        "yanked": False,
    }


def files_of(rows):
    return [
        wheel(row["version"], tag, row["date"], row["requires_python"])
        for row in rows
        for tag in (*row["arm64_tags"], *row["x86_64_tags"])
    ]


@pytest.fixture
def index():
    """Serves ``answer.files`` as the listing of torch; the address is ``answer.url``."""

    class Answer(http.server.BaseHTTPRequestHandler):
        files: ClassVar = [*files_of(TABLE["releases"]), *OTHER_FILES]
        body = None
        asked: ClassVar = []

        def do_GET(self):
            Answer.asked.append((self.path, self.headers["Accept"]))
            text = Answer.body or json.dumps({"meta": {"api-version": "1.1"}, "name": "torch", "files": Answer.files})
            self.send_response(200 if self.path == "/simple/torch/" else 404)
            self.end_headers()
            self.wfile.write(text.encode())

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Answer)
    Answer.url = f"http://127.0.0.1:{server.server_port}/simple"
    serving = threading.Thread(target=server.serve_forever)
    serving.start()
    yield Answer
    server.shutdown()
    serving.join()
    server.server_close()


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "releases.json"
    path.write_text(json.dumps(TABLE, indent=1, ensure_ascii=False) + "\n")
    return path


def run(index, table, *more):
    return refresh.main(["--index", index.url, "--file", str(table), *more])


def test_the_table_in_the_package_is_in_the_scripts_own_format(index, table, capsys):
    packaged = (ROOT / "mpsdoctor" / "knowledge" / "releases.json").read_bytes()
    assert run(index, table, "--check") == 0
    assert run(index, table) == 0
    assert table.read_bytes() == packaged
    assert capsys.readouterr().out == ""
    assert index.asked[0] == ("/simple/torch/", refresh.MEDIA_TYPE)


def test_a_new_release_gets_its_wheels_and_leaves_the_rest_to_people(index, table, capsys):
    index.files = [
        *index.files,
        wheel("2.16.0", "cp312-cp312-macosx_15_0_arm64", "2027-01-20"),
        wheel("2.16.0", "cp39-none-macosx_15_0_arm64", "2027-01-20"),
        wheel("2.16.0", "cp315-cp315t-macosx_15_0_arm64", "2027-01-19"),
    ]
    assert run(index, table, "--check") == 1
    assert json.loads(table.read_text()) == TABLE
    assert run(index, table) == 0
    written = json.loads(table.read_text())["releases"]
    assert written[:-1] == TABLE["releases"]
    assert written[-1]["date"] == "2027-01-19"
    assert written[-1]["arm64_pythons"] == ["3.9", "3.12", "3.15t"]
    assert written[-1]["x86_64_tags"] == []
    assert written[-1]["mps_floor"] is None
    assert list(written[-1]) == list(TABLE["releases"][0])
    assert "+ 2.16.0: new" in capsys.readouterr().out
    assert run(index, table, "--check") == 0


def test_wheels_are_corrected_and_hand_checked_columns_stay(index, table, capsys):
    stale = copy.deepcopy(TABLE)
    row = next(row for row in stale["releases"] if row["version"] == "2.8.0")
    row |= {"arm64_tags": [], "arm64_pythons": ["3.1"], "date": "2020-01-01", "requires_python": None}
    row |= {"mps_floor": "99.0", "numpy2_abi": False, "notes": ["by hand"]}
    table.write_text(json.dumps(stale))
    assert run(index, table, "--check") == 1
    assert run(index, table) == 0
    fixed = next(row for row in json.loads(table.read_text())["releases"] if row["version"] == "2.8.0")
    right = next(row for row in TABLE["releases"] if row["version"] == "2.8.0")
    assert {name: fixed[name] for name in refresh.FROM_INDEX} == {name: right[name] for name in refresh.FROM_INDEX}
    assert (fixed["mps_floor"], fixed["numpy2_abi"], fixed["notes"]) == ("99.0", False, ["by hand"])
    assert capsys.readouterr().out.count("~ 2.8.0.") == 8  # four columns, told twice


def test_a_release_that_left_the_index_is_kept_and_not_called_stale(index, table, capsys):
    index.files = [file for file in index.files if "torch-1.12.0-" not in file["filename"]]
    assert run(index, table, "--check") == 0
    assert run(index, table) == 0
    assert json.loads(table.read_text()) == TABLE
    assert "? 1.12.0: no longer on the index" in capsys.readouterr().out


@pytest.mark.parametrize(
    "body",
    [
        "<html>simple index</html>",
        "[]",
        '{"files": []}',
        '{"nothing": 1}',
        '{"files": [{"filename": "torch-2.15.0-x"}]}',
    ],
)
def test_an_answer_in_another_form_changes_nothing(index, table, capsys, body):
    index.body = body
    assert run(index, table) == 2
    assert json.loads(table.read_text()) == TABLE
    assert capsys.readouterr().err.startswith("refresh_releases: ")


def test_an_index_without_upload_times_is_refused(index, table):
    index.files = [{**file, "upload-time": None} for file in index.files]
    assert run(index, table) == 2


@pytest.mark.parametrize("address", ["http://127.0.0.1:1/simple", "ftp://127.0.0.1/simple", "file:///etc", "nonsense"])
def test_an_index_that_does_not_answer(table, address):
    assert refresh.main(["--index", address, "--file", str(table), "--timeout", "5"]) == 2


def test_a_missing_page_is_no_answer(index, table):
    assert refresh.main(["--index", f"{index.url}/elsewhere", "--file", str(table)]) == 2


@pytest.mark.parametrize("how", ["environment", "configuration", "nothing"])
def test_the_index_is_the_one_that_pip_uses(index, table, tmp_path, how):
    """Run as people run it, in an environment whose pip knows the index in one way or in none."""
    configuration = tmp_path / "pip.conf"
    configuration.write_text(f"[global]\nindex-url = {index.url}\n" if how == "configuration" else "")
    environment = {key: value for key, value in os.environ.items() if not key.startswith("PIP_")}
    environment |= {"PYTHONPATH": str(ROOT), "PIP_CONFIG_FILE": str(configuration)}
    if how == "environment":
        environment["PIP_INDEX_URL"] = index.url
    if how == "nothing":  # os.devnull makes pip ignore every configuration file
        environment["PIP_CONFIG_FILE"] = os.devnull
    ran = subprocess.run(
        [sys.executable, str(SCRIPT), "--file", str(table), "--check"], env=environment, capture_output=True, text=True
    )
    assert (ran.returncode, ran.stdout) == ((2, "") if how == "nothing" else (0, "")), ran.stderr
    assert ("pip has no index configured" in ran.stderr) == (how == "nothing")


def test_no_host_is_written_into_the_script():
    text = SCRIPT.read_text()
    assert "http://" not in text.replace('"http://", "https://"', "")
    assert "://" not in text.replace('"http://", "https://"', "")
