"""Every plan for pip and uv resolves for real against the package index, for Macs on Apple silicon, or is refused.

Metadata only: no wheel is downloaded. The answers of one day are kept, so that a second run takes a second.
"""

from __future__ import annotations

import datetime
import hashlib
import os
import re
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from mpsdoctor.facts import Distribution, Facts, Host, Interpreter, Packages
from mpsdoctor.knowledge import releases, versions
from mpsdoctor.repair.wanted import NoTorch, Stack, choose_stack, is_bad
from tests.repair.wheels import UV

MACS = ("13.7", "14.8", "15.7", "26.4", "27.0")
PYTHONS = tuple(f"3.{minor}" for minor in range(9, 16))
# macOS 13 ends with torch 2.8.0, which has no build for Python 3.14; 2.15.0, the first for 3.15, needs macOS 15.
REFUSED = {("13.7", "3.14"), ("13.7", "3.15"), ("14.8", "3.15")}


def facts(macos: str) -> Facts:
    packages = tuple(Distribution(name=name, version="0") for name in ("torchvision", "torchaudio", "numpy"))
    return Facts(
        host=Host(system="Darwin", macos_version=macos, arm64_capable=True, chip="Apple M2", hypervisor_present=False),
        interpreter=Interpreter(machine="arm64"),
        packages=Packages(distributions=packages),
    )


def stack(macos: str, python: str) -> Stack | NoTorch:
    return choose_stack(facts(macos), {"torch-not-installed"}, python=python, machine="arm64", fresh=True)


ALL = [(macos, python) for macos in MACS for python in PYTHONS]
STACKS = {pair: stack(*pair) for pair in ALL}


@pytest.mark.parametrize(("macos", "python"), ALL)
def test_the_torch_suits_the_mac_or_is_refused_with_the_python_that_would_do(macos: str, python: str) -> None:
    found = STACKS[macos, python]
    if (macos, python) in REFUSED:
        assert isinstance(found, NoTorch)
        assert python in found.because
        assert found.python is not None
        assert isinstance(stack(macos, found.python), Stack)
        return
    assert isinstance(found, Stack)
    release = releases.release(found.torch)
    assert release is not None
    assert versions.macos_in(versions.macos(macos) or (), release.mps_floor, None)
    assert not is_bad(found.torch, facts(macos).host)


def test_the_known_answers() -> None:
    assert {
        python: found.torch for (macos, python), found in STACKS.items() if macos == "13.7" and isinstance(found, Stack)
    } == {f"3.{minor}": "2.8.0" for minor in range(9, 14)}
    of_14 = STACKS["14.8", "3.12"]
    assert isinstance(of_14, Stack)
    assert of_14.torch == "2.14.1"


@pytest.fixture(scope="session")
def resolved(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, str], str]:
    """Ask the index for all plans, four at once.

    What is the same for several macOS is asked for the oldest: a newer macOS takes every wheel that an older one takes.
    """
    named = os.environ.get("MPSDOCTOR_TEST_CACHE")
    cache = (
        (Path(named) if named else Path.home() / ".cache" / "mpsdoctor-tests") / "resolved" / str(datetime.date.today())
    )
    cache.mkdir(parents=True, exist_ok=True)
    wanted = {pair: found for pair, found in STACKS.items() if isinstance(found, Stack)}
    oldest = {
        pair: next(p for p in wanted if p[1] == pair[1] and wanted[p].requirements == found.requirements)
        for pair, found in wanted.items()
    }
    asked = list(dict.fromkeys(oldest.values()))
    answers = {asked[0]: _resolve(asked[0], wanted[asked[0]], cache)}  # fills uv's cache for the others
    with ThreadPoolExecutor(4) as pool:
        answers |= zip(asked[1:], pool.map(lambda pair: _resolve(pair, wanted[pair], cache), asked[1:]), strict=True)
    return {pair: answers[first] for pair, first in oldest.items()}


def _resolve(pair: tuple[str, str], found: Stack, cache: Path) -> str:
    macos, python = pair
    text = "\n".join((*found.requirements, "numpy")) + "\n"
    kept = cache / f"{macos}-{python}-{hashlib.sha256(text.encode()).hexdigest()[:12]}.txt"
    if kept.exists():
        return kept.read_text()
    argv = [UV, "pip", "compile", "--no-config", "--quiet", "--no-annotate", "--no-header", "--only-binary", ":all:"]
    argv += ["--python-platform", "aarch64-apple-darwin", "--python-version", python, "-"]
    # The environment's own settings for other indexes do not concern a Mac.
    environ = {k: v for k, v in os.environ.items() if not k.startswith(("UV_", "PIP_"))}
    done = subprocess.run(argv, input=text, env={**environ, "MACOSX_DEPLOYMENT_TARGET": macos}, capture_output=True,
                          text=True, timeout=120, check=False)  # fmt: skip
    if done.returncode != 0:
        return f"not resolved: {done.stderr}"
    kept.write_text(done.stdout)
    return done.stdout


@pytest.mark.slow
@pytest.mark.parametrize(("macos", "python"), [pair for pair, found in STACKS.items() if isinstance(found, Stack)])
def test_the_index_has_all_of_it(macos: str, python: str, resolved: dict[tuple[str, str], str]) -> None:
    found, answer = STACKS[macos, python], resolved[macos, python]
    assert isinstance(found, Stack)
    assert not answer.startswith("not resolved"), answer
    pins = dict(re.findall(r"^([a-z0-9-]+)==(\S+)$", answer, re.MULTILINE))
    assert pins["torch"] == found.torch
    assert {name: pins[name] for name, _ in found.companions} == dict(found.companions)
    assert {"numpy", "sympy", "filelock"} <= pins.keys()
