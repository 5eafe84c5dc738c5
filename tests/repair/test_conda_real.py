"""conda plans carried out: real conda packages, linked into a real prefix, changed, proved and taken back."""

from __future__ import annotations

import hashlib
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import RECORDINGS, ROOT
from tests.repair.conda_tool import CACHE, CHANNEL, MACOS, package, tool
from tests.repair.conftest import Patient
from tests.repair.test_faults import KILLED, MACOS_13, killed_after
from tests.repair.wheels import TORCH, UV, Index, environment, fingerprint, run

ROSETTA = RECORDINGS / "05-m1pro-anaconda-x86_64-rosetta"
MINOR = f"{sys.version_info[0]}.{sys.version_info[1]}"
SITE = f"lib/python{MINOR}/site-packages"
BASE = os.path.realpath(sys.executable)


def module(name: str, version: str, text: str) -> dict[str, str]:
    info = f"{SITE}/{name}-{version}.dist-info"
    return {
        f"{SITE}/{name}/__init__.py": text.format(version=version),
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n",
        f"{info}/INSTALLER": "conda\n",
        f"{info}/RECORD": f"{name}/__init__.py,,\n",
    }


@pytest.fixture
def channel(tmp_path: Path) -> Path:
    """A channel called conda-forge, for both architectures. Its python is this one, as a venv has it."""
    folder = tmp_path / "conda-forge"
    settings = {"pyvenv.cfg": f"home = {Path(BASE).parent}\ninclude-system-site-packages = false\n"}
    for subdir in ("osx-64", "osx-arm64"):
        package(folder, subdir, "python", f"{MINOR}.9", files=settings, links={"bin/python": BASE})
        package(folder, subdir, "pandas", "2.3.3", files=module("pandas", "2.3.3", "x = 1\n"), depends=("python",))
        for version in ("2.8.0", "2.13.0", "2.14.1", "2.15.0"):
            package(folder, subdir, "pytorch", version, files=module("torch", version, TORCH), depends=("python",))
        for version, torch in (("0.23.0", "2.8"), ("0.28.0", "2.13"), ("0.29.1", "2.14")):
            files = module("torchvision", version, "__version__ = {version!r}\n")
            package(folder, subdir, "torchvision", version, files=files, depends=(f"pytorch {torch}.*",))
    return folder


@pytest.fixture
def conda(tmp_path: Path, index: Index, channel: Path, mpsdoctor: Callable[..., object]) -> Callable[..., Patient]:
    """Make a conda environment of an old root: `conda("pytorch=2.13.0", mac=...)`."""

    def make(*specs: str, mac: Path = MACOS_13, macos: str = "13.7", subdir: str = "osx-arm64") -> Patient:
        home, project, root = tmp_path / "home", tmp_path / "project", tmp_path / "old conda"
        home.mkdir()
        project.mkdir()
        command = tool(root / "bin" / "conda")
        env = environment(
            index, home, MPSDOCTOR_HOST_RECORDING=str(mac), PATH=f"{root}/bin:/usr/bin:/bin",
            **{CHANNEL: channel.as_uri(), MACOS: macos, CACHE: str(tmp_path / "conda cache")},
        )  # fmt: skip
        prefix = root / "envs" / "ml"
        argv = (str(command), "create", "--yes", "--prefix", str(prefix), f"python={MINOR}", *specs)
        run(*argv, env={**env, "CONDA_SUBDIR": subdir})
        return Patient(prefix, home, project, env, mpsdoctor)  # type: ignore[arg-type]

    return make


def records(prefix: Path) -> set[str]:
    return {path.name.removesuffix("-0.json") for path in prefix.glob("conda-meta/*.json")}


def test_conda_brings_the_torch_for_this_macos_and_undo_takes_it_back(conda: Callable[..., Patient]) -> None:
    mac = conda("pytorch=2.13.0", "torchvision", "pandas")
    before = fingerprint(mac.folder)
    assert "macos-too-old-for-torch" in mac.causes()
    fixed = mac.fix("--yes", "--format", "json")
    assert fixed.code == 0, fixed.out + fixed.err
    (argv,) = [step["argv"] for step in fixed.json["plan"]["fixes"][0]["steps"]]
    assert argv[1:4] == ["install", "--yes", "--prefix"]
    assert fixed.json["applied"]["changes"] == ["torch 2.13.0 -> 2.8.0", "torchvision 0.28.0 -> 0.23.0"]
    assert records(mac.folder) == {f"python-{MINOR}.9", "pytorch-2.8.0", "torchvision-0.23.0", "pandas-2.3.3"}
    assert mac.causes() == []
    assert mac.undo().code == 0
    assert fingerprint(mac.folder) == before


