"""What is named and advised where torch is missing, refused, not the one described, or has to be another release."""

from datetime import date

import pytest

from mpsdoctor.diagnosis import diagnose
from mpsdoctor.knowledge import operators, releases, versions
from mpsdoctor.probes.intake import read_ticket
from mpsdoctor.registry import judge, load_registry

NO_TORCH = "ModuleNotFoundError: No module named 'torch'"
REFUSED = "error: externally-managed-environment\n\n× This environment is externally managed"
MISSING = "NotImplementedError: The operator 'aten::{}' is not currently implemented for the MPS device."


def judged(text):
    facts, _ = read_ticket(text.encode())
    findings = judge(facts, load_registry(), today=date(2026, 11, 30))
    first = diagnose(findings, facts).causes[0]
    finding = next(one for one in findings if one.id == first.checks[0])
    return first, finding.verdict


@pytest.mark.parametrize("before", ["", "M2, macOS 15.1, Python 3.12. ", "Traceback (most recent call last):\n"])
def test_a_missing_torch_alone_is_not_installed(before):
    first, verdict = judged(before + NO_TORCH)
    assert (first.cause, first.confidence) == ("torch-not-installed", "likely")
    assert verdict.remedies[0].commands[0][:4] == ("python", "-m", "pip", "install")


@pytest.mark.parametrize(
    "told",
    [
        "I did pip3 install torch.",
        "I installed PyTorch with conda.",
        "Requirement already satisfied: torch in ./lib",
        "Successfully installed numpy-2.1.0 torch-2.8.0",
        "torch is already installed.",
        "pip3 list shows torch 2.4.0.",
        "装了 torch 还是不行",
    ],
)
def test_a_torch_that_was_installed_is_in_another_python(told):
    assert judged(f"{told}\n{NO_TORCH}")[0].cause == "wrong-interpreter"


def test_a_refusing_python_has_words_and_commands_of_its_own():
    first, verdict = judged(REFUSED)
    assert first.cause == "wrong-interpreter"
    assert "refuses installations" in first.summary
    assert verdict.remedies[0].commands == (
        ("python3", "-m", "venv", ".venv"),
        (".venv/bin/python", "-m", "pip", "install", "torch", "torchvision"),
    )


OPERATORS = [
    (name, operators.first_release(name)) for name in ("isin", "_fft_r2c", "_upsample_bicubic2d_aa.out", "roll")
]


@pytest.mark.parametrize(("operator", "since"), [pair for pair in OPERATORS if pair[1]])
def test_a_torch_that_has_the_kernel_is_not_the_one_that_runs(operator, since):
    at = [one.version for one in releases.releases()].index(since)
    for version in (since, releases.releases()[at + 1].version, releases.newest().version):
        first, verdict = judged(f"M3, macOS 15.1, arm64 python 3.12, torch {version}\n{MISSING.format(operator)}")
        assert (first.cause, first.confidence) == ("wrong-interpreter", "likely")
        assert "in any torch" not in first.summary
        assert "torch.__file__" in verdict.remedies[0].text
    older = releases.releases()[at - 1].version
    assert judged(f"M3, macOS 15.1, torch {older}\n{MISSING.format(operator)}")[0].cause == "torch-too-old"


def test_an_operator_without_any_kernel_stays_one():
    text = f"M3, macOS 15.1, torch 2.8.0\n{MISSING.format('_linalg_eigvals')}"
    assert judged(text)[0].cause == "op-not-implemented"


@pytest.mark.parametrize("macos", ["13.6", "14.5", "15.1", "26.1"])
@pytest.mark.parametrize(
    "error",
    [
        NO_TORCH,
        REFUSED,
        MISSING.format("isin"),
        "AttributeError: module 'torch' has no attribute 'compile'",
        "ModuleNotFoundError: No module named 'torch.nn.attention'",
    ],
)
def test_an_installation_names_what_this_macos_can_use(macos, error):
    best = releases.newest_for(macos, "3.11", "arm64")
    _, verdict = judged(f"M1, macOS {macos}, Python 3.11 arm64\n{error}")
    last = verdict.remedies[0].commands[-1]
    assert f"torch=={best.version}" in last
    assert f"torchvision=={best.torchvision}" in last


def test_who_has_the_newest_is_not_told_to_install_it():
    best = releases.newest_for("13.6", "3.11", "arm64")
    text = f"M1, macOS 13.6, Python 3.11, torch {best.version}\nModuleNotFoundError: No module named 'torch.nn.new'"
    _, verdict = judged(text)
    assert verdict.remedies[0].commands == ()
    assert f"no torch above {best.version}" in verdict.remedies[0].text
    assert versions.at_least(releases.newest().version, best.version)


@pytest.mark.parametrize(("names", "verb"), [(("torchvision",), "belongs"), (("torchvision", "torchaudio"), "belong")])
def test_one_package_belongs_and_two_belong(names, verb):
    stale = {"torchvision": "0.17.2", "torchaudio": "2.2.2"}
    listed = "\n".join(f"[pip3] {name}=={stale[name]}" for name in names)
    facts, _ = read_ticket(f"[pip3] torch==2.8.0\n{listed}\nOS: macOS 15.1 (arm64)\n".encode())
    findings = judge(facts, load_registry(), today=date(2026, 11, 30))
    remedies = [one.text for finding in findings for one in finding.verdict.remedies]
    assert any(f"which {verb} to torch 2.8.0" in text for text in remedies)


@pytest.mark.parametrize("macos", ["13.6", "14.5"])
def test_a_refused_macos_gets_a_command_with_its_newest_release(macos):
    best, newest = releases.newest_for(macos, "3.12", "arm64"), releases.newest().version
    text = f"M1, macOS {macos}, Python 3.12 arm64, torch {newest}\nThe MPS backend is supported on MacOS 14.0+."
    first, verdict = judged(text)
    assert first.cause == "macos-too-old-for-torch"
    assert f"torch=={best.version}" in verdict.remedies[0].commands[0]
