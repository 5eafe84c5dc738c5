"""Facts of single faults, one for each cause that has a fix, and the plan for each as text.

`python -m tests.fixes.golden` writes the files anew; they are meant to be read.
"""
# ruff: noqa: E501 - a table: one case a row

from __future__ import annotations

import dataclasses
import datetime
import json
from pathlib import Path

from mpsdoctor.diagnosis import Diagnosis, FoundCause, diagnose
from mpsdoctor.facts import (
    Binaries,
    Binary,
    Conda,
    CondaPackage,
    Distribution,
    Environment,
    Facts,
    Host,
    ImportFailure,
    Interpreter,
    Packages,
    ProcessEnd,
    Shadow,
    Torch,
)  # fmt: skip
from mpsdoctor.registry import judge, load_registry
from mpsdoctor.repair.plan import Plan
from mpsdoctor.repair.planner import make_plan
from mpsdoctor.repair.registry import load_fixes
from mpsdoctor.repair.situation import Request
from mpsdoctor.repair.survey import FoundPython, Survey, TextFile
from mpsdoctor.report.plan_text import format_plan
from mpsdoctor.report.text import Style

RECORDINGS = Path(__file__).parent.parent / "recordings"
FOLDER = Path(__file__).with_name("plans")
TODAY = datetime.date(2026, 12, 1)
VENV = "/Users/user/proj/.venv"
SITE = f"{VENV}/lib/python3.12/site-packages"
CONDA = "/Users/user/miniforge3/envs/ml"


def mac(**changes: object) -> Host:
    host = Host(system="Darwin", macos_version="15.5", arm64_capable=True, chip="Apple M2 Pro", model="Mac14,9",
                hypervisor_present=False)  # fmt: skip
    return dataclasses.replace(host, **changes)  # type: ignore[arg-type]


def venv(**changes: object) -> Interpreter:
    made = Interpreter(executable=f"{VENV}/bin/python", version="3.12.11", implementation="cpython", machine="arm64",
                       prefix=VENV, venv=True, site_packages=(SITE,), base_exists=True)  # fmt: skip
    return dataclasses.replace(made, **changes)  # type: ignore[arg-type]


def installed(installer: str = "pip", **versions: str) -> Packages:
    made = tuple(
        Distribution(name=n.replace("_", "-"), version=v, location=SITE, installer=installer, requested=True)
        for n, v in {"pip": "26.3", **versions}.items()
    )
    return Packages(distributions=made)


def conda_env(channel: str = "conda-forge", subdir: str = "osx-arm64", **builds: str) -> tuple[Interpreter, Conda]:
    records = tuple(
        CondaPackage(name=n, version=b.split()[0], build=b.split()[1], channel=channel, subdir=subdir)
        for n, b in builds.items()
    )
    interpreter = Interpreter(executable=f"{CONDA}/bin/python", version="3.12.11", implementation="cpython",
                              machine="arm64" if subdir == "osx-arm64" else "x86_64", prefix=CONDA, conda=True)  # fmt: skip
    conda = Conda(present=True, prefix=CONDA, root_prefix="/Users/user/miniforge3", environment_name="ml",
                  subdir=subdir, packages=records)  # fmt: skip
    return interpreter, conda


def fails(message: str) -> Torch:
    return Torch(imported=False, import_failure=ImportFailure(message=message))


@dataclasses.dataclass(frozen=True)
class Case:
    """One fault: facts, and what is asked for. `causes`: named by hand where no check sees them in facts."""

    facts: Facts
    survey: Survey = dataclasses.field(default_factory=Survey)
    request: Request = dataclasses.field(default_factory=lambda: Request(today=TODAY))
    causes: tuple[str, ...] = ()

    def diagnosis(self) -> Diagnosis:
        if self.causes:
            found = tuple(FoundCause(c, "environment", (), "certain", f"{c}.", "") for c in self.causes)
            return Diagnosis("broken", False, found)
        return diagnose(judge(self.facts, load_registry(), today=TODAY), self.facts)

    def plan(self) -> Plan:
        return make_plan(self.facts, self.diagnosis(), load_fixes(), survey=self.survey, request=self.request)


def _facts(**subjects: object) -> Facts:
    defaults: dict[str, object] = {
        "host": mac(),
        "interpreter": venv(),
        "environment": Environment(variables={}, shadows=()),
    }
    return Facts(**{**defaults, **subjects})  # type: ignore[arg-type]


def _conda(channel: str, torch: Torch | None = None, subdir: str = "osx-arm64", **builds: str) -> Facts:
    interpreter, conda = conda_env(channel, subdir, **builds)
    return _facts(interpreter=interpreter, conda=conda, torch=torch or Torch(), packages=Packages(distributions=()))


