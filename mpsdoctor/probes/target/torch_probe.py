"""Runs inside the target interpreter: imports torch, asks it about MPS, allocates, and compares with the CPU.

Each step is announced before it begins, with its own time limit, so that the parent knows where the process died or
hung. Standard library and torch only, Python 3.7 syntax. Argument: the limit in seconds for the import.
"""

from __future__ import annotations

import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))  # PYTHONSAFEPATH leaves it out
import _answer

_ = _answer  # before every other import; see there
import faulthandler
import functools
import re
import signal
import time
import warnings
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    Send = Callable[[dict[str, Any]], None]

STEP_LIMIT = 20.0  # seconds for one step after the import: the first use of a kernel can compile Metal source
_ENDING = r"\.(?:dylib|so|py)"
# A name may hold spaces where quotes or the loader's own words show where it begins.
PATH = re.compile(
    r"'(/[^'\n]{1,1024}" + _ENDING + r")'"
    r"|(?:dlopen\(|(?:Referenced from|Expected in): (?:<[0-9A-Fa-f-]{36}> )?)(/[^'\"(),:\n]{1,1024}" + _ENDING + r")"
    r"|(?<![\w@.-])(/[^\s'\"(),:]{1,1024}" + _ENDING + r")"
)


def describe(error: BaseException) -> str:
    """Return type and first lines of an exception as text."""
    return "%s: %s" % (type(error).__name__, str(error)[:2000])


def import_torch(send: Send) -> Any:
    """Import torch and tell how it went; return the module or None."""
    started = time.perf_counter()
    caught: list[warnings.WarningMessage] = []
    try:
        # The module is named, for a file of the user's may have taken its place.
        with warnings.catch_warnings(record=True, module=warnings) as caught:
            warnings.simplefilter("default")
            import torch
    except BaseException as error:  # SystemExit too: torch is the user's, and may be anything
        message = str(error)[:4000]
        send(
            {
                "imported": False,
                "import_error": {
                    "type": type(error).__name__,
                    "message": message,
                    "paths": paths_in(message),
                    "file": raised_in(error),
                },
            }
        )
        return None
    send(
        {
            "imported": True,
            "import_seconds": round(time.perf_counter() - started, 3),
            "warnings": [str(item.message)[:500] for item in caught][:20],
        }
    )
    return torch


def paths_in(message: str) -> list[str]:
    """Return the compiled files and modules that a loader's message names, each once, 20 at most."""
    return sorted({"".join(found) for found in PATH.findall(message)})[:20]


def raised_in(error: BaseException) -> str | None:
    """Return the file of the innermost frame of the traceback, or None."""
    trace = error.__traceback__
    name = None
    while trace is not None:
        name = trace.tb_frame.f_code.co_filename
        trace = trace.tb_next
    return name


def ask(send: Send, name: str, question: Callable[[], Any]) -> Any:
    """Ask one question and send the answer; an exception is an answer too."""
    try:
        value = question()
    except Exception as error:
        send({"failed": {name: describe(error)}})
        return None
    send({name: value})
    return value


def basics(torch: Any, send: Send) -> None:
    """Ask what needs no device."""
    ask(send, "torch.__version__", lambda: str(torch.__version__))
    ask(send, "torch.version.git_version", lambda: torch.version.git_version)
    ask(send, "torch.version.cuda", lambda: torch.version.cuda)
    ask(send, "torch.version.debug", lambda: bool(torch.version.debug))
    ask(send, "torch.__file__", lambda: getattr(torch, "__file__", None))


def availability(torch: Any, send: Send) -> bool:
    """Ask about MPS; return whether it says that it is available."""
    backend = getattr(torch.backends, "mps", None)
    if backend is None:
        send({"is_built": False, "is_available": False})
        return False
    ask(send, "is_built", lambda: bool(backend.is_built()))
    available = ask(send, "is_available", lambda: bool(backend.is_available()))
    mps: Any = getattr(torch, "mps", None)
    if hasattr(mps, "device_count"):
        ask(send, "device_count", lambda: int(mps.device_count()))
    if hasattr(backend, "is_macos_or_newer") and getattr(torch._C, "_mps_is_on_macos_or_newer", None):
        for major, minor in ((14, 0), (15, 0), (26, 0)):
            at_least = functools.partial(backend.is_macos_or_newer, major, minor)
            ask(send, "is_macos_or_newer(%d,%d)" % (major, minor), at_least)
    if available:
        if hasattr(backend, "get_name"):
            ask(send, "get_name", backend.get_name)
        if hasattr(backend, "get_core_count"):
            ask(send, "get_core_count", lambda: int(backend.get_core_count()))
        if hasattr(mps, "recommended_max_memory"):
            ask(send, "recommended_max_memory", lambda: int(mps.recommended_max_memory()))
    return bool(available)


