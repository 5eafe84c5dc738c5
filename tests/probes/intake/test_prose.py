"""Prose is told from code and errors, and what rests on it is marked as told."""

from __future__ import annotations

import pytest

from mpsdoctor.probes.intake import read_ticket
from mpsdoctor.probes.intake.prose import is_error, is_prose
from tests.tickets.answers import answer

CODE = [
    "import torch",
    "from torch import nn",
    'File "/Users/me/x.py", line 3, in <module>',
    "def forward(self, x):",
    "x = torch.ones(3)",
    "pip install torch",
    "return x",
    "    ^^^^^^",
    "python train.py --device mps",
]
PROSE = [
    "It crashes on my Mac.",
    "我的 Mac 上会崩溃",
    "Mein Mac stürzt ab",
    "If I use mps it is slow",
    "Return to the old version",
]


@pytest.mark.parametrize("line", CODE)
def test_code_is_no_prose(line: str) -> None:
    assert not is_prose(line)


@pytest.mark.parametrize("line", PROSE)
def test_words_are_prose(line: str) -> None:
    assert is_prose(line)
    assert not is_error(line)


@pytest.mark.parametrize("line", ["RuntimeError: x", "error: x", "ERROR x", "UserWarning: y", "Traceback (most recent"])
def test_an_error_is_no_prose(line: str) -> None:
    assert not is_prose(line)


@pytest.mark.parametrize(
    ("line", "subject", "name", "expected"),
    [
        ("I use a MacBook Air M2 with 16GB of memory.", "host", "chip", "Apple M2"),
        ("I use a MacBook Air M2 with 16GB of memory.", "host", "memory_bytes", 16 << 30),
        ("My laptop runs macOS Sonoma 14.5.", "host", "macos_version", "14.5"),
        ("It is Python 3.11 with torch 2.4.1.", "interpreter", "version", "3.11"),
        ("It is Python 3.11 with torch 2.4.1.", "torch", "version", "2.4.1"),
        ("The terminal runs under Rosetta.", "host", "shell_translated", True),
        ("This happens on a GitHub-hosted macos-14 runner.", "host", "hypervisor_present", True),
        ("I run it in a docker container on my Mac.", "host", "container", "docker"),
        ("I run it outside of docker.", "host", "container", None),
        ("It needs macOS 14.0 or newer.", "host", "macos_version", None),
        ("My iMac has an Intel Core i7.", "host", "chip", "Intel"),
    ],
)
def test_what_people_tell_of_their_machine(line: str, subject: str, name: str, expected: object) -> None:
    told = getattr(read_ticket(line.encode())[0], subject)
    assert getattr(told, name) == expected
    if expected is not None:
        assert told.sources[name].endswith("(told)")


@pytest.mark.parametrize(
    "story",
    [
        "The pictures come out black on my M2.",
        "mps is much slower than the cpu on my M1 with macOS 14",
        "The program asks for CUDA everywhere and stops.",
        "我的 M2 上生成的图片是全黑的",
        "On my M3 the model answers with gibberish only.",
        "Es kommen nur schwarze Bilder heraus, M1.",
    ],
)
def test_a_story_alone_makes_nothing_more_than_possible(story: str) -> None:
    causes = answer(story).diagnosis.causes
    assert causes
    assert {one.confidence for one in causes} == {"possible"}


def test_a_log_is_no_story() -> None:
    log = "\n".join(f"step {number} of the run, all fine" for number in range(1_000))
    whole = f"{log}\nThe pictures are all black.\n{log}"
    assert answer(whole).facts.messages.claim("black-image") is None
    assert answer(f"The pictures are all black.\n{log}").facts.messages.claim("black-image") is not None
