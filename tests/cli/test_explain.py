"""`explain` and `list` on the command line: nothing given, commands to copy, whole descriptions."""

import re

import pytest

from mpsdoctor.knowledge import causes
from mpsdoctor.registry import load_registry


@pytest.mark.parametrize(("arguments", "stdin"), [([""], None), (["  "], None), (["-"], b""), (["-"], b" \n\n")])
def test_nothing_given_is_a_usage_error(mpsdoctor, arguments, stdin):
    ran = mpsdoctor("explain", *arguments, stdin=stdin)
    assert ran.code == 2
    assert "nothing was given" in ran.err
    assert ran.out == ""


def test_a_missing_torch_is_explained_with_a_command_for_this_mac(mpsdoctor):
    ran = mpsdoctor("explain", "M1, macOS 13.6, Python 3.11. No module named 'torch'", env={"COLUMNS": "40"})
    assert ran.code == 0
    assert ran.out.startswith("torch-not-installed")
    command = next(line.strip() for line in ran.out.splitlines() if "pip install" in line)
    assert re.fullmatch(r"python -m pip install torch==2\.8\.0 torchvision==0\.23\.0", command)


@pytest.mark.parametrize("columns", ["40", "80", "100"])
def test_lists_are_wrapped_and_never_cut(mpsdoctor, columns):
    names = ("list checks", "list causes", "explain --list")
    shown = {name: mpsdoctor(*name.split(), env={"COLUMNS": columns}).out for name in names}
    assert all("..." not in text and "…" not in text for text in shown.values())
    for text in shown.values():
        assert max(map(len, text.splitlines())) <= 100
    flat = {name: " ".join(text.split()) for name, text in shown.items()}
    for check in load_registry().checks:
        assert check.title in flat["list checks"]
    for cause in causes.causes():
        assert " ".join(cause.means.split()) in flat["list causes"]
        assert " ".join(cause.means.split()) in flat["explain --list"]


@pytest.mark.parametrize(
    "text",
    [
        "-[MTLDebugComputeCommandEncoder setBuffer:offset:atIndex:]: failed assertion, Placeholder storage has not "
        "been allocated on MPS device!",
        "-h is not the matter: Placeholder storage has not been allocated on MPS device!",
        "--> RuntimeError: Placeholder storage has not been allocated on MPS device!",
    ],
)
def test_a_text_may_begin_with_a_dash(text, mpsdoctor):
    done = mpsdoctor("explain", text)
    assert (done.code, done.err) == (0, "")
    assert "tensor-on-wrong-device" in done.out


@pytest.mark.parametrize("option", ["--lsit", "-x", "--h"])
def test_an_option_that_is_none_is_told(option, mpsdoctor):
    done = mpsdoctor("explain", option, "some text")
    assert (done.code, done.err.count("\n")) == (2, 1)
