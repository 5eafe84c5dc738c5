"""What is called an interpreter and is none: other programs, shims, placeholders, files with no program in them."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from mpsdoctor.probes import interpreter as probe
from mpsdoctor.probes.interpreter import ask_interpreter
from mpsdoctor.probes.process import Completed, OnLine
from mpsdoctor.probes.runner import LiveRunner
from tests.conftest import Ran

SCRIPTS = {
    "shim without a version": ("echo 'pyenv: python3: command not found' >&2; exit 127", "exit", 127),
    "reads stdin": ("cat", "exit", 0),
    "prints 100 MB": ("head -c 100000000 /dev/zero", "exit", 0),
    "prints 100 MB on stderr": ("head -c 100000000 /dev/zero >&2", "exit", 0),
    "prints JSON": ("echo '[1, 2]'", "exit", 0),
    "hangs": ("sleep 600", "timeout", None),
    "hangs and ignores signals": ("trap '' TERM INT HUP; sleep 600; sleep 600", "timeout", None),
    "leaves a child behind": ("sleep 600 & exit 0", "exit", 0),
    "kills itself": ("kill -9 $$", "signal", None),
    "fails silently": ("exit 1", "exit", 1),
}


def script(path: Path, body: str) -> Path:
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(0o755)
    return path


@pytest.mark.parametrize("kind", sorted(SCRIPTS))
def test_a_program_that_is_no_python_is_a_fact(kind: str, tmp_path: Path) -> None:
    body, how, code = SCRIPTS[kind]
    started = time.monotonic()
    program = script(tmp_path / "python", body)
    found = ask_interpreter(LiveRunner(), str(program), "--python", timeout=1.5).interpreter
    assert found.end is not None
    assert (found.end.how, found.end.code) == (how, code)
    assert (found.version, found.executable) == (None, str(tmp_path / "python"))
    assert time.monotonic() - started < 5


@pytest.mark.parametrize("path", ["/bin/ls", "/bin/cat", "/bin/true", "/bin/sh", "/bin/echo"])
def test_a_program_of_the_system_is_no_python(path: str, mpsdoctor: Callable[..., Ran]) -> None:
    ran = mpsdoctor("check", "--python", path, "--format", "json")
    interpreter = ran.json["facts"]["interpreter"]
    assert (interpreter["executable"], interpreter["end"]["how"]) == (path, "exit")
    assert ran.json["facts"]["torch"] == {}  # it is not started a second time
    assert ran.err == ""


@pytest.mark.parametrize("content", ["just text\n", "", "#!/no/such/interpreter\n", "\x7fELF", "\xcf\xfa\xed\xfe"])
def test_a_file_with_the_run_bit_that_cannot_run_is_told(
    content: str, tmp_path: Path, mpsdoctor: Callable[..., Ran]
) -> None:
    path = tmp_path / "python"
    path.write_bytes(content.encode("latin-1"))
    path.chmod(0o755)
    ran = mpsdoctor("check", "--python", str(path), "--format", "json")
    end = ran.json["facts"]["interpreter"]["end"]
    assert end["how"] == "not-started"
    assert end["error"]
    assert "could not be started: " in probe.ProcessEnd(how="not-started", error=end["error"]).describe()


def test_a_shim_that_starts_a_python_is_seen_through(tmp_path: Path) -> None:
    shim = script(tmp_path / "python", f'exec "{sys.executable}" "$@"')
    found = ask_interpreter(LiveRunner(), str(shim), "--python").interpreter
    assert (found.end, found.version) == (None, sys.version.split()[0])
    assert found.real_path == os.path.realpath(sys.executable)


LIES = [
    '{"sys.version": 3, "sys.prefix": [], "site_packages": "x", "sys.path": {}, "os.environ": 7, "shadows": [1, {}]}',
    '{"sys.version": "", "sys.prefix": "", "platform.python_version": "", "platform.mac_ver": []}',
    '{"sys.prefix": "\\u0000", "site_packages": ["\\u0000", "/no/such"], "sys.executable": "a\\u0000b"}',
    '{"sys.prefix": "\\ud800", "site_packages": ["\\ud800"], "sys.executable": "\\ud800"}',
    '{"sys.prefix": "/", "site_packages": ["/dev", "/proc/self/fd", "/dev/zero"], "sys.executable": "/dev/zero"}',
    '{"sys.version": "3.12", "platform.python_version": "' + "9" * 5000 + '", "stage": NaN, "limit": 1e999}',
]


@pytest.mark.parametrize("answer", LIES)
def test_a_program_that_answers_like_us_with_nonsense_harms_nobody(
    answer: str, tmp_path: Path, mpsdoctor: Callable[..., Ran]
) -> None:
    (tmp_path / "answer").write_text(f"\x1empsdoctor {answer}\n")
    liar = script(tmp_path / "python", f"cat '{tmp_path}/answer'")
    for format_ in ("json", "text"):
        ran = mpsdoctor("check", "--python", str(liar), "--format", format_, timeout=30)
        assert ran.code in (0, 1, 3), ran.err
        assert ran.err == ""


class MacWithoutTools:
    """A Mac on which the developer tools are missing; starting Apple's placeholder there opens a dialog."""

    system, live, environ = "Darwin", True, {"PATH": "/usr/bin"}

    def __init__(self, tools: int) -> None:
        self.tools = tools
        self.started: list[str] = []

    def run(
        self, argv: Sequence[str], *, timeout: float, env: Mapping[str, str] | None = None, label: str | None = None,
        on_line: OnLine | None = None,
    ) -> Completed:  # fmt: skip
        self.started.append(argv[0])
        code = self.tools if argv[0] == "xcode-select" else 0
        return Completed(tuple(argv), probe.ProcessEnd(how="exit", code=code), b'{"sys.version": "3.9.6"}')

    def read(self, path: str) -> str | None:
        return None

    def probe(self, name: str, function: Callable[[], Any]) -> Any:
        return function()


@pytest.mark.parametrize(("tools", "started"), [(2, ["xcode-select"]), (0, ["xcode-select", "/usr/bin/python3"])])
def test_apples_placeholder_is_started_only_where_the_tools_are(
    tools: int, started: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os.path, "realpath", str)  # here it may be a link to another name
    mac = MacWithoutTools(tools)
    found = ask_interpreter(mac, "/usr/bin/python3", "python3 on PATH").interpreter
    assert mac.started == started
    assert (found.end is not None and found.end.how) == ("refused" if tools else False)
