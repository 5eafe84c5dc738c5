"""Which files of an environment are looked at: real Mac wheels side by side, and trees made by hand."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from mpsdoctor.facts import Binaries
from mpsdoctor.probes.binaries import MAX_OPENMP, OPENMP_NAME, find_binaries
from mpsdoctor.probes.extensions import MAX_PACKAGES, find_compiled
from mpsdoctor.probes.packages import read_distributions
from tests import macho_bytes as make
from tests.conftest_wheels import MacWheels, mac_wheels

__all__ = ["mac_wheels"]

ARM, INTEL = make.library("arm64"), make.library("x86_64")


def put(path: Path, content: bytes = ARM) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path


def record(site: Path, name: str, *files: str) -> None:
    put(site / f"{name}-1.0.dist-info" / "RECORD", "".join(f"{file},sha256=x,1\n" for file in files).encode())


def find(site: Path, prefix: Path | None = None) -> Binaries:
    return find_binaries(executable=None, site_packages=[site], prefix=prefix)


def told(binaries: Binaries, folder: Path, *roles: str) -> dict[str, tuple[str, ...]]:
    """The files of these roles, relative to the folder, with their architectures."""
    chosen = binaries.by_role(*roles) if roles else binaries.files or ()
    return {os.path.relpath(binary.path, folder): binary.architectures for binary in chosen}


def test_environment_of_torch_2_14(tmp_path: Path, mac_wheels: MacWheels):
    site = mac_wheels.site_packages(
        tmp_path / "site",
        ["torch-2.14.1", "torchvision-0.29.1", "torchaudio-2.9.1", "numpy-2.3.5", "scikit-learn-1.7.2"],
    )
    found = find(site)
    assert told(found, site, "torch") == {
        "torch/lib/libtorch_cpu.dylib": ("arm64",),
        "torch/lib/libtorch_python.dylib": ("arm64",),
    }
    assert told(found, site, "torch-extension") == {"torch/_C.cpython-312-darwin.so": ("arm64",)}
    assert told(found, site, "numpy") == {"numpy/_core/_multiarray_umath.cpython-312-darwin.so": ("arm64",)}
    assert set(told(found, site, "torchvision")) == {"torchvision/_C_stable.so", "torchvision/image_stable.so"}
    assert set(told(found, site, "torchaudio")) == {"torchaudio/lib/_torchaudio.so", "torchaudio/lib/libtorchaudio.so"}
    assert set(told(found, site, "openmp")) == {"torch/lib/libomp.dylib", "sklearn/.dylibs/libomp.dylib"}
    assert [path for path in told(found, site, "extension") if path.startswith("sklearn/")]
    assert {arch for binary in found.files or () for arch in binary.architectures} == {"arm64"}
    assert not [binary.problem for binary in found.files or () if binary.problem]


@pytest.mark.parametrize(
    ("keys", "architecture", "openmp"),
    [
        (["torch-2.9.1", "torchvision-0.24.1", "numpy-2.3.5"], "arm64", {"torch/lib/libomp.dylib"}),
        (
            ["torch-2.2.2-x86_64", "torchvision-0.17.2-x86_64", "torchaudio-2.2.2-x86_64", "numpy-1.26.4-x86_64"],
            "x86_64",
            {"torch/lib/libiomp5.dylib", "functorch/.dylibs/libiomp5.dylib"},
        ),
    ],
)
def test_other_releases(tmp_path: Path, mac_wheels: MacWheels, keys: list[str], architecture: str, openmp: set[str]):
    site = mac_wheels.site_packages(tmp_path / "site", keys)
    found = find(site)
    roles = {binary.role for binary in found.files or ()}
    assert roles >= {"torch", "torch-extension", "numpy", "torchvision", "openmp"}
    assert {binary.architectures for binary in found.files or ()} == {(architecture,)}
    assert set(told(found, site, "openmp")) == openmp


def test_an_intel_numpy_beside_an_arm64_torch(tmp_path: Path, mac_wheels: MacWheels):
    site = mac_wheels.site_packages(tmp_path / "site", ["torch-2.14.1", "numpy-2.3.5-x86_64"])
    found = find(site)
    assert {binary.architectures for binary in found.by_role("torch", "torch-extension")} == {("arm64",)}
    assert {binary.architectures for binary in found.by_role("numpy")} == {("x86_64",)}


PACKAGES = {
    "an extension deep inside": ["crypto/hazmat/bindings/a/b/_rust.abi3.so"],
    "an extension at the top": ["_cffi_backend.cpython-312-darwin.so"],
    "a library only": ["llvmlite/binding/libllvmlite.dylib"],
    "an extension named like a library": ["pyarrow/lib.cpython-312-darwin.so"],
    "a carried library and an extension": ["faiss/.dylibs/libfoo.dylib", "faiss/_swig.so"],
}


@pytest.mark.parametrize("recorded", [True, False])
@pytest.mark.parametrize("case", sorted(PACKAGES))
def test_one_intel_package_in_an_arm64_tree(tmp_path: Path, case: str, recorded: bool):
    files = PACKAGES[case]
    if not recorded and files[0].count("/") > 3:  # without a list of files we look three folders deep
        files = ["crypto/hazmat/bindings/_rust.abi3.so"]
    put(tmp_path / "torch" / "_C.cpython-312-darwin.so")
    put(tmp_path / "torch" / "lib" / "libtorch_cpu.dylib")
    put(tmp_path / "other" / "_speedups.cpython-312-darwin.so")
    for name in files:
        put(tmp_path / name, INTEL)
    if recorded:
        record(tmp_path, "thing", "thing/__init__.py", *files)
    found = told(find(tmp_path), tmp_path, "extension")
    assert found[files[-1]] == ("x86_64",)
    assert found["other/_speedups.cpython-312-darwin.so"] == ("arm64",)


def test_a_recorded_extension_that_is_gone_gives_way_to_the_next(tmp_path: Path):
    put(tmp_path / "pkg" / "b.so")
    record(tmp_path, "pkg", "pkg/a.so", "pkg/b.so")
    assert told(find(tmp_path), tmp_path) == {"pkg/b.so": ("arm64",)}


def test_two_openmp_runtimes(tmp_path: Path):
    put(tmp_path / "lib" / "libiomp5.dylib")
    site = tmp_path / "lib" / "python3.12" / "site-packages"
    put(site / "torch" / "lib" / "libomp.dylib")
    assert set(told(find(site, tmp_path), tmp_path, "openmp")) == {
        "lib/libiomp5.dylib",
        "lib/python3.12/site-packages/torch/lib/libomp.dylib",
    }


def test_one_openmp_runtime_under_three_names(tmp_path: Path):
    # conda-forge's llvm-openmp links the names of Intel's and GNU's runtime to its own.
    put(tmp_path / "lib" / "libomp.dylib")
    for name in ("libiomp5.dylib", "libgomp.1.dylib"):
        (tmp_path / "lib" / name).symlink_to("libomp.dylib")
    assert len(told(find(tmp_path, tmp_path), tmp_path, "openmp")) == 1


@pytest.mark.parametrize(
    ("name", "is_runtime"),
    [
        ("libomp.dylib", True),
        ("libiomp5.dylib", True),
        ("libgomp.1.dylib", True),
        ("libgomp.so.1.0.0", True),
        ("libomp-7d1ea3b5.dylib", True),
        ("libgomp-a34b3233.so.1.0.0", True),
        ("libomp5.dylib", True),
        ("libompitrace.40.dylib", False),
        ("libopenblas64_.0.dylib", False),
        ("libomp.a", False),
        ("libomp.dylib.bak", False),
        ("libcompat.dylib", False),
    ],
)
def test_names_of_openmp_runtimes(name: str, is_runtime: bool):
    assert bool(OPENMP_NAME.fullmatch(name)) is is_runtime


def test_torch_from_conda_keeps_its_libraries_in_the_prefix(tmp_path: Path):
    site = tmp_path / "lib" / "python3.13" / "site-packages"
    put(site / "torch" / "_C.cpython-313-darwin.so")
    put(tmp_path / "lib" / "libtorch_cpu.dylib", make.library(libraries=make.METAL))
    put(tmp_path / "lib" / "libtorch_python.dylib")
    found = find(site, tmp_path)
    core = found.by_role("torch")[0]
    assert core.path == str(tmp_path / "lib" / "libtorch_cpu.dylib")
    assert "MetalPerformanceShadersGraph" in core.metal_frameworks
    assert "missing" not in {binary.kind for binary in found.files or ()}


@pytest.mark.parametrize(("tag", "name"), [("darwin", "libtorch_cpu.dylib"), ("x86_64-linux-gnu", "libtorch_cpu.so")])
def test_torch_without_its_core_library(tmp_path: Path, tag: str, name: str):
    put(tmp_path / "torch" / f"_C.cpython-312-{tag}.so")
    core = find(tmp_path).by_role("torch")
    assert [(binary.kind, Path(binary.path).name) for binary in core] == [("missing", name)]


def test_torch_without_its_compiled_module(tmp_path: Path):
    put(tmp_path / "torch" / "__init__.py", b"")
    assert [binary.kind for binary in find(tmp_path).by_role("torch-extension")] == ["missing"]


def test_a_cut_core_library(tmp_path: Path):
    put(tmp_path / "torch" / "_C.cpython-312-darwin.so")
    put(tmp_path / "torch" / "lib" / "libtorch_cpu.dylib", make.image("arm64", [make.segment(0, 10**9)]))
    assert [binary.kind for binary in find(tmp_path).by_role("torch")] == ["truncated"]


def test_the_interpreter_behind_its_links(tmp_path: Path):
    base = put(tmp_path / "base" / "bin" / "python3.12", make.universal({"x86_64": INTEL, "arm64": ARM}))
    (tmp_path / "venv" / "bin").mkdir(parents=True)
    (tmp_path / "venv" / "bin" / "python3").symlink_to(base)
    (tmp_path / "venv" / "bin" / "python").symlink_to("python3")
    for executable in (None, tmp_path / "venv" / "bin" / "python"):
        found = find_binaries(executable=executable, site_packages=[], prefix=tmp_path / "venv")
        assert told(found, tmp_path) == {"base/bin/python3.12": ("x86_64", "arm64")}


@pytest.mark.parametrize(("target", "kind"), [("/opt/gone/python3.12", "missing"), ("python", "loop")])
def test_an_interpreter_that_cannot_be_reached(tmp_path: Path, target: str, kind: str):
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "python").symlink_to(target)
    found = find_binaries(executable=tmp_path / "bin" / "python", site_packages=[], prefix=tmp_path)
    assert [(binary.kind, binary.role) for binary in found.files or ()] == [(kind, "interpreter")]


def test_a_shim_is_told_as_a_script(tmp_path: Path):
    shim = put(tmp_path / "shims" / "python", b"#!/usr/bin/env bash\nexec pyenv exec python\n")
    found = find_binaries(executable=shim, site_packages=[], prefix=None)
    assert [binary.kind for binary in found.files or ()] == ["script"]


def test_folders_that_are_not_there(tmp_path: Path):
    found = find_binaries(executable=None, site_packages=[tmp_path / "no", Path("nul\0")], prefix=tmp_path / "neither")
    assert found.files == ()


def test_one_folder_under_two_names_is_read_once(tmp_path: Path):
    put(tmp_path / "lib" / "numpy" / "core" / "_multiarray_umath.cpython-311-darwin.so")
    (tmp_path / "lib64").symlink_to("lib")
    found = find_binaries(executable=None, site_packages=[tmp_path / "lib", tmp_path / "lib64"], prefix=None)
    assert len(found.files or ()) == 1


def test_files_that_a_record_places_elsewhere_are_not_followed(tmp_path: Path):
    site = tmp_path / "site"
    outside = put(tmp_path / "outside.so")
    record(
        site,
        "pkg",
        "../outside.so",
        str(outside),
        '"quoted,name.so"',
        "pkg\0/x.so",
        "a" * 5000 + "/x.so",
        "pkg/../../outside.so",
    )
    assert find(site).files == ()


@pytest.mark.timeout(30)
def test_a_hostile_tree_is_bounded(tmp_path: Path):
    put(tmp_path / "big-1.0.dist-info" / "RECORD", b".so," * (3 * 1024 * 1024))
    os.mkfifo(tmp_path / "pipe.so")
    (tmp_path / "pipe-1.0.dist-info").mkdir()
    os.mkfifo(tmp_path / "pipe-1.0.dist-info" / "RECORD")
    (tmp_path / "circle").mkdir()
    (tmp_path / "circle" / "again").symlink_to(tmp_path)
    for number in range(MAX_PACKAGES + 50):
        put(tmp_path / f"m{number:04}.cpython-312-darwin.so")
    for number in range(MAX_OPENMP + 20):
        put(tmp_path / "omp" / ".dylibs" / f"libomp-{number}.dylib")
    start = time.perf_counter()
    found = find(tmp_path)
    assert time.perf_counter() - start < 3
    assert len(found.by_role("extension")) <= MAX_PACKAGES
    assert len(found.by_role("openmp")) == MAX_OPENMP
    pipe = find_binaries(executable=tmp_path / "pipe.so", site_packages=[], prefix=None)
    assert [binary.problem for binary in pipe.files or ()] == ["a named pipe, not a file"]


def test_ordinary_environment_is_quick(tmp_path: Path, mac_wheels: MacWheels):
    """40 packages with torch in less than the time of reading their metadata three times, or 60 ms."""
    site = mac_wheels.site_packages(tmp_path / "site", ["torch-2.14.1", "torchvision-0.29.1", "numpy-2.3.5"])
    for number in range(37):
        name = f"package{number:02}"
        files = [f"{name}/module{n}.py" for n in range(250)]
        if number % 3 == 0:
            files.append(f"{name}/sub/_speedups.cpython-312-darwin.so")
            put(site / files[-1])
        put(site / f"{name}-1.0.dist-info" / "METADATA", f"Name: {name}\nVersion: 1.0\n\n".encode())
        record(site, name, *files)
        (site / name).mkdir(exist_ok=True)
    assert len(find(site).by_role("extension")) >= 13
    assert best(lambda: find(site)) < max(0.06, 3 * best(lambda: read_distributions([site])))


def best(call) -> float:
    times = []
    for _ in range(5):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return min(times)


def test_compiled_files_name_their_package(tmp_path: Path):
    put(tmp_path / "numpy.libs" / "libopenblas.so")
    put(tmp_path / "pkg" / "tests" / "x.so")
    put(tmp_path / "pkg" / "deep" / "x.so")
    found = find_compiled(tmp_path)
    assert found.extensions == [[tmp_path / "pkg" / "deep" / "x.so"]]
    assert found.libraries == [tmp_path / "numpy.libs" / "libopenblas.so"]
