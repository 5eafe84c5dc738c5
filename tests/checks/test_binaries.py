"""Compiled files: architectures and OpenMP runtimes."""

from __future__ import annotations

import pytest

from mpsdoctor import (
    Binaries,
    Binary,
    Conda,
    CondaPackage,
    Distribution,
    Environment,
    Host,
    ImportFailure,
    Interpreter,
    Packages,
    ProcessEnd,
    Torch,
    run_check,
)

PREFIX = "/opt/conda/envs/ml"
SITE = f"{PREFIX}/lib/python3.12/site-packages"
PYTHON = Interpreter(executable=f"{PREFIX}/bin/python", machine="arm64", prefix=PREFIX, version="3.12.4")
MAC = Host(system="Darwin", arm64_capable=True, macos_version="15.5")


def packages(installer: str | None = "pip", **versions: str) -> Packages:
    return Packages(
        distributions=tuple(
            Distribution(name=n, version=v, location=SITE, installer=installer) for n, v in versions.items()
        )
    )


def records(**versions: str) -> Conda:
    """conda's records: name="version build"."""
    made = []
    for name, text in versions.items():
        version, _, build = text.partition(" ")
        made.append(CondaPackage(name=name.replace("_", "-"), version=version, build=build, channel="conda-forge"))
    return Conda(present=True, prefix=PREFIX, packages=tuple(made))


def binary(path: str, role: str, *archs: str, kind: str = "mach-o", **fields: tuple[str, ...]) -> Binary:
    return Binary(path=f"{SITE}/{path}", role=role, kind=kind, architectures=archs, **fields)


class TestArchitectures:
    def judged(self, *files: Binary, host: Host = MAC, interpreter: Interpreter = PYTHON, **facts: object):
        return run_check("PK106", binaries=Binaries(files=files), host=host, interpreter=interpreter, **facts)

    @pytest.mark.parametrize(
        "wrong",
        [
            binary("torch/_C.cpython-312-darwin.so", "torch-extension", "x86_64"),
            binary("numpy/_core/_multiarray_umath.cpython-312-darwin.so", "numpy", "x86_64"),
            binary("torch/_C.cpython-312-x86_64-linux-gnu.so", "torch-extension", "x86_64", kind="elf"),
            binary("torch/_C.cp312-win_amd64.pyd", "torch-extension", "x86_64", kind="pe"),
        ],
    )
    def test_fails_on_files_that_no_arm64_process_loads(self, wrong: Binary) -> None:
        verdict = self.judged(wrong, packages=packages(torch="2.2.2", numpy="1.26.4"))
        assert verdict.outcome == "fail"
        name = "numpy==1.26.4" if wrong.role == "numpy" else "torch==2.2.2"
        assert verdict.remedies[0].commands[0][-1] == name
        assert (verdict.gpu is False) == (wrong.role != "numpy")

    def test_fails_on_arm64_files_under_an_intel_python(self) -> None:
        x86 = Interpreter(machine="x86_64", version="3.10.2")
        assert self.judged(binary("torch/_C.abi3.so", "torch-extension", "arm64"), interpreter=x86).outcome == "fail"
        assert self.judged(binary("torch/_C.abi3.so", "torch-extension", "x86_64"), interpreter=x86).outcome == "pass"

    @pytest.mark.parametrize("archs", [("arm64",), ("x86_64", "arm64"), ("arm64e",)])
    def test_passes_on_what_loads(self, archs: tuple[str, ...]) -> None:
        assert self.judged(binary("numpy/x.so", "numpy", *archs)).outcome == "pass"

    def test_warns_of_another_package_and_names_what_to_install(self) -> None:
        wrong = binary("PIL/_imaging.cpython-312-darwin.so", "extension", "x86_64")
        fine = binary("yaml/_yaml.cpython-312-darwin.so", "extension", "arm64")
        verdict = self.judged(wrong, fine, packages=packages(pillow="11.0.0", PyYAML="6.0"))
        assert verdict.outcome == "warn"
        assert verdict.remedies[0].commands[0][-1] == "pillow==11.0.0"

    def test_conda_reinstalls_what_conda_brought(self) -> None:
        wrong = binary("numpy/_core/x.so", "numpy", "x86_64")
        verdict = self.judged(wrong, packages=packages("conda", numpy="2.3.2"), conda=records(numpy="2.3.2"))
        assert verdict.remedies[0].commands == (("conda", "install", "--force-reinstall", "numpy"),)

    @pytest.mark.parametrize(
        "payload",
        [
            binary("debugpy/attach_linux_amd64.so", "extension", "x86_64", kind="elf"),
            binary("pkg/helper.so", "extension", "aarch64", kind="elf"),
            binary("pkg/libhelper_x86_64.dylib", "extension", "x86_64"),
            binary("torch/lib/libtorch_cpu.dylib", "torch", kind="missing"),
        ],
    )
    def test_files_for_other_systems_that_python_does_not_load_are_no_fault(self, payload: Binary) -> None:
        assert self.judged(payload).outcome == "pass"

    def test_a_torch_that_was_imported_has_no_wrong_files_in_use(self) -> None:
        left = binary("torch/_C.cpython-39-darwin.so", "torch-extension", "x86_64")
        assert self.judged(left, torch=Torch(imported=True)).outcome == "pass"

    def test_a_universal_interpreter_is_judged_by_its_torch(self) -> None:
        universal = Interpreter(binary_architectures=("x86_64", "arm64"))
        core = binary("torch/lib/libtorch_cpu.dylib", "torch", "arm64")
        old = binary("numpy/_core/x.so", "numpy", "x86_64")
        assert self.judged(core, old, interpreter=universal).outcome == "fail"
        assert self.judged(old, interpreter=universal).missing == ("interpreter.machine",)

    def test_many_packages_ask_for_a_new_environment(self) -> None:
        wrong = [binary(f"p{n}/x.abi3.so", "extension", "x86_64") for n in range(12)]
        verdict = self.judged(*wrong)
        assert "4 more" in verdict.detail
        assert "environment anew" in verdict.remedies[0].text

    def test_without_facts(self) -> None:
        assert run_check("PK106").missing == ("binaries.files",)
        assert self.judged(host=Host()).missing == ("host.system",)
        assert self.judged(interpreter=Interpreter()).missing == ("interpreter.machine",)


