"""Facts are read wherever they are told: in a line of their own beside an error, and in the error's own line."""

import json
from pathlib import Path

import pytest

from mpsdoctor.probes.intake import read_ticket

DATA = Path(__file__).parents[2] / "knowledge" / "data"
SAMPLES = json.loads((DATA / "message_samples.json").read_text())["samples"]
PIP = "ERROR: Could not find a version that satisfies the requirement torch==2.5.0 (from versions: 2.2.0, 2.2.1, 2.2.2)"
NO_MATCH = "ERROR: No matching distribution found for torch"
CUDA = "AssertionError: Torch not compiled with CUDA enabled"
OOM = (
    "RuntimeError: MPS backend out of memory (MPS allocated: 17.00 GB, other allocations: 1.00 GB, max allowed: 18.13 "
    "GB). Tried to allocate 12.00 GB on private pool. Use PYTORCH_MPS_HIGH_WATERMARK_RATIO=0.0 to disable upper limit "
    "for memory allocations (may cause system failure)."
)
FLOOR = "RuntimeError: The MPS backend is supported on MacOS 12.3+. Current OS version can be queried using `sw_vers`"
CONFLICT = "ERROR: torchvision 0.15.2 requires torch==2.0.1, but you have torch 2.2.2 which is incompatible."
UNKNOWN = "ValueError: the moon is too far"
ERRORS = [PIP, NO_MATCH, CUDA, OOM, FLOOR, UNKNOWN]
SHAPES = [
    "{told}\n{error}",
    "{error}\n{told}",
    "{told} {error}",
    "{error}. {told}",
    "{told} I get {error}",
    "{error}\n{error}\n{told}\n{error}",
]
TOLD = "MacBook Pro M3 Pro, macOS 15.1, Python 3.12 from Homebrew."


def read(text):
    facts, _ = read_ticket(text.encode())
    return facts


@pytest.mark.parametrize("error", ERRORS)
@pytest.mark.parametrize("shape", SHAPES)
def test_facts_beside_an_error_are_read(error, shape):
    facts = read(shape.format(told=TOLD, error=error))
    assert facts.host.chip == "Apple M3 Pro"
    assert facts.host.macos_version == "15.1"
    assert facts.interpreter.version == "3.12"
    assert not facts.host.memory_bytes
    assert not facts.torch.version
    assert facts.messages.items or error == UNKNOWN


@pytest.mark.parametrize("error", [*ERRORS, CONFLICT])
def test_an_error_alone_tells_no_machine(error):
    facts = read(error)
    assert facts.host.chip is None
    assert facts.host.macos_version is None
    assert facts.host.memory_bytes is None
    assert facts.torch.version is None


@pytest.mark.parametrize("identifier", SAMPLES)
def test_what_tools_print_is_nobodys_remark(identifier):
    for sample in SAMPLES[identifier]:
        facts = read(sample)
        told = [*facts.host.sources.values(), *facts.torch.sources.values()]
        assert not [source for source in told if source.endswith("(told)")], sample


@pytest.mark.parametrize(
    ("text", "chip"),
    [
        (f"{CUDA}. M2 mac", "Apple M2"),
        (f"{CUDA}, on my M2 mac", "Apple M2"),
        (f"{CUDA} (M2 Max)", "Apple M2 Max"),
        (f"MacBook Pro 2019 Intel Core i7, macOS 13.6. pip install torch==2.5.0 says {PIP}", "Intel"),
    ],
)
def test_the_machine_in_the_errors_own_line(text, chip):
    facts = read(text)
    assert facts.host.chip == chip
    assert facts.torch.version is None


def test_wrapped_lines_are_joined_with_a_blank():
    text = (
        "I use a Mac and the newest torch there is for it on\nmacOS 14.4 with a chip M1, and nothing else at\nall works"
    )
    facts = read(text)
    assert (facts.host.macos_version, facts.host.chip) == ("14.4", "Apple M1")
