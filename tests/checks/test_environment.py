"""Variables, index settings and files that hide torch."""

from __future__ import annotations

import pytest

from mpsdoctor import (
    Distribution,
    Environment,
    Host,
    ImportFailure,
    Interpreter,
    Packages,
    ProcessEnd,
    Shadow,
    Torch,
    run_check,
)

SITE = "/e/lib/python3.12/site-packages"
INSIDE = f"{SITE}/torch/__init__.py"
INTERPRETER = Interpreter(executable="/e/bin/python", site_packages=(SITE,))
REAL = Torch(imported=True, version="2.14.1", built=True, file=INSIDE)
FILE = Shadow(name="torch", path="/proj/torch.py", kind="file")
FOLDER = Shadow(name="torch", path="/proj/torch", kind="folder")
CHECKOUT = Shadow(name="torch", path="/src/pytorch/torch", kind="checkout")
RANDOM = Shadow(name="random", path="/proj/random.py", kind="file")
INSTALLED = Packages(distributions=(Distribution(name="torch", version="2.14.1", location=SITE),))


def hides(*shadows: Shadow, torch: Torch = REAL, packages: Packages = INSTALLED):
    return run_check(
        "EN101", environment=Environment(shadows=shadows), interpreter=INTERPRETER, packages=packages, torch=torch
    )


def failed(message: str, file: str | None = None, *paths: str, kind: str = "ImportError") -> Torch:
    return Torch(imported=False, import_failure=ImportFailure(type=kind, message=message, file=file, paths=paths))


class TestNothingHidesTorch:
    def test_passes_where_nothing_is_in_the_way(self) -> None:
        assert hides().outcome == "pass"

    def test_does_not_know_without_having_looked(self) -> None:
        verdict = run_check("EN101", torch=REAL, interpreter=INTERPRETER)
        assert (verdict.outcome, verdict.missing) == ("unknown", ("environment.shadows",))

    @pytest.mark.parametrize(
        ("shadow", "cause"),
        [
            (FILE, "local-file-shadows-torch"),
            (FOLDER, "local-file-shadows-torch"),
            (CHECKOUT, "source-shadows-package"),
        ],
    )
    @pytest.mark.parametrize("imported", [True, False])
    def test_fails_where_torch_came_from_there_or_failed_there(
        self, shadow: Shadow, cause: str, imported: bool
    ) -> None:
        file = shadow.path if shadow.kind == "file" else f"{shadow.path}/__init__.py"
        torch = Torch(imported=True, file=file) if imported else failed("No module named 'torch._C'", file)
        verdict = hides(shadow, torch=torch)
        assert (verdict.outcome, verdict.gpu) == ("fail", False)
        assert (verdict.cause or "local-file-shadows-torch") == cause
        assert shadow.path in verdict.detail
        assert shadow.path in verdict.remedies[0].text

    @pytest.mark.parametrize(
        "torch",
        [
            failed("No module named 'torch.nn'; 'torch' is not a package", None, kind="ModuleNotFoundError"),
            failed("partially initialized module 'torch' has no attribute 'nn'", None, kind="AttributeError"),
            failed("invalid syntax (torch.py, line 3)", "/opt/doctor/torch_probe.py", kind="SyntaxError"),
            Torch(imported=False, end=ProcessEnd(how="exit", code=3)),
            Torch(end=ProcessEnd(how="signal", signal="SIGSEGV"), stage="import"),
        ],
    )
    def test_fails_where_the_import_failed_and_torch_itself_is_hidden(self, torch: Torch) -> None:
        assert hides(FILE, torch=torch).outcome == "fail"

    def test_is_not_blamed_for_a_failure_inside_the_installed_torch(self) -> None:
        verdict = hides(FILE, torch=failed("Library not loaded", INSIDE, f"{SITE}/torch/lib/libtorch_cpu.dylib"))
        assert verdict.outcome == "warn"

    @pytest.mark.parametrize("name", ["torch", "numpy", "torchvision"])
    def test_warns_of_what_hides_an_installed_package_without_having_hurt(self, name: str) -> None:
        installed = Packages(distributions=(Distribution(name=name, version="1"),))
        shadow = Shadow(name=name, path=f"/proj/{name}.py")
        assert hides(shadow, packages=installed).outcome == "warn"
        assert hides(shadow, packages=Packages()).outcome == "warn"
        assert hides(shadow, packages=Packages(distributions=(), partial=True)).outcome == "warn"

    def test_a_name_that_hides_nothing_installed_is_no_fault(self) -> None:
        assert hides(Shadow(name="torchvision", path="/proj/torchvision", kind="folder")).outcome == "pass"

    def test_a_file_named_like_a_standard_module_is_only_noted(self) -> None:
        verdict = hides(RANDOM)
        assert verdict.outcome == "pass"
        assert "/proj/random.py" in verdict.detail

    @pytest.mark.parametrize(
        "torch",
        [
            failed("cannot import name 'Random' from 'random' (/proj/random.py)"),
            failed("module 'random' has no attribute 'seed'", INSIDE, kind="AttributeError"),
            failed("boom", "/proj/random.py", kind="ValueError"),
            Torch(end=ProcessEnd(how="exit", code=1, stderr_tail='File "/proj/random.py", line 1')),
        ],
    )
    def test_fails_where_the_failed_import_names_that_file(self, torch: Torch) -> None:
        verdict = hides(RANDOM, torch=torch)
        assert verdict.outcome == "fail"
        assert "random.py" in verdict.detail

    def test_a_standard_name_is_not_blamed_for_another_failure(self) -> None:
        assert hides(RANDOM, torch=failed("Library not loaded: @rpath/libomp.dylib", INSIDE)).outcome == "pass"
        assert hides(RANDOM, torch=failed("see /proj/random.python/notes", INSIDE)).outcome == "pass"

    def test_an_editable_build_is_meant(self) -> None:
        own = Packages(distributions=(Distribution(name="torch", version="2.15.0a0", editable=True),))
        torch = Torch(imported=True, version="2.15.0a0", built=True, file=f"{CHECKOUT.path}/__init__.py")
        assert hides(CHECKOUT, torch=torch, packages=own).outcome == "pass"

    def test_a_built_checkout_is_no_fault_alone_and_a_warning_before_an_installed_torch(self) -> None:
        torch = Torch(imported=True, version="2.15.0a0", built=True, file=f"{CHECKOUT.path}/__init__.py")
        assert hides(CHECKOUT, torch=torch, packages=Packages(distributions=())).outcome == "pass"
        verdict = hides(CHECKOUT, torch=torch)
        assert (verdict.outcome, verdict.cause) == ("warn", "source-shadows-package")

    @pytest.mark.parametrize(
        ("file", "cause"),
        [
            ("/proj/lib/torch.py", "local-file-shadows-torch"),
            ("/Users/u/.cache/torch/hub/x/torch/__init__.py", "source-shadows-package"),
        ],
    )
    def test_an_import_from_elsewhere_that_is_no_torch_fails(self, file: str, cause: str) -> None:
        verdict = hides(torch=Torch(imported=True, file=file))
        assert (verdict.outcome, verdict.cause) == ("fail", cause)

    def test_a_working_torch_from_elsewhere_is_no_fault(self) -> None:
        assert (
            hides(torch=Torch(imported=True, version="2.14.1", built=True, file="/opt/own/torch/__init__.py")).outcome
            == "pass"
        )

    def test_a_folder_without_code_is_not_torch(self) -> None:
        nothing = Packages(distributions=())
        assert hides(torch=Torch(imported=True, stage="ask"), packages=nothing).outcome == "fail"
        assert hides(torch=Torch(imported=True), packages=nothing).outcome == "pass"