LINKS = ("@rpath/libomp.dylib", "/usr/lib/libSystem.B.dylib")


def core(*libraries: str, rpaths: tuple[str, ...] = ("@loader_path",)) -> Binary:
    return binary("torch/lib/libtorch_cpu.dylib", "torch", "arm64", libraries=libraries, rpaths=rpaths)


class TestLibompIsThere:
    def there(self, *files: Binary, **facts: object):
        return run_check("PK107", binaries=Binaries(files=files), interpreter=PYTHON, **facts)

    def test_fails_where_it_is_nowhere(self) -> None:
        verdict = self.there(core(*LINKS), binary("sklearn/.dylibs/libomp.dylib", "openmp", "arm64"))
        assert (verdict.outcome, verdict.confidence, verdict.gpu) == ("fail", "certain", False)

    def test_is_less_certain_where_the_linker_also_looks_outside(self) -> None:
        assert self.there(core(*LINKS, rpaths=("/opt/homebrew/opt/libomp/lib",))).confidence == "likely"
        assert self.there(core("/usr/local/opt/libomp/lib/libomp.dylib")).confidence == "likely"

    @pytest.mark.parametrize(
        "place",
        [f"{SITE}/torch/lib/libomp.dylib", f"{SITE}/functorch/.dylibs/libomp.dylib", f"{PREFIX}/lib/libiomp5.dylib"],
    )
    def test_passes_where_it_is_beside_torch_or_in_the_environment(self, place: str) -> None:
        assert self.there(core(*LINKS), Binary(path=place, role="openmp", kind="mach-o")).outcome == "pass"

    def test_follows_an_rpath(self) -> None:
        runtime = Binary(path="/x/site-packages/own/libomp.dylib", role="openmp", kind="mach-o")
        library = Binary(
            path="/x/site-packages/torch/lib/libtorch_cpu.dylib",
            role="torch",
            kind="mach-o",
            libraries=LINKS,
            rpaths=("@loader_path/../../own",),
        )
        assert self.there(library, runtime).outcome == "pass"

    def test_passes_where_torch_links_none_or_was_imported(self) -> None:
        assert self.there(core("/usr/lib/libSystem.B.dylib")).outcome == "pass"
        assert self.there(core(*LINKS), torch=Torch(imported=True)).outcome == "pass"

    def test_conda_installs_the_runtime(self) -> None:
        verdict = self.there(core(*LINKS), conda=records(pytorch="2.7.1"))
        assert verdict.remedies[0].commands[0][-1] == "llvm-openmp"

    def test_without_facts(self) -> None:
        assert run_check("PK107").missing == ("binaries.files",)
        assert self.there().outcome == "skip"