def test_the_explicit_list_of_before_is_kept_and_conda_can_read_it(
    conda: Callable[..., Patient], channel: Path
) -> None:
    mac = conda("pytorch=2.13.0", "pandas")
    assert mac.fix("--yes").code == 0
    import json

    (kept,) = (mac.home / "state").rglob("packages.json")
    data = json.loads(kept.read_text())
    first, *lines = data["conda_explicit"]
    assert first == "@EXPLICIT"
    names = set()
    for line in lines:
        url, _, md5 = line.partition("#")
        file = channel / url.partition("/conda-forge/")[2]
        assert hashlib.md5(file.read_bytes(), usedforsecurity=False).hexdigest() == md5
        names.add(file.name)
    assert names == {"pytorch-2.13.0-0.tar.bz2", "pandas-2.3.3-0.tar.bz2", f"python-{MINOR}.9-0.tar.bz2"}
    torch = next(one for one in data["distributions"] if one["name"] == "torch")
    assert (torch["version"], torch["installer"]) == ("2.13.0", "conda")
    assert len(torch["record_sha256"]) == 64


def test_a_conda_run_killed_after_every_journal_entry(conda: Callable[..., Patient]) -> None:
    mac = conda("pytorch=2.13.0", "torchvision")
    before = fingerprint(mac.folder)
    entries, code = 0, -signal.SIGKILL
    while code == -signal.SIGKILL:
        entries += 1
        code = killed_after(mac, entries, "fix", "--python", str(mac.python), "--yes")
        assert mac.undo().code == 0
        assert fingerprint(mac.folder) == before, f"after entry {entries}"
    assert (code, entries) == (0, 7)
    print(f"killed {entries - 1} of {entries - 1} times (conda): all restored")


# The same with another address of Miniforge's installer; after 0 entries nothing is killed.
MIRROR = "import sys, mpsdoctor.fixes.native as native; native.MINIFORGE = sys.argv.pop(1)\n" + KILLED
INSTALLER = """#!/bin/bash
set -eu
[ "$1 $2" = "-b -p" ]
[ ! -e "$3" ]
mkdir -p "$3/bin" "$3/conda-meta"
cat > "$3/bin/conda" <<'EOT'
{conda}EOT
chmod +x "$3/bin/conda"
{last}
"""


@pytest.fixture
def miniforge(tmp_path: Path, index: Index) -> Callable[..., str]:
    """Serve an installer and its checksum: `miniforge(last="exit 1", checksum="0" * 64)`; returns its address."""

    def publish(*, last: str = "", checksum: str | None = None) -> str:
        conda = tool(tmp_path / "for the installer" / "conda").read_text()
        data = INSTALLER.format(conda=conda, last=last).encode()
        (index.folder / "miniforge").mkdir(exist_ok=True)
        (index.folder / "miniforge" / "M.sh").write_bytes(data)
        stated = checksum or hashlib.sha256(data).hexdigest()
        (index.folder / "miniforge" / "M.sh.sha256").write_text(f"{stated}  M.sh\n")
        return f"{index.url}miniforge/M.sh"

    return publish


def mirrored(mac: Patient, url: str, *command: str, entries: int = 0) -> subprocess.Popen[str]:
    argv = [sys.executable, "-c", MIRROR, url, str(entries), "fix", "--python", str(mac.python), *command]
    environ, pipe = {**os.environ, **mac.env, "PYTHONPATH": str(ROOT)}, subprocess.PIPE
    return subprocess.Popen(
        argv, cwd=mac.project, env=environ, stdin=subprocess.DEVNULL, stdout=pipe, stderr=pipe, text=True
    )


def rosetta(conda: Callable[..., Patient]) -> Patient:
    return conda("pytorch=2.13.0", "pandas", mac=ROSETTA, macos="14.5", subdir="osx-64")


