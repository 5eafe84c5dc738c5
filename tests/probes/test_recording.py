"""Recording this machine for real and playing it again; recordings that were damaged, forged or made to harm."""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mpsdoctor.diagnosis import exit_code
from mpsdoctor.facts.redaction import Redactor
from mpsdoctor.observe import observe
from mpsdoctor.probes.answers import MARK
from mpsdoctor.probes.choice import Target
from mpsdoctor.probes.recording import RecordingRunner
from mpsdoctor.probes.replay import NotARecording, ReplayRunner
from mpsdoctor.probes.runner import LiveRunner
from mpsdoctor.registry import load_registry
from mpsdoctor.report.json_format import format_json
from mpsdoctor.report.model import make_report
from mpsdoctor.report.source import Source
from mpsdoctor.report.text import Style, format_text
from tests.broken_torch import SOUND, make_environment
from tests.conftest import RECORDINGS, Ran
from tests.strategies import json_values

ROSETTA = RECORDINGS / "05-m1pro-anaconda-x86_64-rosetta"
NAMES = ("jürgen", "ju\u0308rgen", "j\\u00fcrgen", "ju\\u0308rgen", "j%C3%BCrgen", "Müller", "M\\u00fcller")


def test_a_recording_of_this_machine_replays_to_what_check_saw_live(
    tmp_path: Path, mpsdoctor: Callable[..., Ran]
) -> None:
    home = tmp_path / "people" / "jürgen Müller"
    python = make_environment(home / "env", SOUND)
    (home / "torch.py").write_text("raise ImportError\n")
    env = {"HOME": str(home), "USER": "jürgen Müller", "LOGNAME": "jürgen Müller", "PYTORCH_X": f"{home}/x"}
    recorded = mpsdoctor("record", str(tmp_path / "rec"), "--python", str(python), env=env, cwd=tmp_path)
    live = mpsdoctor("check", "--python", str(python), "--format", "json", env=env, cwd=tmp_path)
    played = mpsdoctor("check", "--replay", str(tmp_path / "rec"), "--format", "json", env=env)
    assert (recorded.code, live.code) == (0, played.code)
    assert "home" in recorded.out
    facts, again = live.json["facts"], played.json["facts"]
    for found in (facts, again):  # what differs from run to run, and how it was asked for
        found["interpreter"].pop("chosen_by")
        found["torch"].pop("import_seconds")
    assert again == facts
    assert played.json["diagnosis"] == live.json["diagnosis"]
    assert again["torch"]["imported"] is True
    assert again["environment"]["variables"]["PYTORCH_X"] == "~/x"
    for file in (tmp_path / "rec").iterdir():
        assert not [name for name in NAMES if name.lower() in file.read_text().lower()], file.name


@pytest.mark.parametrize("place", ["full", "file", "below a file"])
def test_record_does_not_touch_what_is_there(place: str, tmp_path: Path, mpsdoctor: Callable[..., Ran]) -> None:
    target = tmp_path / "target"
    if place == "full":
        target.mkdir()
        (target / "thesis.txt").write_text("mine")
    else:
        target.write_text("mine")
    ran = mpsdoctor("record", str(target / "rec" if place == "below a file" else target), "--no-import")
    assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)
    assert (target / "thesis.txt" if place == "full" else target).read_text() == "mine"


def replay(folder: Path) -> tuple[str, int]:
    """Play a recording through every layer; return the JSON report and the exit status."""
    runner = ReplayRunner(folder)
    facts, problems = observe(runner, Target("python", "the recording"))
    source = Source("replay", runner.name)
    found = [*runner.problems, *problems]
    report = make_report(facts, source, load_registry(), today=date(2026, 12, 1), problems=tuple(found))
    for line in format_text(report, Style(80, verbose=True)):
        assert line.plain.isprintable()
    text = format_json(report, Redactor())
    assert "could not be read: " not in text  # no reader broke
    json.loads(text, parse_constant=pytest.fail)
    return text, exit_code(report.diagnosis, facts, fail_on="error", expect="any")


Profile = dict[str, Any]


def set_all(profile: Profile, key: str, value: object) -> None:
    for command in profile["commands"]:
        command[key] = value


