"""Real macOS wheels for tests on any machine: downloaded once, unpacked only as far as the tests look.

Import the fixture where it is wanted: ``from tests.conftest_wheels import mac_wheels``. The cache is the folder that
MPSDOCTOR_TEST_CACHE names, else ~/.cache/mpsdoctor-tests; it needs about 500 MB, most of it the wheels themselves.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import pytest

# Of a library larger than this only the head is unpacked; the file has its full length, the rest is a hole.
HEAD_BYTES = 4 * 1024 * 1024
ATTEMPTS = 3


@dataclass(frozen=True)
class Wheel:
    """One wheel, as pip is asked for it."""

    requirement: str
    platform: str
    python: str

    @property
    def folder(self) -> str:
        return f"{self.requirement.replace('==', '-')}-{self.platform}-py{self.python}"


WHEELS = {
    "torch-2.9.1": Wheel("torch==2.9.1", "macosx_14_0_arm64", "3.12"),
    "torch-2.14.1": Wheel("torch==2.14.1", "macosx_14_0_arm64", "3.12"),
    "torch-2.2.2-x86_64": Wheel("torch==2.2.2", "macosx_10_13_x86_64", "3.11"),
    "torchvision-0.24.1": Wheel("torchvision==0.24.1", "macosx_14_0_arm64", "3.12"),
    "torchvision-0.29.1": Wheel("torchvision==0.29.1", "macosx_14_0_arm64", "3.12"),
    "torchvision-0.17.2-x86_64": Wheel("torchvision==0.17.2", "macosx_10_13_x86_64", "3.11"),
    "torchaudio-2.9.1": Wheel("torchaudio==2.9.1", "macosx_14_0_arm64", "3.12"),
    "torchaudio-2.2.2-x86_64": Wheel("torchaudio==2.2.2", "macosx_10_13_x86_64", "3.11"),
    "numpy-2.3.5": Wheel("numpy==2.3.5", "macosx_14_0_arm64", "3.12"),
    "numpy-2.3.5-x86_64": Wheel("numpy==2.3.5", "macosx_10_13_x86_64", "3.12"),
    "numpy-1.26.4-x86_64": Wheel("numpy==1.26.4", "macosx_10_13_x86_64", "3.11"),
    "scikit-learn-1.7.2": Wheel("scikit-learn==1.7.2", "macosx_14_0_arm64", "3.12"),
}


class MacWheels:
    """Gives unpacked wheels by their key in `WHEELS`, and site-packages folders made of several."""

    def __init__(self, cache: Path) -> None:
        self._cache = cache

    def __getitem__(self, key: str) -> Path:
        """Return the folder where the wheel lies unpacked, as it would in site-packages. Do not write there."""
        wheel = WHEELS[key]
        target = self._cache / "unpacked" / wheel.folder
        if not target.is_dir():
            _unpack(_download(wheel, self._cache / "wheels" / wheel.folder), target)
        return target

    def site_packages(self, folder: Path, keys: Iterable[str]) -> Path:
        """Put these wheels side by side into a new folder, by links."""
        folder.mkdir(parents=True)
        for key in keys:
            for part in self[key].iterdir():
                (folder / part.name).symlink_to(part)
        return folder


@pytest.fixture(scope="session")
def mac_wheels() -> MacWheels:
    """The wheels, downloaded when a test first asks for one."""
    named = os.environ.get("MPSDOCTOR_TEST_CACHE")
    cache = Path(named) if named else Path.home() / ".cache" / "mpsdoctor-tests"
    cache.mkdir(parents=True, exist_ok=True)
    return MacWheels(cache)


def _download(wheel: Wheel, target: Path) -> Path:
    target.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:"]
    command += ["--disable-pip-version-check", "--implementation", "cp", "--platform", wheel.platform]
    command += ["--python-version", wheel.python, "--dest", str(target), wheel.requirement]
    said = ""
    for attempt in range(ATTEMPTS):
        found = sorted(target.glob("*.whl"))
        if found and zipfile.is_zipfile(found[0]):
            return found[0]
        if attempt:
            time.sleep(2 * attempt)
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=280, stdin=subprocess.DEVNULL)
            said = done.stderr.strip()
        except subprocess.TimeoutExpired:
            said = "no answer within 280 seconds"
    found = sorted(target.glob("*.whl"))
    if found and zipfile.is_zipfile(found[0]):
        return found[0]
    pytest.fail(
        f"The tests need the wheel {wheel.requirement} for {wheel.platform}, Python {wheel.python}, and pip could not "
        f"download it in {ATTEMPTS} attempts. Its last words: {said[-500:]}",
        pytrace=False,
    )


def _unpack(wheel: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    work = Path(tempfile.mkdtemp(dir=target.parent))
    try:
        with zipfile.ZipFile(wheel) as archive:
            for member in archive.infolist():
                if _wanted(member.filename):
                    _write(archive, member, work / member.filename)
        work.chmod(0o755)
        try:
            work.rename(target)
        except OSError:  # another test run was quicker
            if not target.is_dir():
                raise
    finally:
        shutil.rmtree(work, ignore_errors=True)


def _wanted(name: str) -> bool:
    if name.endswith("/"):
        return False
    depth = name.count("/")
    return (
        name.endswith((".so", ".dylib"))
        or (".dist-info/" in name and depth == 1)
        or (depth == 1 and name.endswith(("/__init__.py", "/version.py")))
    )


def _write(archive: zipfile.ZipFile, member: zipfile.ZipInfo, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with archive.open(member) as source, path.open("wb") as out:
        out.write(source.read(HEAD_BYTES))
        out.truncate(member.file_size)
