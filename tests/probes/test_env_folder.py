"""`--env PATH`: what the files of an environment tell, also of a Mac's on another machine."""

from __future__ import annotations

import json
import os
import platform
import sys
import venv
from pathlib import Path

import pytest

from mpsdoctor.facts import Facts
from mpsdoctor.probes import env_folder
from mpsdoctor.probes.env_folder import read_env
from mpsdoctor.probes.torch_version import read_torch_version
from tests import macho_bytes as make
from tests.conftest_wheels import MacWheels, mac_wheels

__all__ = ["mac_wheels"]

RELEASES = {
    row["version"]: row
    for row in json.loads((Path(__file__).parents[1] / "knowledge" / "data" / "torch_releases.json").read_text())
}
ARM, INTEL, LINUX = make.library("arm64"), make.library("x86_64"), make.elf()
CFG = """home = /opt/homebrew/opt/python@3.12/bin
implementation = CPython
version_info = 3.12.11
include-system-site-packages = false
"""


@pytest.fixture
def this_system(monkeypatch: pytest.MonkeyPatch):
    """Say which system the reader runs on."""
    return lambda name: monkeypatch.setattr(env_folder, "_THIS_SYSTEM", name)


def put(path: Path, content: bytes | str = ARM) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def mac_venv(folder: Path, wheels: MacWheels, *keys: str) -> Path:
    """A venv as uv makes it on a Mac, without its base interpreter: that stays behind when a folder is copied."""
    put(folder / "pyvenv.cfg", CFG)
    put(folder / "bin" / "activate", "VIRTUAL_ENV='/Users/someone/proj/.venv'\n")
    (folder / "bin" / "python").symlink_to("/opt/homebrew/opt/python@3.12/bin/python3.12")
    (folder / "bin" / "python3").symlink_to("python")
    wheels.site_packages(folder / "lib" / "python3.12" / "site-packages", keys)
    return folder


def test_a_mac_venv_on_any_machine(tmp_path: Path, mac_wheels: MacWheels, this_system):
    this_system("Linux")
    root = mac_venv(tmp_path / "venv", mac_wheels, "torch-2.14.1", "torchvision-0.29.1", "numpy-2.3.5")
    facts = read_env(root)
    assert facts.host.system == "Darwin"
    assert facts.host.source("system").startswith(
        "a Mach-O tree, as lib/python3.12/site-packages/torch/lib/libtorch_cpu"
    )
    assert facts.host.machine is None
    interpreter = facts.interpreter
    assert (interpreter.version, interpreter.minor, interpreter.implementation) == ("3.12.11", "3.12", "cpython")
    assert (interpreter.venv, interpreter.conda, interpreter.prefix) == (True, False, str(root))
    assert interpreter.venv_home == "/opt/homebrew/opt/python@3.12/bin"
    assert interpreter.base_exists is None, "another machine's base cannot be looked for here"
    assert interpreter.binary_architectures is None
    assert (interpreter.vendor, interpreter.machine) == (None, None)
    assert interpreter.source("version") == "pyvenv.cfg"
    torch = facts.torch
    assert (torch.version, torch.git_version) == ("2.14.1", RELEASES["2.14.1"]["git_version"])
    assert (torch.built, torch.cuda, torch.debug, torch.imported) == (True, None, False, None)
    assert torch.source("version") == "lib/python3.12/site-packages/torch/version.py"
    assert torch.source("built") == "what lib/python3.12/site-packages/torch/lib/libtorch_cpu.dylib links"
    assert facts.packages.version("torchvision") == "0.29.1"
    assert facts.packages.source("distributions") == "metadata in lib/python3.12/site-packages"
    assert facts.conda.present is False
    assert facts.binaries.by_role("interpreter") == ()
    assert Facts.from_json(json.loads(json.dumps(facts.to_json()))) == facts


# The table has the arm64 wheels; the numbers of the x86_64 one are those of its own header.
@pytest.mark.parametrize(
    ("key", "release", "architecture", "minimum", "sdk", "openmp"),
    [
        *(
            (
                f"torch-{v}",
                v,
                "arm64",
                RELEASES[v]["dylib_minos"],
                RELEASES[v]["dylib_sdk"],
                RELEASES[v]["bundled_openmp"],
            )
            for v in ("2.9.1", "2.14.1")
        ),
        ("torch-2.2.2-x86_64", "2.2.2", "x86_64", "10.13", "12.3", "torch/lib/libiomp5.dylib"),
    ],
)
def test_an_unpacked_wheel_agrees_with_the_table_of_releases(
    mac_wheels: MacWheels, key: str, release: str, architecture: str, minimum: str, sdk: str, openmp: str
):
    root = mac_wheels[key]
    facts = read_env(root)
    core = facts.binaries.by_role("torch")[0]
    assert core.path == str(root / "torch" / "lib" / "libtorch_cpu.dylib")
    assert (core.architectures, core.minimum_macos, core.sdk) == ((architecture,), minimum, sdk)
    assert facts.torch.built is RELEASES[release][f"mps_built_{architecture}"] is True
    assert (facts.torch.version, facts.torch.git_version) == (release, RELEASES[release]["git_version"])
    assert openmp in {os.path.relpath(binary.path, root) for binary in facts.binaries.by_role("openmp")}
    assert facts.host.system == "Darwin"
    python = "3.11" if architecture == "x86_64" else "3.12"
    assert facts.interpreter.version == python
    assert facts.interpreter.source("version").startswith("torch/_C.cpython-3")
    assert (facts.interpreter.venv, facts.interpreter.conda, facts.interpreter.prefix) == (None, None, None)
    assert facts.conda.present is None, "a site-packages folder does not tell what is around it"


