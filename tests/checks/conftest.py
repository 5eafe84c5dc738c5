"""Facts of healthy Macs, from which tests make single faults."""

from __future__ import annotations

import pytest

from mpsdoctor import (
    Binaries,
    Binary,
    Conda,
    CondaPackage,
    Distribution,
    Environment,
    Facts,
    Host,
    Interpreter,
    Packages,
    Torch,
    Trial,
)

SITE = "/Users/user/proj/.venv/lib/python3.12/site-packages"
PREFIX = "/Users/user/miniforge3/envs/torch"
CONDA_SITE = f"{PREFIX}/lib/python3.13/site-packages"


def mach(
    path: str, role: str, *architectures: str, libraries: tuple[str, ...] = (), rpaths: tuple[str, ...] = ()
) -> Binary:
    """A Mach-O file; arm64 unless said otherwise."""
    archs = architectures or ("arm64",)
    kind = "universal" if len(archs) > 1 else "mach-o"
    return Binary(path=path, role=role, kind=kind, architectures=archs, libraries=libraries, rpaths=rpaths)


def mac() -> Host:
    return Host(
        system="Darwin",
        macos_version="15.5",
        arm64_capable=True,
        chip="Apple M2 Pro",
        model="Mac14,9",
        hypervisor_present=False,
    )


def working(version: str, file: str) -> Torch:
    trial = Trial(name="matmul", outcome="pass", max_abs_difference=1e-6, tolerance=1e-3)
    return Torch(
        imported=True,
        import_seconds=1.0,
        version=version,
        file=file,
        built=True,
        available=True,
        allocation=Trial(name="allocate", outcome="pass"),
        comparisons=(trial,),
        stage="done",
    )


@pytest.fixture
def wheel_mac() -> Facts:
    """A venv by uv with wheels from the index, scikit-learn with its own OpenMP runtime among them."""
    names = {
        "torch": "2.14.1",
        "torchvision": "0.29.1",
        "torchaudio": "2.11.1",
        "numpy": "2.4.6",
        "scikit-learn": "1.8",
    }
    made = tuple(
        Distribution(name=n, version=v, location=SITE, installer="uv", missing_files=0 if n == "torch" else None)
        for n, v in names.items()
    )
    openmp = ("@rpath/libomp.dylib", "/usr/lib/libSystem.B.dylib")
    files = (
        mach("/Users/user/.local/share/uv/python/cpython-3.12/bin/python3.12", "interpreter"),
        mach(f"{SITE}/torch/lib/libtorch_cpu.dylib", "torch", libraries=openmp, rpaths=("@loader_path",)),
        mach(f"{SITE}/torch/lib/libtorch_python.dylib", "torch", libraries=openmp, rpaths=("@loader_path",)),
        mach(f"{SITE}/torch/_C.cpython-312-darwin.so", "torch-extension"),
        mach(f"{SITE}/numpy/_core/_multiarray_umath.cpython-312-darwin.so", "numpy"),
        mach(f"{SITE}/torchvision/_C_stable.so", "torchvision"),
        mach(f"{SITE}/torch/lib/libomp.dylib", "openmp"),
        mach(f"{SITE}/sklearn/.dylibs/libomp.dylib", "openmp"),
        mach(f"{SITE}/markupsafe/_speedups.cpython-312-darwin.so", "extension", "x86_64", "arm64"),
        # debugpy brings the libraries of every system, to attach to processes of any.
        Binary(path=f"{SITE}/debugpy/attach_linux_amd64.so", role="extension", kind="elf", architectures=("x86_64",)),
        mach(f"{SITE}/other/attach_x86_64.dylib", "extension", "x86_64"),
    )
    return Facts(
        host=mac(),
        interpreter=Interpreter(
            executable="/Users/user/proj/.venv/bin/python",
            version="3.12.11",
            implementation="cpython",
            machine="arm64",
            translated=False,
            prefix="/Users/user/proj/.venv",
            base_exists=True,
            venv=True,
            conda=False,
            macos_version_seen="15.5",
            site_packages=(SITE,),
        ),
        torch=working("2.14.1", f"{SITE}/torch/__init__.py"),
        packages=Packages(distributions=made),
        conda=Conda(present=False),
        environment=Environment(variables={"VIRTUAL_ENV": "/Users/user/proj/.venv"}, shadows=()),
        binaries=Binaries(files=files),
    )


@pytest.fixture
def conda_mac() -> Facts:
    """A Miniforge environment with everything from conda-forge, whose torch calls itself .post101."""
    records = {
        "python": ("3.13.3", "h81fe080_101_cp313"),
        "pytorch": ("2.7.1", "cpu_generic_py313_h386a03b_1"),
        "libtorch": ("2.7.1", "cpu_generic_h23efb8b_1"),
        "torchvision": ("0.22.0", "cpu_py313_h5c7e8c0_1"),
        "numpy": ("2.3.2", "py313h674b998_0"),
        "libblas": ("3.9.0", "32_h10e41b3_openblas"),
        "libopenblas": ("0.3.30", "openmp_hf332438_0"),
        "llvm-openmp": ("20.1.8", "hbb9b287_0"),
    }
    made = tuple(
        CondaPackage(name=n, version=v, build=b, channel="conda-forge", subdir="osx-arm64")
        for n, (v, b) in records.items()
    )
    dists = (
        # The package libtorch holds the libraries that the RECORD of pytorch names.
        Distribution(name="torch", version="2.7.1.post101", location=CONDA_SITE, installer="conda", missing_files=9),
        Distribution(name="torchvision", version="0.22.0", location=CONDA_SITE, installer="conda"),
        Distribution(name="numpy", version="2.3.2", location=CONDA_SITE, installer="conda"),
    )
    files = (
        mach(f"{PREFIX}/bin/python3.13", "interpreter"),
        mach(
            f"{PREFIX}/lib/libtorch_cpu.dylib", "torch", libraries=("@rpath/libomp.dylib",), rpaths=("@loader_path/",)
        ),
        mach(f"{CONDA_SITE}/torch/_C.cpython-313-darwin.so", "torch-extension"),
        mach(f"{CONDA_SITE}/numpy/_core/_multiarray_umath.cpython-313-darwin.so", "numpy"),
        mach(f"{PREFIX}/lib/libiomp5.dylib", "openmp"),  # one file under two names is listed once
    )
    return Facts(
        host=mac(),
        interpreter=Interpreter(
            executable=f"{PREFIX}/bin/python",
            version="3.13.3",
            implementation="cpython",
            machine="arm64",
            prefix=PREFIX,
            conda=True,
            macos_version_seen="15.5",
            site_packages=(CONDA_SITE,),
        ),
        torch=working("2.7.1.post101", f"{CONDA_SITE}/torch/__init__.py"),
        packages=Packages(distributions=dists),
        conda=Conda(
            present=True,
            prefix=PREFIX,
            subdir="osx-arm64",
            tool_platform="osx-arm64",
            configured_channels=("conda-forge",),
            packages=made,
        ),
        environment=Environment(variables={"CONDA_PREFIX": PREFIX}, shadows=()),
        binaries=Binaries(files=files),
    )
