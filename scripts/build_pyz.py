"""Builds mpsdoctor.pyz: mpsdoctor and its pure-Python dependencies in one file that any Python 3.10+ runs.

Usage: python scripts/build_pyz.py [-o FILE]

pip takes the dependencies from the index that it is set up for. Two builds of the same sources with the same
dependencies give the same bytes: names are sorted, times are fixed.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SOURCES = (
    "pyproject.toml",
    "README.md",
    "LICENSE",
    "mpsdoctor",
    "checks",
    "fixes",
    "training_smoke",
    "docs/mpsdoctor.1",
)
# Read by every Python since 2.7, so that a too old one gets a sentence and not a SyntaxError.
MAIN = """\
import sys

if sys.version_info < (3, 10):
    sys.exit(
        "mpsdoctor itself needs Python 3.10 or newer, and this is %d.%d; it can examine any: "
        "python3.12 mpsdoctor.pyz check --python %s" % (sys.version_info[0], sys.version_info[1], sys.executable)
    )
from mpsdoctor.start import main

main()
"""
_TIME = (1980, 1, 1, 0, 0, 0)
_LEFT_OUT = ("bin", "share", "__pycache__")


def build(target: Path) -> None:
    """Write the file. Exits with pip's words where it fails, and with names where something is compiled."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        copy = folder / "source"  # pip builds in the source tree and takes what an older build left there
        copy.mkdir()
        for item in SOURCES:
            source = ROOT / item
            (copy / item).parent.mkdir(parents=True, exist_ok=True)
            if source.is_dir():
                shutil.copytree(source, copy / item, ignore=shutil.ignore_patterns("__pycache__"))
            else:
                shutil.copy2(source, copy / item)
        pip("wheel", "--no-deps", "--wheel-dir", name, str(copy))
        wheel = next(folder.glob("mpsdoctor-*.whl"))
        inside = folder / "inside"
        # tomli is named: pip judges "python_version < 3.11" by the Python that it runs on, not by the one asked for.
        pip(
            "install", "--target", str(inside), "--no-compile", "--only-binary=:all:", "--platform=any",
            "--python-version=3.10", "--implementation=py", "--abi=none", str(wheel), "tomli",
        )  # fmt: skip
        compiled = [str(path.relative_to(inside)) for path in inside.rglob("*") if path.suffix in (".so", ".pyd")]
        if compiled:
            sys.exit(f"compiled files cannot go into {target.name}: {compiled}")
        (inside / "__main__.py").write_text(MAIN, encoding="utf-8")
        _pack(inside, target)


def pip(*arguments: str) -> None:
    """Run pip; its failure ends this script."""
    argv = [sys.executable, "-m", "pip", arguments[0], "--quiet", "--disable-pip-version-check", *arguments[1:]]
    done = subprocess.run(argv, capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(argv)} failed:\n{done.stdout}{done.stderr}")


def _pack(folder: Path, target: Path) -> None:
    beside = target.with_name(f".{target.name}.new")
    with beside.open("wb") as file:
        file.write(b"#!/usr/bin/env python3\n")
        with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
            for path in sorted(folder.rglob("*")):
                name = path.relative_to(folder)
                if path.is_file() and not set(name.parts) & set(_LEFT_OUT) and name.name != "RECORD":
                    archive.writestr(zipfile.ZipInfo(name.as_posix(), _TIME), path.read_bytes(), zipfile.ZIP_DEFLATED)
    beside.chmod(0o755)
    beside.replace(target)


def main() -> None:
    """Build and say how large it is."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("-o", "--output", type=Path, default=ROOT / "dist" / "mpsdoctor.pyz", help="where to write it")
    target = parser.parse_args().output.absolute()
    target.parent.mkdir(parents=True, exist_ok=True)
    build(target)
    print(f"{target.name}: {target.stat().st_size // 1024} kB")


if __name__ == "__main__":
    main()