def watermark(torch: Torch | None = None, **variables: str):
    names = {f"PYTORCH_MPS_{name.upper()}_WATERMARK_RATIO": value for name, value in variables.items()}
    return run_check("EN102", environment=Environment(variables=names), torch=torch or Torch(version="2.14.1"))


class TestWatermarkRatios:
    def test_passes_without_them_and_with_sound_ones(self) -> None:
        assert watermark().outcome == "pass"
        assert watermark(high="1.5").outcome == "pass"
        assert "set, and accepted" in watermark(high="0.7", low="0.5").detail

    def test_does_not_know_without_the_environment(self) -> None:
        assert run_check("EN102").missing == ("environment.variables",)

    @pytest.mark.parametrize("variables", [{"high": "0.7"}, {"high": "3"}, {"high": "lots"}, {"low": "1.9"}])
    def test_fails_on_what_torch_refuses(self, variables: dict[str, str]) -> None:
        verdict = watermark(**variables)
        assert (verdict.outcome, verdict.gpu) == ("fail", False)
        assert verdict.remedies[0].commands[0][0] == "unset"

    def test_a_gpu_that_was_used_all_the_same_is_not_broken(self, wheel_mac) -> None:
        assert watermark(wheel_mac.torch, high="0.7").outcome == "warn"

    def test_warns_of_a_limit_taken_away(self) -> None:
        assert watermark(high="0.0").outcome == "warn"


def variables(torch: Torch | None = None, **values: str):
    return run_check("EN104", environment=Environment(variables=values), torch=torch or Torch(version="2.14.1"))


