"""Who says or shows that torch is installed, and misses it, runs another Python; who does not, has none."""

from __future__ import annotations

import pytest

from mpsdoctor.probes.intake.installed import tells_installation
from tests.tickets.answers import answer

MISSING = "ModuleNotFoundError: No module named 'torch'"
TOLD = [
    "I installed torch with pip but I get",
    "pip install torch succeeded.",
    "pip install torch torchvision torchaudio\n...\nSuccessfully installed filelock-3.13 torch-2.8.0",
    "pip list shows torch 2.8.0",
    "pip list\nPackage    Version\n---------- -------\nnumpy      2.1.0\ntorch      2.8.0\n",
    "pip show torch\nName: torch\nVersion: 2.8.0\nLocation: /opt/homebrew/lib/python3.12/site-packages",
    "Requirement already satisfied: torch in /Users/me/venv/lib/python3.11/site-packages (2.8.0)",
    "conda list | grep torch\npytorch                   2.5.1           py3.11_0    pytorch",
    "I have already installed PyTorch via conda",
    "torch is installed, I can import it in the terminal",
    "it works in the terminal but not in the Jupyter notebook",
    "我已经安装了 torch",
    "明明装了pytorch",
    "torch 已安装",
    "pip で torch をインストール済みです",
    "Ich habe torch mit pip installiert",
    "J'ai installé torch avec pip",
    "He instalado torch con pip",
    "Я установил torch через pip",
    "I've installed pytorch, but",
    "PyTorch has been installed successfully",
    "uv add torch worked fine",
    "I ran `pip3 install torch` and it finished without errors",
    "After installing torch I still get",
    "even though torch is installed",
    "`pip freeze | grep torch` gives torch==2.8.0",
    "In VS Code I get this, in Terminal it is fine",
    "python -c 'import torch' works in my shell",
    "I reinstalled torch three times",
    "torch was installed through the requirements.txt",
    "pip install -r requirements.txt went through, and torch is in it",
    "brew install pytorch done",
    "$ pip install torch\nInstalling collected packages: torch\nSuccessfully installed torch-2.8.0\n$",
]
NOT_TOLD = [
    "I have not installed torch",
    "torch is not installed",
    "Do I need to install torch?",
    "How do I install pytorch?",
    "You should run pip install torch",
    "Please install torch first",
    "没有安装 torch",
    "Fresh clone of the repo, then python main.py",
    "torch isn't installed on my Mac yet",
    "I did not install torch",
    "pip install -r requirements.txt gives",
    "Installing this package fails because setup.py imports torch",
    "I don't have torch installed",
]
# What programs that miss torch print by themselves, which nobody has done yet.
PRINTED = [
    "This program requires the PyTorch library but it was not found in your environment. Please run pip install torch.",
    "ImportError: torch is not installed. You can install it with `pip install torch`.",
    "Install torch with: pip3 install torch",
]


@pytest.mark.parametrize("between", ["\n", " ", ". "])
@pytest.mark.parametrize("told", TOLD)
def test_who_has_installed_it_runs_another_python(told: str, between: str) -> None:
    assert answer(f"{told}{between}{MISSING}").cause == "wrong-interpreter"
    assert answer(f"{told}\n\n```\n{MISSING}\n```").cause == "wrong-interpreter"
    assert answer(f"```\n{MISSING}\n```\n{told}").cause == "wrong-interpreter"


@pytest.mark.parametrize("told", NOT_TOLD)
def test_who_has_not_installed_it_has_none(told: str) -> None:
    got = answer(f"{told}\n{MISSING}")
    assert got.cause == "torch-not-installed"
    assert got.diagnosis.ask


@pytest.mark.parametrize("printed", PRINTED)
def test_advice_is_no_installation(printed: str) -> None:
    assert not tells_installation(printed)
    assert answer(f"{printed}\n{MISSING}").cause == "torch-not-installed"


def test_the_confidence_rests_on_what_was_told() -> None:
    assert answer(f"I installed torch.\n{MISSING}").certain is None
    assert (
        answer(f"pip list\nPackage Version\n------- -------\ntorch   2.8.0\n\n{MISSING}").cause == "wrong-interpreter"
    )


def test_pip_show_tells_a_version() -> None:
    got = answer("Name: torch\nVersion: 2.8.0\nSummary: Tensors and Dynamic neural networks\nLocation: /lib")
    assert got.facts.packages.version("torch") == "2.8.0"
    assert got.facts.torch.version == "2.8.0"
    assert answer("Name: torch\nColour: red").facts.packages.version("torch") is None