def whole(mac: Patient) -> dict[str, tuple[object, ...]]:
    """Old conda, project and home; what uv, pip and mpsdoctor keep for themselves left out."""
    found = fingerprint(mac.folder.parent.parent, mac.project, mac.home)
    own = tuple(str(mac.home / name) for name in ("state", "uv-cache"))
    return {path: seen for path, seen in found.items() if not path.startswith(own)}


def test_miniforge_is_installed_beside_the_old_conda_and_taken_back(
    conda: Callable[..., Patient], miniforge: Callable[..., str]
) -> None:
    mac = rosetta(conda)
    before, old = whole(mac), fingerprint(mac.folder.parent.parent)
    assert "x86-python-under-rosetta" in mac.causes()
    out, err = (done := mirrored(mac, miniforge(), "--yes", "--format", "json")).communicate(timeout=120)
    assert done.returncode == 0, out + err
    new = mac.home / "miniforge3" / "envs" / "ml"
    assert records(new) == {f"python-{MINOR}.9", "pytorch-2.14.1", "pandas-2.3.3"}
    assert all('"subdir":"osx-arm64"' in path.read_text().replace(" ", "") for path in new.glob("conda-meta/*.json"))
    assert fingerprint(mac.folder.parent.parent) == old
    assert mac.undo().code == 0
    assert whole(mac) == before


@pytest.mark.parametrize(("last", "checksum", "said"), [("", "0" * 64, "checksum"), ("exit 3", None, "exit")])
def test_an_installer_that_is_another_or_fails_leaves_nothing(
    last: str, checksum: str | None, said: str, conda: Callable[..., Patient], miniforge: Callable[..., str]
) -> None:
    mac = rosetta(conda)
    before = whole(mac)
    out, err = (done := mirrored(mac, miniforge(last=last, checksum=checksum), "--yes")).communicate(timeout=120)
    assert done.returncode == 4, out + err
    assert said in out
    assert "everything was put back" in out
    assert whole(mac) == before


def test_killed_in_the_middle_of_the_download(
    conda: Callable[..., Patient], miniforge: Callable[..., str], index: Index
) -> None:
    mac = rosetta(conda)
    before, url = whole(mac), miniforge()
    index.delay = 3.0
    process = mirrored(mac, url, "--yes")
    assert process.stderr is not None
    while "step 1" not in process.stderr.readline():
        pass
    process.kill()
    process.communicate()
    index.delay = 0.0
    assert mac.undo().code == 0
    assert whole(mac) == before


def test_a_miniforge_run_killed_after_every_journal_entry(
    conda: Callable[..., Patient], miniforge: Callable[..., str]
) -> None:
    mac = rosetta(conda)
    before, url = whole(mac), miniforge()
    entries, code = 0, -signal.SIGKILL
    while code == -signal.SIGKILL:
        entries += 1
        process = mirrored(mac, url, "--yes", entries=entries)
        process.communicate(timeout=120)
        code = process.returncode
        assert mac.undo().code == 0
        assert whole(mac) == before, f"after entry {entries}"
    assert (code, entries) == (0, 11)
    print(f"killed {entries - 1} of {entries - 1} times (Miniforge): all restored")


def test_pips_torch_over_condas_becomes_one_and_both_come_back(conda: Callable[..., Patient]) -> None:
    mac = conda("pytorch=2.13.0", "pandas", mac=RECORDINGS / "03-m4max-macos26", macos="26.4")
    mac.env["PATH"] = f"{mac.env['PATH']}:{Path(UV).parent}"
    run(UV, "pip", "install", "--python", str(mac.python), "torch==2.14.1", env=mac.env)
    before = fingerprint(mac.folder)
    assert mac.causes() == ["mixed-package-sources"]
    fixed = mac.fix("--yes", "--format", "json")
    assert fixed.code == 0, fixed.out + fixed.err
    commands = [step["argv"][1:3] for step in fixed.json["plan"]["fixes"][0]["steps"]]
    assert commands == [["remove", "--yes"], ["pip", "install"]]
    assert "pytorch-2.13.0" not in records(mac.folder)
    assert mac.causes() == []
    assert mac.undo().code == 0
    assert fingerprint(mac.folder) == before