class TestVariablesDoWhatTheySay:
    def test_passes_on_useful_and_foreign_ones(self) -> None:
        assert variables(PYTORCH_ENABLE_MPS_FALLBACK="1", OMP_NUM_THREADS="4", PYTHONPATH="/x").outcome == "pass"
        assert run_check("EN104").missing == ("environment.variables",)

    @pytest.mark.parametrize("name", ["PYTORCH_MPS_DISABLE", "PYTORCH_MPS_ENABLE_FALLBACK"])
    def test_warns_of_names_that_no_release_reads(self, name: str) -> None:
        verdict = variables(**{name: "1"})
        assert verdict.outcome == "warn"
        assert name in verdict.detail

    def test_warns_of_a_value_that_means_the_contrary(self) -> None:
        assert variables(PYTORCH_ENABLE_MPS_FALLBACK="false").outcome == "warn"

    def test_one_that_stops_an_old_torch_fails_only_with_the_import(self) -> None:
        old = Torch(version="2.5.1", imported=False, import_failure=ImportFailure(message="stoi: no conversion"))
        assert variables(old, PYTORCH_ENABLE_MPS_FALLBACK="true").outcome == "fail"
        died = Torch(version="2.5.1", imported=False, end=ProcessEnd(how="signal", signal="SIGABRT"), stage="import")
        assert variables(died, PYTORCH_ENABLE_MPS_FALLBACK="true").outcome == "fail"
        other = Torch(version="2.5.1", imported=False, import_failure=ImportFailure(message="Library not loaded"))
        assert variables(other, PYTORCH_ENABLE_MPS_FALLBACK="true").outcome == "warn"
        assert variables(Torch(version="2.5.1"), PYTORCH_ENABLE_MPS_FALLBACK="true").outcome == "warn"

    def test_tells_the_worst_first_and_names_all(self) -> None:
        verdict = variables(Torch(version="2.5.1"), PYTORCH_ENABLE_MPS_FALLBACK="true", PYTORCH_MPS_DISABLE="1")
        assert verdict.detail.startswith("PYTORCH_ENABLE_MPS_FALLBACK")
        assert len(verdict.evidence) == len(verdict.remedies) == 2

    def test_leaves_limits_and_openmp_to_their_own_checks(self) -> None:
        assert variables(PYTORCH_MPS_HIGH_WATERMARK_RATIO="0.0", KMP_DUPLICATE_LIB_OK="TRUE").outcome == "pass"


MAC = Host(system="Darwin", arm64_capable=True)


def pins(torch: Torch | None = None, **values: str):
    return run_check("EN103", host=MAC, environment=Environment(variables=values), torch=torch or Torch())


class TestInstallersLookForMacBuilds:
    @pytest.mark.parametrize(
        ("name", "value"),
        [
            ("PIP_EXTRA_INDEX_URL", "https://download.pytorch.org/whl/cu121"),
            ("PIP_INDEX_URL", "https://download.pytorch.org/whl/nightly/cu128"),
            ("UV_EXTRA_INDEX_URL", "https://a.example/simple https://download.pytorch.org/whl/rocm6.2"),
            ("UV_INDEX", "pytorch=https://download.pytorch.org/whl/test/xpu"),
            ("UV_TORCH_BACKEND", "cu126"),
            ("PIP_PLATFORM", "manylinux2014_x86_64"),
            ("UV_PYTHON", "cpython-3.12-linux-x86_64-gnu"),
        ],
    )
    def test_warns_of_a_setting_for_other_machines(self, name: str, value: str) -> None:
        verdict = pins(**{name: value})
        assert verdict.outcome == "warn"
        assert ("unset", name) in verdict.remedies[0].commands

    @pytest.mark.parametrize(
        ("name", "value"),
        [
            ("PIP_EXTRA_INDEX_URL", "https://download.pytorch.org/whl/cpu"),
            ("PIP_INDEX_URL", "https://download.pytorch.org/whl/nightly/cpu"),
            ("PIP_INDEX_URL", "https://mirror.example/curated/simple"),
            ("UV_TORCH_BACKEND", "auto"),
            ("UV_TORCH_BACKEND", "cpu"),
            ("UV_PYTHON", "3.12"),
            ("UV_PYTHON", "/Users/user/linux-tools/x86_64/bin/python"),
            ("PIP_PLATFORM", "macosx_14_0_arm64"),
        ],
    )
    def test_passes_on_settings_that_suit_a_mac(self, name: str, value: str) -> None:
        assert pins(**{name: value}).outcome == "pass"

    def test_warns_of_an_intel_python_for_uv_on_apple_silicon_only(self) -> None:
        verdict = pins(UV_PYTHON="cpython-3.12-macos-x86_64-none")
        assert (verdict.outcome, verdict.cause) == ("warn", "x86-python-under-rosetta")
        intel = Host(system="Darwin", arm64_capable=False)
        environment = Environment(variables={"UV_PYTHON": "cpython-3.12-macos-x86_64-none"})
        assert run_check("EN103", host=intel, environment=environment).outcome == "pass"

    @pytest.mark.parametrize("version", ["2.5.1+cu121", "2.7.0+rocm6.3", "2.8.0+xpu"])
    def test_fails_on_an_installed_build_for_another_gpu(self, version: str) -> None:
        assert pins(Torch(version=version)).outcome == "fail"

    @pytest.mark.parametrize("version", ["2.14.1", "2.14.1+cpu", "2.15.0a0+git2d5fec4", "2.9.1+custom"])
    def test_other_suffixes_are_no_fault(self, version: str) -> None:
        assert pins(Torch(version=version)).outcome == "pass"

    def test_is_no_fault_where_the_machine_is_not_known_to_be_a_mac(self) -> None:
        torch = Torch(version="2.5.1+cu121")
        assert run_check("EN103", torch=torch).missing == ("environment.variables",)
