"""What fixes choose: the user's versions where they can stay, and nothing that the finding does not speak of."""

from __future__ import annotations

import dataclasses

import pytest

from mpsdoctor.diagnosis import Diagnosis, FoundCause
from mpsdoctor.facts import Binaries, Binary, Environment, ImportFailure, Shadow, Torch
from mpsdoctor.repair.plan import Plan
from mpsdoctor.repair.planner import make_plan
from mpsdoctor.repair.registry import load_fixes
from mpsdoctor.repair.survey import FoundPython, Survey, TextFile
from tests.fixes.golden import CASES, CONDA, SITE, Case, _conda, _facts, installed, mac, venv


def words(plan: Plan) -> list[str]:
    return [word for step in plan.steps for word in step.argv or ()]


def test_a_cause_that_is_not_there_is_told_with_those_that_are() -> None:
    case = CASES["numpy2-abi"]
    plan = make_plan(case.facts, case.diagnosis(), load_fixes(), only=("duplicate-openmp",))
    (refused,) = plan.refused
    assert (plan.steps, plan.manual, refused.cause) == ((), (), "duplicate-openmp")
    assert refused.because == "it was not found here; found: numpy2-abi"
    both = make_plan(case.facts, case.diagnosis(), load_fixes(), only=("duplicate-openmp", "numpy2-abi"))
    assert [fix.cause for fix in both.fixes] == ["numpy2-abi"]
    assert [item.cause for item in both.refused] == ["duplicate-openmp"]


def test_no_companion_is_installed_that_is_not_there() -> None:
    facts = _facts(packages=installed(torch="2.14.1", torchaudio="2.9.0"))
    alone = Case(facts, causes=("companion-version-mismatch",))
    assert any(word.startswith("torchaudio==") for word in words(alone.plan()))
    assert not any(word.startswith("torchvision") for word in words(alone.plan()))
    none = dataclasses.replace(alone, facts=_facts(packages=installed(torch="2.14.1")))
    assert not any(word.startswith("torchvision") for word in words(none.plan()))


@pytest.mark.parametrize(
    ("there", "chosen"),
    [((), ".venv"), ((".venv",), ".venv-torch"), ((".venv", ".venv-torch"), ".venv-torch2")],
)
def test_a_venv_that_is_there_is_not_built_over(there: tuple[str, ...], chosen: str) -> None:
    case = CASES["torch-not-installed, Homebrew's Python"]
    survey = dataclasses.replace(
        case.survey, project_folder="/p", existing=tuple(f"/p/{name}" for name in there), pip=True
    )
    (fix,) = dataclasses.replace(case, survey=survey).plan().fixes
    assert fix.python == f"/p/{chosen}/bin/python"
    assert {path for step in fix.steps for path in step.writes} == {f"/p/{chosen}"}


@pytest.mark.parametrize(
    ("torch", "numpy", "wanted"),
    [("2.14.1", "1.26.4", "numpy==1.26.4"), ("2.14.1", "2.3.5", "numpy==2.3.5"), ("2.2.2", "2.3.5", "numpy<2")],
)
@pytest.mark.parametrize("cause", ["duplicate-openmp", "mixed-package-sources"])
def test_numpy_stays_as_it_is_where_torch_allows_it(cause: str, torch: str, numpy: str, wanted: str) -> None:
    host = mac(macos_version="13.6") if torch == "2.2.2" else mac()
    packages = installed(torch=torch, numpy=numpy)
    if cause == "mixed-package-sources":
        old = installed(torch="2.1.0", numpy="1.21.0").distributions or ()
        packages = dataclasses.replace(packages, distributions=(*(packages.distributions or ()), *old))
    facts = _facts(packages=packages, host=host, interpreter=venv(version="3.11.9"), torch=Torch(version=torch))
    asked = [
        word for word in words(Case(facts, causes=(cause,)).plan()) if word.startswith("numpy") and word != "numpy"
    ]
    assert set(asked) == {wanted}