def allocate(torch: Any) -> None:
    """Allocate one element on the GPU and read it back."""
    value = (torch.ones(1, device="mps") + 1).cpu().item()
    if value != 2.0:
        raise ArithmeticError("1 + 1 on the GPU gave %r" % value)


def cases(torch: Any) -> list[tuple[str, Callable[[str], Any], float]]:
    """Return the comparisons with the CPU as (name, function of a device, tolerance).

    They separate the known failures: linear with bias on vector-shaped and 3-D input (macOS 26), matrix product,
    and a Cholesky factorisation (Metal 4 kernels in virtual machines). The tolerance is for fp32 sums of up to 128
    products of standard normal values: 128 * 2**-24 * 16 (largest product) is about 1e-4; ten times that is allowed,
    and the known corruptions are above 1.
    """
    generator = torch.Generator().manual_seed(20260101)

    def normal(*shape: int) -> Any:
        return torch.randn(*shape, generator=generator)

    functional = torch.nn.functional
    narrow, narrow_weight, narrow_bias = normal(80, 1, 2), normal(192, 2), normal(192)
    wide, wide_weight, wide_bias = normal(2, 64, 128), normal(384, 128), normal(384)
    left, right = normal(64, 64), normal(64, 64)

    def linear(first: Any, weight: Any, bias: Any) -> Callable[[str], Any]:
        return lambda device: functional.linear(first.to(device), weight.to(device), bias.to(device))

    return [
        ("linear_bias_vector", linear(narrow, narrow_weight, narrow_bias), 1e-3),
        ("linear_bias_3d", linear(wide, wide_weight, wide_bias), 1e-3),
        ("matmul", lambda device: left.to(device) @ right.to(device), 1e-3),
        ("cholesky", lambda device: torch.linalg.cholesky_ex(torch.eye(6, device=device))[0], 1e-3),
    ]


def trial(name: str, run: Callable[[], dict[str, Any] | None]) -> dict[str, Any]:
    """Run one trial and return its JSON: outcome, difference or error, seconds."""
    started = time.perf_counter()
    try:
        result = run() or {}
        result.setdefault("outcome", "pass")
    except Exception as error:
        result = {"outcome": "error", "error": describe(error)}
    result["name"] = name
    result["seconds"] = round(time.perf_counter() - started, 3)
    return result


def compare(function: Callable[[str], Any], tolerance: float) -> dict[str, Any]:
    """Compare one function on the GPU with the CPU."""
    expected = function("cpu")
    found = function("mps").cpu()
    difference = float((expected - found).abs().max().item())
    fits = difference <= tolerance  # NaN does not fit
    shown = difference if difference == difference and abs(difference) != float("inf") else None
    return {"outcome": "pass" if fits else "wrong", "max_abs_difference": shown, "tolerance": tolerance}


def main() -> None:
    """Import, ask, allocate, compare; announce each step."""
    limit = float(sys.argv[1]) if len(sys.argv) > 1 else 60.0
    send = _answer.open_line()
    _answer.use_callers_path()
    del sys.argv[1:]
    faulthandler.enable(file=sys.stderr)

    def step(name: str, seconds: float) -> None:
        send({"stage": name, "limit": seconds})
        # Where it hangs, the parent learns in which function; should the parent die, this process ends by itself.
        faulthandler.dump_traceback_later(max(seconds - 0.3, 0.1), repeat=False, exit=False)
        if hasattr(signal, "alarm"):
            signal.alarm(int(seconds) + 5)

    step("import", limit)
    torch = import_torch(send)
    if torch is None:
        return
    step("ask", STEP_LIMIT)
    basics(torch, send)
    if availability(torch, send):
        step("allocate", STEP_LIMIT)
        allocation = trial("allocate", lambda: allocate(torch))
        send({"allocation": allocation})
        if allocation["outcome"] == "pass":
            for name, function, tolerance in cases(torch):
                step(name, STEP_LIMIT)
                send({"comparison": trial(name, functools.partial(compare, function, tolerance))})
    faulthandler.cancel_dump_traceback_later()
    send({"stage": "done"})
    # torch's own clean-up at exit can be slow or crash; everything is said.
    os._exit(0)


if __name__ == "__main__":
    main()