_X86 = {"machine": "x86_64", "translated": True}
_FORGE = {"pytorch": "2.9.1 cpu_generic_py312_0", "numpy": "2.3.2 py312_0"}

CASES: dict[str, Case] = {
    "macos-too-old-for-torch, pip": Case(_facts(host=mac(macos_version="13.6"), packages=installed(torch="2.11.0", torchvision="0.26.0", requests="2.32"))),
    "macos-too-old-for-torch, uv": Case(_facts(host=mac(macos_version="14.5"), packages=installed("uv", torch="2.15.0", torchvision="0.29.2", torchaudio="2.11.1"))),
    "macos-too-old-for-torch, Python without one": Case(_facts(host=mac(macos_version="13.6"), interpreter=venv(version="3.14.0"), packages=installed(torch="2.11.0", rich="14.0"))),
    "known-bad-torch-release": Case(_facts(host=mac(macos_version="26.1"), packages=installed(torch="2.9.0", torchvision="0.24.0"))),
    "torch-too-old": Case(_facts(packages=installed(torch="1.11.0"), interpreter=venv(version="3.10.4"))),
    "torch-not-installed": Case(_facts(packages=installed("uv", rich="14.0"))),
    "torch-not-installed, Intel": Case(_facts(host=mac(arm64_capable=False, chip="Intel(R) Core(TM) i7", model="MacBookPro16,1"), interpreter=venv(machine="x86_64", version="3.11.9"), packages=installed(numpy="2.1.0"))),
    "torch-not-installed, Homebrew's Python": Case(_facts(interpreter=Interpreter(executable="/opt/homebrew/bin/python3.12", version="3.12.11", implementation="cpython", machine="arm64", prefix="/opt/homebrew/opt/python@3.12", venv=False, externally_managed=True), packages=installed())),
    "torch-import-fails": Case(_facts(packages=installed(torch="2.14.1"), torch=fails("nobody knows"))),
    "missing-libomp": Case(_facts(packages=installed(torch="2.14.1"), torch=fails("dlopen(x.so): Library not loaded: @rpath/libomp.dylib"))),
    "mps-not-built, pip": Case(_facts(packages=installed(torch="2.14.1"), torch=Torch(imported=True, version="2.14.1", built=False))),
    "mps-not-built, Anaconda": Case(_conda("pkgs/main", Torch(imported=True, version="2.6.0", built=False), pytorch="2.6.0 cpu_py312h", numpy="2.1 py312")),
    "conda-package-unavailable": Case(_conda("pytorch", Torch(imported=True, version="2.5.1"), pytorch="2.5.1 py3.12_0", torchvision="0.20.1 py312_cpu"), causes=("conda-package-unavailable",)),
    "companion-version-mismatch": Case(_facts(packages=installed("uv", torch="2.14.1", torchvision="0.27.0", torchaudio="2.11.1"))),
    "companion-version-mismatch, conda": Case(_conda("conda-forge", Torch(imported=True, version="2.9.1"), **_FORGE, torchvision="0.22.0 py312_0"), causes=("companion-version-mismatch",)),
    "numpy2-abi": Case(_facts(packages=installed(torch="2.2.2", numpy="2.1.0"), interpreter=venv(version="3.11.9"), host=mac(macos_version="13.6"))),
    "mixed-package-sources, two copies": Case(_facts(packages=Packages(distributions=(*(installed(torch="2.14.1").distributions or ()), *(installed(torch="2.9.0").distributions or ()))))),
    "mixed-package-sources, conda and pip": Case(_facts(interpreter=conda_env()[0], conda=conda_env(**_FORGE)[1], packages=Packages(distributions=(Distribution(name="torch", version="2.14.1", installer="pip"), Distribution(name="pip", version="26"))), torch=Torch(imported=True, version="2.14.1"))),
    "duplicate-openmp": Case(_facts(packages=installed(torch="2.14.1", numpy="2.3.5"), torch=Torch(end=ProcessEnd(how="signal", signal="SIGABRT", stderr_tail="OMP: Error #15: Initializing libomp.dylib, but found libomp.dylib")))),
    "duplicate-openmp, the variable": Case(_facts(packages=installed(torch="2.14.1", numpy="2.3.5"), environment=Environment(variables={"KMP_DUPLICATE_LIB_OK": "TRUE"}, shadows=())), survey=Survey(startup=(TextFile("/Users/user/.zshrc", "export KMP_DUPLICATE_LIB_OK=TRUE\n"),)), causes=("duplicate-openmp",)),
    "arch-mismatch-binaries": Case(_facts(packages=installed(torch="2.14.1", pillow="12.0", numpy="2.3.5"), binaries=Binaries(files=(Binary(path=f"{SITE}/PIL/_imaging.cpython-312-darwin.so", role="extension", kind="mach-o", architectures=("x86_64",)), Binary(path=f"{SITE}/torch/lib/libtorch_cpu.dylib", role="torch", kind="mach-o", architectures=("x86_64",)))))),
    "arch-mismatch-binaries, conda's settings": Case(dataclasses.replace(_conda("conda-forge", Torch(imported=True, version="2.9.1"), **_FORGE), packages=installed("conda", torch="2.9.1"), environment=Environment(variables={"CONDA_SUBDIR": "osx-64"}, shadows=()))),
    "x86-python-under-rosetta, venv": Case(_facts(interpreter=venv(**_X86), packages=installed("uv", torch="2.2.2", numpy="1.26.4", transformers="4.40.0", triton="2.0.0")), survey=Survey(pythons=(FoundPython("/usr/local/bin/python3.12", "3.12", "x86_64"),))),
    "x86-python-under-rosetta, an arm64 Python is there": Case(_facts(interpreter=venv(**_X86), packages=installed(torch="2.2.2", rich="14.0")), survey=Survey(pythons=(FoundPython("/opt/homebrew/bin/python3.12", "3.12", "arm64"),))),
    "x86-python-under-rosetta, a universal Python": Case(_facts(interpreter=venv(**_X86, binary_architectures=("x86_64", "arm64")), packages=installed(torch="2.2.2"))),
    "x86-python-under-rosetta, conda": Case(_conda("pkgs/main", subdir="osx-64", pytorch="1.12.1 py3.12", pandas="2.2 py312", numpy="1.26 py312")),
    "x86-python-under-rosetta, conda with its history": Case(_conda("pkgs/main", subdir="osx-64", pytorch="1.12.1 py3.12", pandas="2.2 py312", numpy="1.26 py312", six="1.16 py_0"), survey=Survey(conda_specs=("python=3.12", "pytorch=1.12", "pandas=2.2", "mkl"))),
    "broken-venv, base gone": Case(_facts(interpreter=Interpreter(executable=f"{VENV}/bin/python", base_exists=False)), survey=Survey(files=Facts(interpreter=venv(), packages=installed("uv", torch="2.14.1", rich="14.0")))),
    "broken-venv, moved": Case(_facts(interpreter=venv(venv_prefix_moved=True), packages=installed(torch="2.14.1", rich="14.0")), survey=Survey(pythons=(FoundPython("/opt/homebrew/bin/python3.12", "3.12", "arm64"),))),
    "python-version-no-wheel": Case(_facts(interpreter=venv(version="3.16.0"), packages=installed("uv", rich="14.0"))),
    "python-version-no-wheel, macOS 13": Case(_facts(host=mac(macos_version="13.6"), interpreter=venv(version="3.14.0"), packages=installed("uv", rich="14.0"))),
    "python-implementation-unsupported": Case(_facts(interpreter=venv(implementation="pypy", version="3.10.14"), packages=installed("uv"))),
    "macos-version-misreported": Case(_facts(packages=installed(torch="2.14.1"), environment=Environment(variables={"SYSTEM_VERSION_COMPAT": "1"}, shadows=())), survey=Survey(startup=(TextFile("/Users/user/.zshrc", "export SYSTEM_VERSION_COMPAT=1\n"),)), causes=("macos-version-misreported",)),
    "local-file-shadows-torch": Case(_facts(packages=installed(torch="2.14.1"), environment=Environment(variables={}, shadows=(Shadow(name="torch", path="/Users/user/proj/torch.py"),)))),
    "source-shadows-package": Case(_facts(packages=installed(torch="2.14.1"), environment=Environment(variables={}, shadows=(Shadow(name="torch", path="/Users/user/pytorch/torch", kind="checkout"),)))),
    "wrong-interpreter": Case(_facts(packages=installed(), environment=Environment(variables={"VIRTUAL_ENV": "/Users/user/other/.venv"}, shadows=()))),
    "watermark-env-var-invalid": Case(_facts(packages=installed(torch="2.14.1"), environment=Environment(variables={"PYTORCH_MPS_HIGH_WATERMARK_RATIO": "0.7"}, shadows=())), survey=Survey(startup=(TextFile("/Users/user/.zshrc", "# mine\nexport PYTORCH_MPS_HIGH_WATERMARK_RATIO=0.7\n"),))),
    "env-var-ineffective, conda": Case(_facts(packages=installed(torch="2.14.1"), environment=Environment(variables={"PYTORCH_ENABLE_MPS_FALLBACK": "false"}, shadows=())), survey=Survey(startup=(TextFile(f"{CONDA}/conda-meta/state", json.dumps({"version": 1, "env_vars": {"PYTORCH_ENABLE_MPS_FALLBACK": "false", "KEEP": "1"}})),))),
    "env-var-ineffective, nowhere found": Case(_facts(packages=installed(torch="2.14.1"), environment=Environment(variables={"PYTORCH_ENABLE_MPS_FALLBACK": "false"}, shadows=()))),
    "non-mac-wheel-pin, a variable": Case(_facts(packages=installed(torch="2.14.1"), environment=Environment(variables={"PIP_EXTRA_INDEX_URL": "https://download.pytorch.org/whl/cu121"}, shadows=())), survey=Survey(startup=(TextFile("/Users/user/.zprofile", "export PIP_EXTRA_INDEX_URL=https://download.pytorch.org/whl/cu121\n"),))),
    "non-mac-wheel-pin, installed": Case(_facts(packages=installed(torch="2.14.1+cu130"))),
    "non-mac-wheel-pin, files": Case(_facts(packages=installed(torch="2.14.1")), survey=Survey(requirements=(TextFile("/Users/user/proj/requirements.txt", "torch==2.1.0+cu118\ntriton\n"),), projects=(TextFile("/Users/user/proj/pyproject.toml", "[project]\ndependencies = ['torch==2.1.0+cu118']\n"),)), causes=("non-mac-wheel-pin",)),
    "torch-too-old, pixi": Case(dataclasses.replace(_conda("conda-forge", Torch(imported=True, version="1.11.0"), pytorch="1.11.0 0"), interpreter=dataclasses.replace(conda_env()[0], prefix="/Users/user/proj/.pixi/envs/default", executable="/Users/user/proj/.pixi/envs/default/bin/python"), conda=dataclasses.replace(conda_env(pytorch="1.11.0 0")[1], prefix="/Users/user/proj/.pixi/envs/default", family="pixi"))),
    "torch-too-old, micromamba": Case(dataclasses.replace(_conda("conda-forge", Torch(imported=True, version="1.11.0"), pytorch="1.11.0 0"), conda=dataclasses.replace(conda_env(pytorch="1.11.0 0")[1], family="micromamba"))),
    "nightly": Case(_facts(packages=installed(torch="2.14.1", torchvision="0.29.1")), request=Request(nightly="2026-11-20", save_wheels="/Users/user/wheels", today=TODAY)),
    "nightly that has left the index": Case(_facts(packages=installed(torch="2.14.1")), request=Request(nightly="2.14.0.dev20260601", today=TODAY)),
    "a hostile report": Case(_facts(interpreter=venv(**_X86, executable="/tmp/a b'; rm -rf ~ \n/.venv/bin/python", prefix="/tmp/a b'; rm -rf ~ \n/.venv"), packages=installed("uv", **{"torch": "2.2.2", "--index-url=http://evil": "1", "x; rm -rf ~": "1.0", "good": "1.0 --pre"}))),
}  # fmt: skip


