"""Builds the wheel, installs it into an empty environment, and runs it there: what users get, not the source tree."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
REQUIRED = (
    "mpsdoctor/checks/hardware.py",
    "mpsdoctor/training_smoke/__main__.py",
    "mpsdoctor/probes/target/torch_probe.py",
    "mpsdoctor/knowledge/releases.json",
    "mpsdoctor/facts/facts.schema.json",
    "mpsdoctor/py.typed",
)

MAN_PAGE = "data/share/man/man1/mpsdoctor.1"


def run(*argv: str) -> str:
    """Run a command; its failure ends this script with what it printed."""
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(argv)} failed:\n{done.stdout}{done.stderr}")
    return done.stdout


def main() -> None:
    """Build, look inside, install, replay a recorded Mac."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        run(sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", name, str(ROOT))
        wheel = next(folder.glob("mpsdoctor-*-py3-none-any.whl"))
        with zipfile.ZipFile(wheel) as archive:
            names = set(archive.namelist())
        name_and_version = wheel.name.split("-py3")[0]
        required = (*REQUIRED, f"{name_and_version}.data/{MAN_PAGE}")
        missing = [path for path in required if path not in names]
        strangers = sorted(
            {path.split("/")[0] for path in names if path != f"{name_and_version}.data/{MAN_PAGE}"}
            - {"mpsdoctor", f"{name_and_version}.dist-info"}
        )
        if missing or strangers:
            sys.exit(f"the wheel lacks {missing} and would install {strangers} beside the package")
        run(sys.executable, "-m", "venv", str(folder / "env"))
        python = str(folder / "env" / "bin" / "python")
        run(python, "-m", "pip", "install", "--quiet", str(wheel))
        if not (folder / "env" / MAN_PAGE.removeprefix("data/")).is_file():
            sys.exit("man mpsdoctor would find nothing")
        compiled = [p for p in (folder / "env").rglob("*.so") if "pip" not in p.parts]
        recording = ROOT / "tests" / "recordings" / "02-m2pro-macos15-miniforge"
        report = json.loads(
            run(python, "-I", "-m", "mpsdoctor", "check", "--replay", str(recording), "--format", "json")
        )
        if report["diagnosis"]["verdict"] != "healthy":
            sys.exit(f"the installed wheel judges a healthy Mac as {report['diagnosis']}")
        print(f"{wheel.name}: {len(names)} files, {wheel.stat().st_size // 1024} kB; compiled files: {len(compiled)}")


if __name__ == "__main__":
    main()