DAMAGE: dict[str, Callable[[Profile], object]] = {
    "no commands": lambda p: p.pop("commands"),
    "commands is a number": lambda p: p.update(commands=7),
    "commands is an object": lambda p: p.update(commands={"argv": ["uname"]}),
    "commands of every type": lambda p: p.update(commands=[None, 1, "x", [], {}, {"argv": []}, {"argv": [1]}]),
    "argv is text": lambda p: set_all(p, "argv", "uname -a"),
    "argv is empty text": lambda p: set_all(p, "argv", [""]),
    "rc is text": lambda p: set_all(p, "rc", "0"),
    "rc is true": lambda p: set_all(p, "rc", True),
    "rc is enormous": lambda p: set_all(p, "rc", 10**400),
    "stdout is missing": lambda p: set_all(p, "stdout", "no_such_file.txt"),
    "stdout is a list": lambda p: set_all(p, "stdout", ["a"]),
    "stdout has a NUL": lambda p: set_all(p, "stdout", "a\0b"),
    "stdout is too long a name": lambda p: set_all(p, "stdout", "a" * 5000),
    "stdout is the folder": lambda p: set_all(p, "stdout", "."),
    "stdout is the folder above": lambda p: set_all(p, "stdout", ".."),
    "end without how": lambda p: set_all(p, "end", {"how": None}),
    "end of wrong types": lambda p: set_all(p, "end", {"how": 3, "code": "x", "seconds": float("nan")}),
    "end is a list": lambda p: set_all(p, "end", []),
    "sysctl is a list": lambda p: p.update(sysctl=["hw.model"]),
    "sysctl of wrong types": lambda p: p.update(sysctl={"hw.memsize": 5, "hw.model": None, "hw.ncpu": []}),
    "env of wrong types": lambda p: p.update(env={"PATH": 3, "CI": None}),
    "files of wrong types": lambda p: p.update(files={"/proc/version": 3, "/proc/cpuinfo": None}),
    "name of wrong type": lambda p: p.update(profile={"a": ["b"]}),
    "name with escapes": lambda p: p.update(profile="\x1b[31m\x07\u202e" + "x" * 10_000),
}


@pytest.mark.parametrize("damage", sorted(DAMAGE))
def test_a_damaged_profile_makes_facts_unknown_and_nothing_else(damage: str, tmp_path: Path) -> None:
    folder = tmp_path / "recording"
    shutil.copytree(ROSETTA, folder)
    profile = json.loads((folder / "profile.json").read_text())
    DAMAGE[damage](profile)
    (folder / "profile.json").write_text(json.dumps(profile))
    assert replay(folder)[1] in (0, 1, 3)


def harm(folder: Path, kind: str) -> None:
    """Put something that is no answer in the place of the answers of Python and sysctl."""
    for name in ("python_facts.json", "sysctl.txt", "torch_facts.json"):
        path = folder / name
        path.unlink()
        if kind == "folder":
            path.mkdir()
        elif kind == "pipe":
            os.mkfifo(path)
        elif kind == "sparse gigabyte":
            path.touch()
            os.truncate(path, 1 << 30)
        elif kind == "noise":
            path.write_bytes(bytes(range(256)) * 4000)
        elif kind == "deep":
            path.write_text('{"a":' * 100_000)
        elif kind == "loop":
            path.symlink_to(name)
        elif kind == "link outside":
            path.symlink_to(folder.parent / "secret.json")


@pytest.mark.parametrize("kind", ["folder", "pipe", "sparse gigabyte", "noise", "deep", "loop", "link outside", "gone"])
def test_a_harmful_file_in_a_recording_is_not_read_and_told(kind: str, tmp_path: Path) -> None:
    folder = tmp_path / "recording"
    shutil.copytree(ROSETTA, folder)
    (tmp_path / "secret.json").write_text('{"sys.executable": "/secret/python", "sys.prefix": "/secret"}')
    harm(folder, kind)
    text, code = replay(folder)
    assert code in (0, 1, 3)
    assert "/secret" not in text
    if kind not in ("sparse gigabyte", "noise", "deep"):  # these are files, and hold no answer
        assert "missing from the recording" in text