def text_of(case: Case) -> str:
    """The diagnosis in a line, and the plan as a user sees it with -v at 100 columns."""
    diagnosis, plan = case.diagnosis(), case.plan()
    causes = ", ".join(cause.cause for cause in diagnosis.causes)
    lines = [line.plain.rstrip() for line in format_plan(plan.to_json(), case.facts, Style(100, True, "/Users/user"))]
    return "\n".join([f"diagnosed: {causes or 'nothing'}", *lines]) + "\n"


def recording(name: str) -> Case:
    """The facts of a recorded Mac."""
    from mpsdoctor.observe import observe
    from mpsdoctor.probes.choice import Target
    from mpsdoctor.probes.replay import ReplayRunner

    facts, _ = observe(ReplayRunner(RECORDINGS / name), Target("python", "the recording"))
    return Case(facts)


def all_cases() -> dict[str, Case]:
    """Every case, the recorded Macs among them."""
    names = sorted(folder.name for folder in RECORDINGS.iterdir() if folder.is_dir())
    return {**CASES, **{f"recorded, {name}": recording(name) for name in names}}


def file_of(name: str) -> Path:
    return FOLDER / f"{name.replace(', ', '--').replace(' ', '-').replace(chr(39), '')}.txt"


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    for name, case in all_cases().items():
        file_of(name).write_text(text_of(case))


if __name__ == "__main__":
    main()