OWN = binary("torch/lib/libomp.dylib", "openmp", "arm64")
SHARED = Binary(path=f"{PREFIX}/lib/libomp.dylib", role="openmp", kind="mach-o")
INTEL = Binary(path=f"{PREFIX}/lib/libiomp5.dylib", role="openmp", kind="mach-o")
OPENBLAS = {"numpy": "2.3.2", "libblas": "3.9.0 32_h10e41b3_openblas", "libopenblas": "0.3.30 openmp_hf332438_0"}
MKL = {"numpy": "1.21.5", "blas": "1.0 mkl", "mkl": "2022.1.0"}


class TestOpenMP:
    def openmp(self, *files: Binary, conda: Conda | None = None, kmp: str | None = None, **facts: object):
        environment = Environment(variables={"KMP_DUPLICATE_LIB_OK": kmp} if kmp else {})
        return run_check(
            "PK105",
            **{
                "binaries": Binaries(files=(core(*LINKS), *files)),
                "conda": conda or Conda(),
                "environment": environment,
                "interpreter": PYTHON,
                **facts,
            },
        )

    @pytest.mark.parametrize("blas", [OPENBLAS, {"numpy": "2.0", "libopenblas": "0.3.29 h1a9d0e0_0"}])
    def test_warns_where_torchs_wheel_meets_condas_blas(self, blas: dict[str, str]) -> None:
        verdict = self.openmp(OWN, SHARED, conda=records(**blas))
        assert verdict.outcome == "warn"
        assert {e.value for e in verdict.evidence} == {OWN.path, SHARED.path}

    def test_warns_where_condas_own_torch_and_mkl_link_two_runtimes(self) -> None:
        assert self.openmp(INTEL, SHARED, conda=records(pytorch="1.12.1", **MKL)).outcome == "warn"

    def test_fails_where_the_import_crashes(self) -> None:
        died = Torch(end=ProcessEnd(how="signal", signal="SIGSEGV"), stage="import")
        verdict = self.openmp(OWN, SHARED, conda=records(**OPENBLAS), torch=died)
        assert (verdict.outcome, verdict.gpu) == ("fail", False)

    @pytest.mark.parametrize(
        "torch",
        [
            Torch(
                end=ProcessEnd(
                    how="signal", signal="SIGABRT", stderr_tail="OMP: Error #15: Initializing libiomp5.dylib"
                )
            ),
            Torch(imported=False, import_failure=ImportFailure(message="x\nOMP: Error #15: Initializing libomp.dylib")),
        ],
    )
    def test_fails_on_the_runtimes_own_message_whatever_the_files(self, torch: Torch) -> None:
        assert self.openmp(torch=torch, binaries=Binaries()).outcome == "fail"

    @pytest.mark.parametrize(
        "conda",
        [
            Conda(),
            records(numpy="2.3.2", libblas="3.9.0 20_accelerate"),
            records(numpy="2.3.2", libblas="3.9.0 32_openblas", libopenblas="0.3.30 pthreads_h0"),
            records(python="3.12"),
        ],
    )
    def test_copies_that_are_not_both_in_use_are_no_fault(self, conda: Conda) -> None:
        sklearn = binary("sklearn/.dylibs/libomp.dylib", "openmp", "arm64")
        assert self.openmp(OWN, sklearn, SHARED, conda=conda).outcome == "pass"

    def test_pips_numpy_does_not_use_condas_blas(self) -> None:
        found = packages(torch="2.14.1", numpy="2.4.6")
        assert self.openmp(OWN, SHARED, conda=records(**OPENBLAS), packages=found).outcome == "pass"

    def test_one_file_that_both_use_is_no_fault(self) -> None:
        assert self.openmp(INTEL, conda=records(pytorch="2.7.1", **OPENBLAS)).outcome == "pass"

    def test_the_silencing_variable_warns_only_beside_two_runtimes(self) -> None:
        sklearn = binary("sklearn/.dylibs/libomp.dylib", "openmp", "arm64")
        verdict = self.openmp(OWN, sklearn, kmp="TRUE")
        assert (verdict.outcome, verdict.confidence) == ("warn", "likely")
        assert self.openmp(OWN, kmp="TRUE").outcome == "pass"
        assert self.openmp(OWN, sklearn, kmp="FALSE").outcome == "pass"
        assert "only hides it" in self.openmp(OWN, SHARED, conda=records(**OPENBLAS), kmp="1").detail

    def test_without_facts(self) -> None:
        assert run_check("PK105").missing == ("binaries.files",)
