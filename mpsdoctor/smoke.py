"""Runs training_smoke in the target interpreter: live events, a watch for stalls, and what its death means."""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mpsdoctor.facts import Host, ProcessEnd, Smoke, decode
from mpsdoctor.probes.apple import TIMEOUT, observe_host
from mpsdoctor.probes.on_disk import on_disk
from mpsdoctor.probes.runner import Runner

DEFAULT_TIMEOUT = 1200.0  # seconds; above the sum of the stages' own limits, which training_smoke announces, 1050
# No event for so long: the program has hung with its own limits. Its longest silence that is no fault is the start of
# a stage, 120 s at most (options.DEADLINES of training_smoke), on a cold disk.
STALL_SECONDS = 150.0
# Some swap is always in use on a Mac that has run for days. A quarter of the memory is taken for swapping: a rule of
# thumb, no measured bound; the number itself is in the context too.
SWAPPING = 0.25
LABEL = "<training smoke>"
Event = Mapping[str, Any]


@dataclass(frozen=True)
class SmokeRequest:
    """What to prove: device mps, cpu or cuda; dtype float16, bfloat16 or float32; timeout and stall in seconds."""

    device: str = "mps"
    dtype: str = "float16"
    quick: bool = False
    timeout: float = DEFAULT_TIMEOUT
    stall: float = STALL_SECONDS
    seed: int = 0
    context: Mapping[str, Any] = field(default_factory=dict)


def program() -> Path:
    """Return the folder of training_smoke, which the target runs by path."""
    spec = importlib.util.find_spec("mpsdoctor.training_smoke")
    locations = list(spec.submodule_search_locations or []) if spec is not None else []
    if not locations:
        raise FileNotFoundError("training_smoke is not installed with mpsdoctor")
    return on_disk(Path(locations[0]))


def run_smoke(
    runner: Runner, executable: str, request: SmokeRequest, on_event: Callable[[Event], None] | None = None
) -> Smoke:
    """Train in the target and return what it proved. Whatever the program does, a result comes back.

    on_event: called with every event (start, stage, step, measure, result) as it comes.
    """
    told: dict[str, Event] = {}
    ended: list[Event] = []

    def on_line(line: bytes) -> float:
        event = parse_event(line)
        if event is not None:
            told["result" if event["event"] == "result" else "last"] = event
            if event["event"] == "stage":
                told["stage"] = event
                if event.get("state") == "ended":
                    ended.append(event)
            if on_event is not None:
                on_event(event)
        return request.stall

    argv = [executable, "-B", str(program()), "--device", request.device, "--dtype", request.dtype]
    argv += ["--seed", str(request.seed), *(["--quick"] if request.quick else [])]
    argv += ["--context", json.dumps(dict(request.context))] if request.context else []
    done = runner.run(argv, timeout=request.timeout, label=LABEL, on_line=on_line)
    result = told.get("result")
    if result is not None:
        problems: list[str] = []
        fields = {key: value for key, value in result.items() if key not in ("event", "t")}
        return decode(Smoke, {**fields, "from": {"*": "training_smoke"}}, problems, "smoke")
    return _without_result(request, done.end, told.get("stage"), told.get("last"), ended)


def parse_event(line: bytes) -> Event | None:
    """Return the event on one line, or None where the line is somebody else's."""
    if not line.lstrip().startswith(b"{"):
        return None
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) and isinstance(value.get("event"), str) else None


def _without_result(
    request: SmokeRequest, end: ProcessEnd, stage: Event | None, last: Event | None, ended: Sequence[Event]
) -> Smoke:
    """The program itself died or hung: name the stage and, where it told one, the operator; keep what had ended."""
    name = str(stage.get("stage")) if stage is not None else None
    where = _last_words(last)
    cause = None
    if end.how == "signal" and end.signal == "SIGKILL":
        cause, how = "mps-out-of-memory", "was killed, which macOS does when memory runs out"
    elif end.how == "timeout":
        how = (
            f"gave no sign of life for {request.stall:g} s" if (end.seconds or 0) < request.timeout else "ran too long"
        )
    else:
        how = end.describe()
    detail = f"the smoke run {how}{where}"
    if end.stderr_tail and name is None:
        detail += ": " + " ".join(end.stderr_tail.split())[-300:]
    outcome = "stalled" if end.how == "timeout" else "crash"
    failed = {"stage": name or "start", "outcome": outcome, "cause": cause, "detail": detail, "seconds": end.seconds}
    data = {
        "device": request.device,
        "dtype": request.dtype,
        "outcome": "fail" if name is not None else "unknown",
        "stages": [*({k: v for k, v in e.items() if k not in ("event", "t", "state")} for e in ended), failed],
        "from": {"*": "training_smoke"},
    }
    return decode(Smoke, data)


def _last_words(last: Event | None) -> str:
    if last is None:
        return ""
    told = [f"{key} {last[key]}" for key in ("stage", "network", "case", "operator", "step") if key in last]
    return ", last heard at " + ", ".join(told) if told else ""


def speed_context(runner: Runner) -> tuple[Host, dict[str, Any]]:
    """Return the machine and what can spoil a speed check on it: Low Power Mode, heat, battery, swap, a VM."""
    with ThreadPoolExecutor(12) as pool:
        host = observe_host(runner, pool)
    found: dict[str, Any] = {
        "low_power_mode": host.low_power_mode,
        "thermal": host.thermal_warning,
        "battery": None if host.power_source is None else "Battery" in host.power_source,
        "virtual_machine": host.is_virtual if host.is_mac else None,
        "translated": host.shell_translated,
    }
    if host.is_mac:
        used = _swap_used_mb(runner.run(["sysctl", "-n", "vm.swapusage"], timeout=TIMEOUT).text)
        found["swap_used_mb"] = used
        if used is not None and host.memory_bytes:
            found["swap"] = used * 1024**2 > host.memory_bytes * SWAPPING
    return host, {key: value for key, value in found.items() if value is not None}


def _swap_used_mb(text: str) -> float | None:
    """Read `total = 23552.00M  used = 22392.56M  free = ...`."""
    words = text.replace("=", " ").split()
    if "used" not in words[:-1]:
        return None
    value = words[words.index("used") + 1].rstrip("M").replace(",", ".")
    try:
        return float(value)
    except ValueError:
        return None
