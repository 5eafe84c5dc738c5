"""The vocabulary of causes is complete, and each entry can be shown as it stands."""

import re

import pytest

from mpsdoctor.knowledge import releases
from mpsdoctor.knowledge.causes import FAMILIES, cause, causes

# The agreed vocabulary: a slug never changes its meaning or its family.
FAMILY_OF = {
    "x86-python-under-rosetta": "environment",
    "wrong-interpreter": "environment",
    "arch-mismatch-binaries": "environment",
    "macos-version-misreported": "environment",
    "python-version-no-wheel": "environment",
    "python-implementation-unsupported": "environment",
    "non-mac-wheel-pin": "environment",
    "package-without-mac-wheel": "environment",
    "torch-too-old": "environment",
    "companion-version-mismatch": "environment",
    "numpy2-abi": "environment",
    "mps-not-built": "environment",
    "conda-package-unavailable": "environment",
    "mixed-package-sources": "environment",
    "duplicate-openmp": "environment",
    "missing-libomp": "environment",
    "local-file-shadows-torch": "environment",
    "source-shadows-package": "environment",
    "broken-venv": "environment",
    "watermark-env-var-invalid": "environment",
    "env-var-ineffective": "environment",
    "known-bad-torch-release": "environment",
    "macos-too-old-for-torch": "platform",
    "macos-os-regression": "platform",
    "op-needs-newer-macos": "platform",
    "intel-mac": "platform",
    "x86-python-hardware-unknown": "platform",
    "not-a-mac": "platform",
    "linux-container-on-mac": "platform",
    "virtual-machine-gpu": "platform",
    "metal-device-not-visible": "platform",
    "float64-on-mps": "code",
    "bf16-unsupported": "code",
    "mixed-precision-unsupported": "code",
    "fp16-numerics-nan": "code",
    "op-not-implemented": "code",
    "sparse-unsupported": "code",
    "tensor-too-large": "code",
    "mps-out-of-memory": "code",
    "tensor-on-wrong-device": "code",
    "mixed-dtype-abort": "code",
    "cuda-call-on-mac": "code",
    "app-device-check-bug": "code",
    "torch-compile-unsupported": "code",
    "concurrent-mps-use": "code",
    "dataloader-spawn": "code",
    "mps-slower-than-cpu": "code",
    "pin-memory-warning": "fine",
    "insufficient-information": "fine",
    # This project's own additions to the vocabulary.
    "torch-not-installed": "environment",
    "torch-import-fails": "environment",
    "gpu-training-fails": "platform",
}


def test_the_vocabulary_is_the_agreed_one():
    assert {one.slug: one.family for one in causes()} == FAMILY_OF
    assert len(causes()) == len(FAMILY_OF)
    assert set(FAMILY_OF.values()) == set(FAMILIES)


def test_cause_finds_each_and_nothing_else():
    assert all(cause(slug).slug == slug for slug in FAMILY_OF)
    assert cause("no-such-cause") is None
    assert cause("") is None


@pytest.mark.parametrize("one", causes(), ids=lambda one: one.slug)
def test_every_entry_says_something_to_show(one):
    assert one.means.endswith(".")
    assert "\n" not in one.means
    assert len(one.means) <= 160
    assert len(one.how_to_tell) > 40
    assert one.how_to_tell.endswith(".")
    assert one.what_to_do
    assert all(line.strip() and "\n" not in line for line in one.what_to_do)
    assert one.sources
    assert all(source.strip() for source in one.sources)


@pytest.mark.parametrize("one", causes(), ids=lambda one: one.slug)
def test_bounds_are_releases(one):
    for bound in (one.since, one.until):
        assert bound is None or releases.release(bound)


@pytest.mark.parametrize("one", causes(), ids=lambda one: one.slug)
def test_advice_never_harms(one):
    text = " ".join(one.what_to_do)
    for forbidden in ("--break-system-packages", "sudo ", "csrutil", "curl "):
        assert forbidden not in text
    hosts = set(re.findall(r"https?://([^/\s]+)", text + one.how_to_tell))
    assert hosts <= {"download.pytorch.org"}


@pytest.mark.parametrize("one", causes(), ids=lambda one: one.slug)
def test_versions_that_are_advised_together_belong_together(one):
    for line in one.what_to_do:
        torch = re.search(r"\btorch==([\d.]+\d)", line)
        for name, version in re.findall(r"\b(torchvision|torchaudio)==([\d.]+\d)", line):
            assert releases.companion_matches(torch[1], name, version) is True


@pytest.mark.parametrize(("macos", "torch"), [("14", "2.14.1"), ("13", "2.8.0"), ("12.3", "2.4.1")])
def test_the_advice_for_an_old_macos_is_the_tables(macos, torch):
    line = next(line for line in cause("macos-too-old-for-torch").what_to_do if line.startswith(f"macOS {macos}"))
    assert f"torch=={torch} " in line
    newest = [releases.newest_for(macos, python, "arm64") for python in ("3.9", "3.10", "3.11", "3.12", "3.13", "3.14")]
    assert max(found.key for found in newest if found) == releases.release(torch).key
