"""The files that the dynamic loader names, in folders with and without spaces, as real Macs print them."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from mpsdoctor.probes.runner import LiveRunner
from mpsdoctor.probes.torch import ask_torch
from tests.broken_torch import make_environment

FOLDERS = ("/v/env", "/Users/me/My Env", "/Volumes/Work Disk/a b/c")
MESSAGES = {
    "incompatible": (
        "dlopen({0}/torch/_C.cpython-311-darwin.so, 0x0002): tried: '{0}/torch/_C.cpython-311-darwin.so' (mach-o file, "
        "but is an incompatible architecture (have 'x86_64', need 'arm64'))",
        ["torch/_C.cpython-311-darwin.so"],
    ),
    "symbol": (
        "dlopen({0}/torch/lib/libtorch_python.dylib, 0x000A): Symbol not found: _PyCode_New\n  Referenced from: "
        "<1F0A2B3C-0000-1111-2222-333344445555> {0}/torch/lib/libtorch_python.dylib\n  Expected in: <no uuid> unknown",
        ["torch/lib/libtorch_python.dylib"],
    ),
    "library": (
        "dlopen({0}/torch/_C.so, 0x0002): Library not loaded: @rpath/libomp.dylib\n  Referenced from: "
        "{0}/torch/lib/libtorch_cpu.dylib\n  Reason: tried: '{0}/torch/lib/libomp.dylib' (no such file)",
        ["torch/_C.so", "torch/lib/libomp.dylib", "torch/lib/libtorch_cpu.dylib"],
    ),
    "circular": (
        "cannot import name 'nn' from partially initialized module 'torch' (most likely due to a circular import) "
        "('{0}/torch.py')",
        ["torch.py"],
    ),
}


@pytest.mark.parametrize("folder", FOLDERS)
@pytest.mark.parametrize("kind", sorted(MESSAGES))
def test_every_file_is_named_whole(kind: str, folder: str, tmp_path: Path) -> None:
    message, files = MESSAGES[kind]
    python = make_environment(tmp_path / "env", f"raise ImportError({message.format(folder)!r})")
    failure = ask_torch(LiveRunner(), str(python), 20.0).import_failure
    assert failure is not None
    assert list(failure.paths) == [f"{folder}/{file}" for file in files]


@pytest.mark.parametrize("piece", ["/", "'/", "dlopen(/", "Referenced from: /", "/a/b.so", "/ "])
def test_a_hostile_message_costs_no_time(piece: str, tmp_path: Path) -> None:
    python = make_environment(tmp_path / "env", f"raise ImportError({piece!r} * 100_000)")
    started = time.monotonic()
    failure = ask_torch(LiveRunner(), str(python), 20.0).import_failure
    assert failure is not None
    assert time.monotonic() - started < 10