@pytest.mark.parametrize("name", ["../secret.json", "{folder}/secret.json", "x/../../secret.json", "/etc/passwd"])
def test_a_path_that_leads_out_of_the_recording_is_not_followed(name: str, tmp_path: Path) -> None:
    folder = tmp_path / "recording"
    shutil.copytree(ROSETTA, folder)
    (tmp_path / "secret.json").write_text('{"sys.executable": "/secret/python", "sys.prefix": "/secret"}')
    profile = json.loads((folder / "profile.json").read_text())
    set_all(profile, "stdout", name.format(folder=tmp_path))
    profile["files"] = {"/proc/version": name.format(folder=tmp_path)}
    (folder / "profile.json").write_text(json.dumps(profile))
    text, _ = replay(folder)
    assert "/secret" not in text
    assert "root:" not in text


@pytest.mark.parametrize(
    "content",
    [b"", b" ", b"[]", b"3", b"null", b"{", b"\xff\xfe", b"\0" * 100, b"[" * 100_000, b'{"a":' * 100_000, b"1" * 5000],
)
def test_what_is_no_profile_is_one_plain_line(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "profile.json").write_bytes(content)
    with pytest.raises(NotARecording, match=r"^[^\n]{10,300}$"):
        ReplayRunner(tmp_path)


@pytest.mark.parametrize("kind", ["folder", "pipe", "gigabyte", "loop", "gone"])
def test_a_profile_that_is_no_file_is_one_plain_line(kind: str, tmp_path: Path, mpsdoctor: Callable[..., Ran]) -> None:
    path = tmp_path / "profile.json"
    if kind == "folder":
        path.mkdir()
    elif kind == "pipe":
        os.mkfifo(path)
    elif kind == "gigabyte":
        path.touch()
        os.truncate(path, 1 << 30)
    elif kind == "loop":
        path.symlink_to("profile.json")
    ran = mpsdoctor("check", "--replay", str(tmp_path), timeout=20)
    assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)


def mutated(document: Any, draw: Callable[[st.SearchStrategy[Any]], Any]) -> Any:
    """Replace one value, anywhere in the document, by arbitrary JSON."""
    parent, key = None, None
    node = document
    while isinstance(node, (dict, list)) and node and (parent is None or draw(st.integers(0, 3))):
        parent, key = node, draw(st.sampled_from(sorted(node) if isinstance(node, dict) else range(len(node))))
        node = parent[key]
    if parent is not None:
        parent[key] = draw(json_values() | st.sampled_from([float("nan"), float("inf"), 10**400, "\ud800", "\0"]))
    return document


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A recording in our own format: with the answers of our readers and marked lines."""
    folder = tmp_path_factory.mktemp("own") / "recording"
    runner = RecordingRunner(LiveRunner({"CI": "1"}))
    observe(runner, Target(sys.executable, "a test"), import_torch=False)
    runner.save(folder, variables={"CI": "1"}, redactor=Redactor(), created="2026-12-01")
    return folder


def mutated_text(text: str, draw: Callable[[st.SearchStrategy[Any]], Any]) -> str:
    """Mutate what is JSON, be it the whole text or the last marked line."""
    before, mark, answer = text.rpartition(MARK.decode())
    try:
        document = json.loads(answer)
    except ValueError:
        return text
    return before + mark + json.dumps(mutated(document, draw)) + "\n"


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_no_mutation_of_a_recording_breaks_the_doctor(data: st.DataObject, own: Path, tmp_path: Path) -> None:
    base = data.draw(st.sampled_from([own, own, RECORDINGS / "02-m2pro-macos15-miniforge", ROSETTA]))
    shutil.rmtree(tmp_path)
    shutil.copytree(base, tmp_path)
    answers = [path for path in sorted(tmp_path.iterdir()) if "probe" in path.name or path.suffix == ".json"]
    for path in data.draw(st.lists(st.sampled_from(answers), min_size=1, max_size=4)):
        path.write_text(mutated_text(path.read_text(), data.draw))
    try:
        _, code = replay(tmp_path)
    except NotARecording:
        return
    assert code in (0, 1, 3)
