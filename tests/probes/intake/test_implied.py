"""What messages, paths and names of kernels prove; and what pasted code shows."""

from __future__ import annotations

import pytest

from mpsdoctor.facts import Facts
from mpsdoctor.knowledge import releases
from mpsdoctor.probes.intake import read_ticket

LIST = "ERROR: Could not find a version that satisfies the requirement {} (from versions: {})"


def facts(text: str) -> Facts:
    return read_ticket(text.encode())[0]


@pytest.mark.parametrize(
    ("wanted", "offered", "machine"),
    [
        ("torch==2.6.0", "2.2.0, 2.2.1, 2.2.2", "x86_64"),
        ("torchvision==0.20", "0.17.0, 0.17.1, 0.17.2", "x86_64"),
        ("torchaudio", "2.2.0, 2.2.1, 2.2.2", "x86_64"),
        ("torch==2.6.0", "2.2.0, 2.2.1", None),
        ("torch==9", "2.2.0, 2.2.1, 2.2.2, 2.3.0", None),
        ("numpy==9", "2.2.0, 2.2.1, 2.2.2", None),
    ],
)
def test_where_pips_list_ends(wanted: str, offered: str, machine: str | None) -> None:
    assert facts(LIST.format(wanted, offered)).interpreter.machine == machine


@pytest.mark.parametrize(("first", "python"), [("2.2.0", "3.12"), ("1.11.0", "3.10"), ("2.1.0", None)])
def test_where_pips_list_begins(first: str, python: str | None) -> None:
    offered = ", ".join([first, "2.5.1", "2.6.0", "2.7.0", "2.8.0"])
    assert facts(LIST.format("torch==99", offered)).interpreter.version == python


def test_the_beginnings_are_those_of_the_table() -> None:
    """The first release of a Python is the one that pip's list begins with for it."""
    assert "3.12" in (releases.release("2.2.0") or releases.newest()).pythons("arm64")
    assert "3.12" not in releases.release("2.1.2").pythons("arm64")  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("line", "subject", "name", "expected"),
    [
        ("Darwin Kernel Version 23.5.0: root:xnu~1/RELEASE_ARM64_T6000 arm64", "host", "arm64_capable", True),
        ("Darwin Kernel Version 23.5.0: root:xnu~1/RELEASE_X86_64 x86_64", "host", "arm64_capable", False),
        ("Darwin Kernel Version 23.5.0: root:xnu~1/RELEASE_ARM64_VMAPPLE arm64", "host", "hypervisor_present", True),
        ("Linux c0 6.6.12-linuxkit #1 SMP aarch64 GNU/Linux", "host", "container", "docker"),
        ('  File "/opt/homebrew/lib/python3.11/site-packages/x.py", line 3', "host", "arm64_capable", True),
        ('  File "/Users/me/miniforge3/envs/a/lib/python3.10/x.py", line 3', "interpreter", "version", "3.10"),
        ('  File "/Users/me/miniforge3/envs/a/lib/python3.10/x.py", line 3', "conda", "present", True),
        ('  File "/Users/me/v/lib/python3.12/x.py", line 3', "interpreter", "prefix", "/Users/me/v"),
        ("cannot load _C.cpython-313-darwin.so", "interpreter", "version", "3.13"),
        ("hint: You're on macOS (`macosx_15_0_x86_64`), but `torch` (v2.7.0) only has wheels for the following",
         "interpreter", "platform_tag", "macosx_15_0_x86_64"),
        ("hint: You're on Linux (`manylinux_2_35_x86_64`), but `torch` (v2.7.0) only has wheels for the following",
         "host", "system", "Linux"),
        ("[PyPy 7.3.17 with GCC Apple LLVM 15.0.0]", "interpreter", "implementation", "pypy"),
        ("macOS-14.5-arm64-arm-64bit", "interpreter", "machine", "arm64"),
        ("macOS-10.16-arm64-arm-64bit", "interpreter", "macos_version_seen", "10.16"),
        ("macOS-10.16-arm64-arm-64bit", "host", "macos_version", None),
    ],
)  # fmt: skip
def test_what_a_line_proves(line: str, subject: str, name: str, expected: object) -> None:
    assert getattr(getattr(facts(f"{line}\n"), subject), name) == expected


@pytest.mark.parametrize(
    ("code", "told"),
    [
        ("import torch\nimport os\nos.environ['PYTORCH_ENABLE_MPS_FALLBACK'] = '1'", True),
        ("from torch import nn\nos.environ.setdefault('PYTORCH_DEBUG_MPS', '1')", True),
        ("import os\nos.environ['PYTORCH_ENABLE_MPS_FALLBACK'] = '1'\nimport torch", False),
        ("import torch\nos.environ['HOME'] = '/x'", False),
        ("import torchvision\nos.environ['PYTORCH_ENABLE_MPS_FALLBACK'] = '1'", False),
    ],
)
def test_a_variable_below_the_import(code: str, told: bool) -> None:
    claim = facts(f"```python\n{code}\n```").messages.claim("variable-after-import")
    assert (claim is not None) == told
    if claim is not None:
        assert claim.line == len(code.split("\n")) + 1


def test_a_wanted_version_is_not_the_installed_one() -> None:
    assert facts(f"torch 2.6.0\n{LIST.format('torch==2.6.0', '2.2.1, 2.2.2')}").torch.version is None
    found = facts("MacBook M1\ntorch: 2.1.0+cu118\n")
    assert found.torch.version is None
    assert found.messages.claim("local-version-wanted") is not None
