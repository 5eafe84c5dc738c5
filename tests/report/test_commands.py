"""Commands stand whole on lines of their own, apart from the words around them."""

import re
import shlex

import pytest

from mpsdoctor.knowledge import causes, messages, releases
from mpsdoctor.registry import load_registry
from mpsdoctor.report import explain_text
from mpsdoctor.report.commands import Part, parts
from tests.conftest import ROOT

ADVICE = sorted(
    {step for cause in causes.causes() for step in cause.what_to_do} | {row.remedy for row in messages.messages()}
)
SHELL = re.compile(r"^(?:[A-Z_]+=\S+ )*(?:python3?|pip|uv|conda|brew|sysctl|mpsdoctor|export|unset) ")
WIDTHS = [40, 80, 100]


def commands(text):
    return [part.text for part in parts(text) if part.command]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("uv:     uv venv --python 3.12", ["uv venv --python 3.12"]),
        ("Install it: python -m pip install torch torchvision", ["python -m pip install torch torchvision"]),
        ("conda:  install it, then  conda create -n ml", ["conda create -n ml"]),
        (
            'python -c "import torch; print(torch.__file__)" shows it.',
            ['python -c "import torch; print(torch.__file__)"'],
        ),
        ("pip install 'numpy<2', or torch 2.3 or later.", ["pip install 'numpy<2'"]),
        ("sysctl -n hw.optional.arm64    (1: Apple silicon)", ["sysctl -n hw.optional.arm64"]),
        ("python3 -m venv .venv.", ["python3 -m venv .venv"]),
        ("Make an environment: python3 -m venv .venv.", ["python3 -m venv .venv"]),
        ("The program needs the package python and conda.", []),
        ("x = x.to(torch.float32)      or  torch.from_numpy(a)", ["x = x.to(torch.float32)", "torch.from_numpy(a)"]),
    ],
)
def test_commands_are_told_from_words(text, found):
    assert commands(text) == found


@pytest.mark.parametrize("text", ADVICE)
def test_no_word_of_advice_is_lost_and_no_command_carries_a_comment(text):
    words = re.sub(r"[^\w<=>'\"/-]", "", "".join(part.text for part in parts(text)))
    lost = re.sub(r"[^\w<=>'\"/-]", "", text)
    assert words in (lost, lost.replace("or", "", 1)) or len(lost) - len(words) < 8
    for command in commands(text):
        if SHELL.match(command) and "EOF" not in command:
            assert shlex.split(command)
            assert not re.search(
                r" (?:shows|tells|decides|instead|must|which|with the|on Apple|then|for torch)\b",
                re.sub(r"\"[^\"]*\"", "", command),
            )


def whole(lines):
    """The lines, without the label that the first of them may stand beside."""
    return [line.plain.strip().removeprefix("What to do").strip() for line in lines]


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("cause", causes.causes(), ids=lambda cause: cause.slug)
def test_an_explanation_never_wraps_a_command(cause, width):
    lines = whole(explain_text.explain_cause(cause, load_registry().checks, width))
    for step in cause.what_to_do:
        for command in commands(step):
            assert command in lines


@pytest.mark.parametrize("width", WIDTHS)
def test_a_message_never_wraps_its_command(width):
    for row in messages.messages():
        lines = whole(explain_text.explain_messages([row], width))
        for command in commands(row.remedy):
            assert command in lines


def test_advice_that_leads_to_a_newer_torch_names_the_limits_of_each_macos():
    for slug, limited in (("torch-too-old", True), ("mps-not-built", True), ("float64-on-mps", False)):
        text = "\n".join(line.plain for line in explain_text.explain_cause(causes.cause(slug), (), 100))
        for macos in ("13", "14"):
            best = releases.newest_for(macos, None, "arm64").version
            assert (f"on macOS {macos} at most {best}" in " ".join(text.split())) is limited


def test_words_behind_a_command_stay_sentences():
    text = "pip install 'numpy<2'      with Python 3.12 Run on the CPU."
    assert [part.text for part in parts(text.replace(" Run", "      Run"))] == [
        "pip install 'numpy<2'",
        "with Python 3.12. Run on the CPU.",
    ]


def test_parts_are_words_or_commands():
    assert parts("") == []
    assert parts("Only words here.") == [Part("Only words here.", command=False)]


@pytest.mark.parametrize("cause", causes.causes(), ids=lambda cause: cause.slug)
def test_the_steps_of_a_cause_in_one_text_keep_their_commands_apart(cause: causes.Cause) -> None:
    """So the checks join them: with two blanks, as a table would."""
    alone = [part.text for step in cause.what_to_do[:2] for part in parts(step) if part.command]
    assert [part.text for part in parts("  ".join(cause.what_to_do[:2])) if part.command] == alone


def test_no_check_joins_steps_with_one_blank() -> None:
    joins = re.compile(r'" "\.join\(\w+\.what_to_do')
    assert [path.name for path in (ROOT / "checks").glob("*.py") if joins.search(path.read_text())] == []
