"""Answers that a sentence quotes: platform.machine(), is_available(), is_built(), and where the program runs."""

from datetime import date

import pytest

from mpsdoctor.diagnosis import diagnose
from mpsdoctor.probes.intake import read_ticket
from mpsdoctor.registry import judge, load_registry

X86 = [
    "`platform.machine()` 显示 x86_64",
    "platform.machine() 输出 x86_64",
    "platform.machine() 输出的是 x86_64",
    "platform.machine() returns x86_64",
    "platform.machine() prints 'x86_64'",
    "platform.machine() says `x86_64`.",
    "platform.machine(): x86_64",
    "platform.machine() gibt x86_64",
    "platform.machine()はx86_64と表示されます",
    "it prints x86_64 for platform.machine()",
    "Python reports x86_64 here",
    "uname -m gives x86_64",
    "`uname -m` -> x86_64",
]
NOT_SAID = [
    "platform.machine() must print arm64",
    "should platform.machine() not be x86_64?",
    "Do I need python arm64?",
    "torch-2.2.2-cp311-none-macosx_10_9_x86_64.whl",
]


def read(text):
    facts, _ = read_ticket(text.encode())
    return facts


def first_cause(text):
    facts = read(text)
    return diagnose(judge(facts, load_registry(), today=date(2026, 11, 30)), facts).causes[0]


@pytest.mark.parametrize("text", X86)
def test_a_quoted_architecture_is_read(text):
    facts = read(f"M1 Mac, macOS 14. {text}")
    assert facts.interpreter.machine == "x86_64"
    assert facts.interpreter.sources["machine"].startswith("line 1 (")
    found = first_cause(f"M1 Mac, macOS 14. {text}. is_available() 是 False, is_built() 也是 False")
    assert found.cause == "x86-python-under-rosetta"
    assert "PY101" in found.checks


@pytest.mark.parametrize("text", NOT_SAID)
def test_what_should_be_is_not_what_is(text):
    assert read(text).interpreter.machine is None


@pytest.mark.parametrize(
    ("text", "available", "built"),
    [
        ("is_available() 是 False, is_built() 也是 False", False, False),
        ("is_available() is False and is_built() is False too", False, False),
        ("is_built() is True, is_available() is still False", False, True),
        ("torch.backends.mps.is_available() and torch.backends.mps.is_built() are both False", False, False),
        ("torch.backends.mps.is_built() 返回 True, mps.is_available() 返回了 False", False, True),
        ("is_available False.", False, None),
        ("`torch.backends.mps.is_available` returns `False`", False, None),
        ("torch.cuda.is_available() is False", None, None),
        ("torch.cuda.is_available() is False but torch.backends.mps.is_available() is True", True, None),
        ("is_available() should be True", None, None),
    ],
)
def test_quoted_answers_of_torch(text, available, built):
    torch = read(text).torch
    assert (torch.available, torch.built) == (available, built)


@pytest.mark.parametrize(
    "where",
    ["I run it from Codex.", "I run it in a sandbox.", "It runs over ssh.", "It is an ssh session.", "通过 ssh 运行"],
)
@pytest.mark.parametrize("answer", ["is_available False", "torch.backends.mps.is_available() returns False"])
def test_a_sandbox_hides_the_device(where, answer):
    found = first_cause(f"M3, macOS 26.2, python 3.12 arm64, torch 2.10.0, {answer}. {where}")
    assert (found.cause, found.confidence) == ("metal-device-not-visible", "likely")


@pytest.mark.parametrize("where", ["I do not run it in a sandbox.", "No, not over ssh."])
def test_a_sandbox_that_is_denied_is_none(where):
    assert read(f"M3, is_available False. {where}").environment.sandbox is None


def test_an_old_macos_comes_before_the_sandbox():
    text = "M3, macOS 13.2, python 3.12 arm64, torch 2.10.0, is_available False. I run it from Codex."
    assert first_cause(text).cause == "macos-too-old-for-torch"