def test_the_reader_knows_its_own_system():
    assert platform.system() == env_folder._THIS_SYSTEM


def test_wheels_of_two_architectures_side_by_side(tmp_path: Path, mac_wheels: MacWheels):
    facts = read_env(mac_wheels.site_packages(tmp_path / "flat", ["torch-2.14.1", "numpy-2.3.5-x86_64"]))
    by_role = {binary.role: binary.architectures for binary in facts.binaries.files or ()}
    assert (by_role["torch"], by_role["numpy"]) == (("arm64",), ("x86_64",))


def test_a_link_to_this_machines_python_is_not_the_mac_venvs_python(tmp_path: Path, mac_wheels: MacWheels, this_system):
    this_system("Linux")
    root = mac_venv(tmp_path / "venv", mac_wheels, "numpy-2.3.5")
    (root / "bin" / "python").unlink()
    (root / "bin" / "python").symlink_to(put(tmp_path / "usr" / "bin" / "python3.11", LINUX))
    facts = read_env(root)
    assert facts.host.system == "Darwin"
    assert facts.binaries.by_role("interpreter") == ()
    assert facts.interpreter.binary_architectures is None


def test_an_interpreter_inside_decides(tmp_path: Path, this_system):
    this_system("Linux")
    put(tmp_path / "bin" / "python3.12", make.universal({"x86_64": INTEL, "arm64": ARM}))
    (tmp_path / "bin" / "python3").symlink_to("python3.12")
    for number in range(5):
        put(tmp_path / "lib" / "python3.12" / "site-packages" / f"linux{number}.so", LINUX)
    facts = read_env(tmp_path)
    assert facts.host.system == "Darwin"
    assert facts.interpreter.binary_architectures == ("x86_64", "arm64")
    assert facts.interpreter.source("binary_architectures") == "the header of bin/python3.12"


@pytest.mark.parametrize(
    ("files", "system"),
    [
        ([ARM], "Darwin"),
        ([LINUX], "Linux"),
        ([ARM, ARM, LINUX], "Darwin"),
        ([ARM, LINUX], None),
        ([b"text"], None),
        ([], None),
    ],
)
def test_the_system_by_most_files(tmp_path: Path, files: list[bytes], system: str | None):
    site = tmp_path / "lib" / "python3.12" / "site-packages"
    site.mkdir(parents=True)
    for number, content in enumerate(files):
        put(site / f"module{number}.so", content)
    host = read_env(tmp_path).host
    assert host.system == system
    assert bool(host.source("system")) is (system is not None)


def test_our_own_machines_venv(tmp_path: Path):
    """A venv made here by the standard library: its base exists, and is told."""
    venv.create(tmp_path / "venv", symlinks=True, with_pip=False)
    facts = read_env(tmp_path / "venv")
    assert facts.interpreter.version == sys.version.split()[0].rstrip("+")
    assert facts.interpreter.base_exists is True
    assert facts.interpreter.binary_architectures
    assert facts.packages.distributions == ()
    assert (facts.torch.version, facts.torch.built) == (None, None)


@pytest.mark.parametrize("base_is_here", [True, False])
def test_a_venv_that_sees_the_packages_of_its_base(tmp_path: Path, base_is_here: bool):
    base, root = tmp_path / "base", tmp_path / "venv"
    put(base / "lib" / "python3.12" / "site-packages" / "torch-2.9.1.dist-info" / "METADATA", "Name: torch\n")
    put(root / "lib" / "python3.12" / "site-packages" / "six-1.0.dist-info" / "METADATA", "Name: six\n")
    home = base if base_is_here else Path("/opt/elsewhere")
    put(root / "pyvenv.cfg", f"home = {home}/bin\nversion = 3.12.1\ninclude-system-site-packages = True\n")
    put(root / "bin" / "activate", f'VIRTUAL_ENV="{root}"\n')
    packages = read_env(root).packages
    assert [d.name for d in packages.distributions or ()] == (["six", "torch"] if base_is_here else ["six"])
    assert ("which is not here" in packages.source("distributions")) is not base_is_here


def test_a_venv_whose_python_leads_nowhere_though_the_folder_of_its_base_is_there(tmp_path: Path):
    root = tmp_path / "venv"
    venv.create(root, symlinks=True, with_pip=False)
    for link in (root / "bin").glob("python*"):
        link.unlink()
        link.symlink_to("/opt/gone/bin/python3")
    interpreter = read_env(root).interpreter
    assert interpreter.base_exists is False
    assert interpreter.source("base_exists") == "where bin/python3 leads"