def test_only_the_file_that_the_finding_names_is_renamed() -> None:
    shadows = (
        Shadow(name="numpy", path="/Users/user/proj/numpy", kind="folder"),
        Shadow(name="torch", path="/Users/user/proj/torch", kind="folder"),
        Shadow(name="torch", path="/Users/user/proj/torch.py", kind="file"),
    )
    facts = _facts(
        packages=installed(torch="2.14.1"),
        environment=Environment(variables={}, shadows=shadows),
        torch=Torch(
            imported=False,
            import_failure=ImportFailure(type="AttributeError", message="x", file="/Users/user/proj/torch.py"),
        ),
    )
    summary = "import torch fails because Python finds the file /Users/user/proj/torch.py in place of the real torch."
    cause = FoundCause("local-file-shadows-torch", "environment", ("EN101",), "certain", summary, "")
    plan = make_plan(facts, Diagnosis("broken", False, (cause,)), load_fixes())
    assert [step.writes[0] for step in plan.steps if step.title.startswith("rename")] == ["/Users/user/proj/torch.py"]


def test_condas_setting_and_the_wrong_files_are_both_mended() -> None:
    facts = _conda("conda-forge", numpy="2.3.2 py312_0")
    wrong = Binary(
        path=f"{CONDA}/lib/python3.12/site-packages/numpy/x.so", role="extension", kind="mach-o",
        architectures=("x86_64",),
    )  # fmt: skip
    facts = dataclasses.replace(
        facts, binaries=Binaries(files=(wrong,)), packages=installed("conda", numpy="2.3.2", torch="2.9.1")
    )
    cause = FoundCause("arch-mismatch-binaries", "environment", ("CO102", "PK106"), "certain", "both.", "By hand.")
    plan = make_plan(facts, Diagnosis("broken", False, (cause,)), load_fixes())
    assert [step.argv[1] for step in plan.steps if step.argv] == ["config", "install"]
    assert any("numpy" in word for word in plan.steps[1].argv or ())
    listed_by_conda = dataclasses.replace(facts, packages=installed("conda", torch="2.9.1"))
    plan = make_plan(listed_by_conda, Diagnosis("broken", False, (cause,)), load_fixes())
    assert "numpy" in (plan.steps[1].argv or ())
    listed_by_none = dataclasses.replace(listed_by_conda, conda=dataclasses.replace(facts.conda, packages=()))
    plan = make_plan(listed_by_none, Diagnosis("broken", False, (cause,)), load_fixes())
    assert [step.argv[1] for step in plan.steps if step.argv] == ["config"]
    assert [item.text for item in plan.manual] == ["By hand."]


@pytest.mark.parametrize(("found", "asked"), [("3.12", "rich==14.0"), ("3.14", "rich")])
def test_versions_are_kept_with_the_python_and_not_for_another(found: str, asked: str) -> None:
    survey = Survey(live=True, pip=True, pythons=(FoundPython(f"/opt/python{found}", found, "arm64"),))
    facts = _facts(
        interpreter=venv(version="3.12.1" if found == "3.12" else "3.16.0", base_exists=False),
        packages=installed(torch="2.14.1", rich="14.0"),
    )
    cause = "broken-venv" if found == "3.12" else "python-version-no-wheel"
    (fix,) = Case(facts, survey=survey, causes=(cause,)).plan().fixes
    assert asked in [word for step in fix.steps for word in step.argv or ()]
    assert any("the other Python" in note for note in fix.notes) is (found != "3.12")


def test_an_index_for_others_is_told_and_the_file_is_left_alone() -> None:
    file = TextFile("/p/requirements.txt", "--index-url https://download.pytorch.org/whl/cu121\ntorch\n")
    case = Case(_facts(packages=installed(torch="2.14.1")), Survey(requirements=(file,)), causes=("non-mac-wheel-pin",))
    plan = case.plan()
    assert plan.fixes == ()
    assert "Split requirements.txt" in plan.manual[0].text
    assert SITE not in plan.manual[0].text