def test_a_venv_whose_base_is_gone(tmp_path: Path):
    root = tmp_path / "venv"
    venv.create(root, symlinks=True, with_pip=False)
    cfg = (root / "pyvenv.cfg").read_text()
    home = next(line for line in cfg.splitlines() if line.startswith("home"))
    (root / "pyvenv.cfg").write_text(cfg.replace(home, "home = /opt/gone/bin"))
    (root / "bin" / "python3").unlink()
    (root / "bin" / "python3").symlink_to("/opt/gone/bin/python3")
    facts = read_env(root)
    assert facts.interpreter.base_exists is False
    assert [binary.kind for binary in facts.binaries.by_role("interpreter")] == ["missing"]
    copied = tmp_path / "copied"
    root.rename(copied)
    assert read_env(copied).interpreter.base_exists is None, "a copy may come from another machine"
    assert read_env(copied).binaries.by_role("interpreter") == ()


def test_a_conda_prefix(tmp_path: Path):
    record = json.dumps({"channel": "https://conda.example.org/conda-forge/osx-arm64", "subdir": "osx-arm64"})
    for name in ("python-3.13.3-h81fe080_101_cp313", "pytorch-2.7.1-cpu_generic_py313_h510b526_1"):
        put(tmp_path / "conda-meta" / f"{name}.json", record)
    put(tmp_path / ".condarc", "subdir: osx-64\n")
    put(tmp_path / "bin" / "python3.13")
    (tmp_path / "bin" / "python").symlink_to("python3.13")
    put(tmp_path / "lib" / "libtorch_cpu.dylib", make.library(libraries=make.METAL))
    site = tmp_path / "lib" / "python3.13" / "site-packages"
    put(site / "torch" / "version.py", "__version__ = '2.7.1'\n")
    put(site / "torch" / "_C.cpython-313-darwin.so")
    (tmp_path / "lib" / "python3.11" / "site-packages").mkdir(parents=True)
    facts = read_env(tmp_path)
    assert (facts.interpreter.version, facts.interpreter.free_threaded) == ("3.13.3", False)
    assert facts.interpreter.source("version") == "conda-meta/python-3.13.3-h81fe080_101_cp313.json"
    assert facts.interpreter.site_packages == (str(site),)
    assert (facts.interpreter.conda, facts.interpreter.venv) == (True, False)
    assert facts.interpreter.binary_architectures == ("arm64",)
    assert (facts.conda.present, facts.conda.subdir, facts.conda.configured_subdir) == (True, "osx-arm64", "osx-64")
    assert facts.conda.source("configured_subdir") == ".condarc"
    assert (facts.torch.version, facts.torch.built) == ("2.7.1", True)


@pytest.mark.parametrize(
    ("core", "built"),
    [
        (make.library(libraries=make.METAL), True),
        (make.library(weak=make.METAL), True),
        (make.library(libraries=make.METAL[:2]), False),
        (ARM, False),
        (LINUX, None),
        (make.image("arm64", [make.dylib(make.METAL[2]), make.segment(0, 10**9)]), None),
        (b"", None),
        (None, None),
    ],
)
def test_whether_mps_is_built_in(tmp_path: Path, core: bytes | None, built: bool | None):
    put(tmp_path / "torch" / "version.py", "__version__ = '2.9.1'\n")
    put(tmp_path / "torch" / "_C.cpython-312-darwin.so")
    if core is not None:
        put(tmp_path / "torch" / "lib" / "libtorch_cpu.dylib", core)
    torch = read_env(tmp_path).torch
    assert (torch.version, torch.built) == ("2.9.1", built)
    assert bool(torch.sources.get("built")) is (built is not None)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("__version__ = '2.9.1'\ndebug = False\ncuda: Optional[str] = None\n", ("2.9.1", None, None, False)),
        ("__version__ = \"2.13.0+cu128\"\ncuda: Optional[str] = '12.8'  # x\n", ("2.13.0+cu128", None, "12.8", None)),
        ("__version__ = '1'; import os; os.abort()\n", (None, None, None, None)),
        ("__version__ = open('/etc/passwd').read()\ngit_version = 'abc'\n", (None, "abc", None, None)),
        ("__version__ = '2.9\\d1'\ndebug = 'yes'\n", (None, None, None, None)),
        ("__version__ = " + "(" * 150 + "\n", (None, None, None, None)),
        ("    __version__ = '3'\nx__version__ = '4'\n", (None, None, None, None)),
        ("\ufeff__version__ = '5'\r\n", ("5", None, None, None)),
        ("", (None, None, None, None)),
    ],
)
def test_version_file_of_torch_is_read_and_not_run(tmp_path: Path, text: str, expected: tuple):
    torch = read_torch_version(put(tmp_path / "version.py", text))
    assert torch is not None
    assert (torch.version, torch.git_version, torch.cuda, torch.debug) == expected
