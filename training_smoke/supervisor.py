"""Runs the stages one after another, each in a process of its own with a deadline, and tells the result.

This process never imports torch: what torch does to a worker, it can still report.
"""

from __future__ import annotations

import contextlib
import platform
import signal
import time
from typing import Any, Sequence

from .causes import abort_message, cause_of, lost_command_buffer, with_context
from .events import EventWriter
from .fallback_judge import FALLBACK, user_fallback_value, with_logged
from .operator_runs import OperatorRuns
from .operator_summary import summarise
from .options import STAGES, Options
from .outcomes import Problem, ended, overall, stage_outcome
from .process import Stalled, WorkerProcess

EXIT_CODES = {"pass": 0, "fail": 1, "unknown": 3}
# A missing operator must say so while operators are compared, and must go on (and be logged) while fallbacks are
# looked for. The fallback variable is read once, while torch loads. 4 logs every operator that runs on the CPU.
ENVIRONMENTS = {"numerics": {FALLBACK: "0"}, "fallback": {FALLBACK: "1", "PYTORCH_MPS_LOG_PROFILE_INFO": "4"}}


class Interrupted(Exception):
    """The caller asked this process to end."""


def _interrupt(number: int, frame: Any) -> None:
    raise Interrupted()


class Supervisor:
    """One run over the stages that were asked for."""

    def __init__(self, options: Options, program: Sequence[str], writer: EventWriter) -> None:
        self._options = options
        self._program = list(program)
        self._writer = writer
        self._torch: str | None = None
        self._worker: WorkerProcess | None = None
        self._runnable_operators: list[str] | None = None

    def run(self) -> int:
        """Run, emit every event including the last, and return the exit code."""
        options = self._options
        self._writer.emit(
            "start",
            device=options.device,
            dtype=options.dtype,
            seed=options.seed,
            quick=options.quick,
            stages=list(options.stages),
            python=platform.python_version(),
            context=options.context,
        )
        stages: list[dict[str, Any]] = []
        interrupted = False
        for stage in STAGES:
            blocked = next((done["stage"] for done in stages if _blocks(done)), None)
            try:
                stages.append(self._one(stage, blocked, interrupted))
            except (Interrupted, KeyboardInterrupt):
                interrupted = True
                stages.append(dict(ended("skip", "interrupted"), stage=stage, seconds=0.0))
            finally:
                if self._worker is not None:
                    self._worker.stop()
        outcome = "unknown" if interrupted else overall(stages)
        speed = next((stage.pop("speed") for stage in stages if "speed" in stage), None)
        self._writer.emit(
            "result",
            device=options.device,
            dtype=options.dtype,
            torch=self._torch,
            outcome=outcome,
            stages=stages,
            speed=speed,
        )
        return 130 if interrupted else EXIT_CODES[outcome]

    def _one(self, stage: str, blocked: str | None, interrupted: bool) -> dict[str, Any]:
        if stage not in self._options.stages:
            return dict(ended("skip", "not asked for"), stage=stage, seconds=0.0, asked=False)
        if interrupted or blocked is not None:
            reason = "interrupted" if interrupted else f"not reached: {blocked} did not pass"
            return dict(ended("skip", reason), stage=stage, seconds=0.0)
        deadline = self._options.deadlines[stage]
        self._writer.emit("stage", stage=stage, state="begun", deadline_s=deadline)
        begun = time.monotonic()
        result = self._numerics() if stage == "numerics" else self._in_worker(stage, begun + deadline)
        result = dict(result, stage=stage, seconds=round(time.monotonic() - begun, 2))
        if result["outcome"] in ("fail", "crash", "stalled"):
            result["cause"] = with_context(result["cause"], self._options.device, self._options.context)
        told = {key: result[key] for key in ("outcome", "cause", "detail", "seconds")}
        self._writer.emit("stage", stage=stage, state="ended", **told)
        return result

    def _start(self, stage: str, operators: Sequence[str] | None = None) -> WorkerProcess:
        argv = [*self._program, *self._options.worker_argv(stage, operators)]
        self._worker = WorkerProcess(argv, ENVIRONMENTS.get(stage))
        return self._worker

    def _numerics(self) -> dict[str, Any]:
        hidden = user_fallback_value() not in (None, "0")
        runs = OperatorRuns(self._options, lambda names: self._start("numerics", names), self._writer, hidden)
        runs.run()
        self._torch = runs.torch or self._torch
        if runs.failed is not None:
            return dict(runs.failed)
        safe = ("pass", "wrong", "missing", "fallback")
        self._runnable_operators = [name for name, m in runs.measures.items() if m["outcome"] in safe]
        return summarise(runs.measures, runs.names, runs.essential, runs.lost_work)

    def _in_worker(self, stage: str, deadline: float) -> dict[str, Any]:
        # The operators that ended their process are left out of the search for fallbacks.
        worker = self._start(stage, self._runnable_operators if stage == "fallback" else None)
        last: dict[str, Any] = {}
        result: dict[str, Any] | None = None
        try:
            while result is None:
                event = worker.next_event(deadline)
                if event is None:
                    break
                fields = {key: value for key, value in event.items() if key not in ("event", "t")}
                if event["event"] == "ready":
                    self._torch = str(event["torch"])
                elif event["event"] == "outcome":
                    result = fields
                else:
                    last = fields
                    self._writer.emit(event["event"], **fields)
        except Stalled:
            worker.stop()
            text = f"{stage} gave no result within {self._options.deadlines[stage]:g} s{_after(last)}"
            result = ended("stalled", text, None, "stage-stalled", last=last)
        worker.stop(grace=10.0)
        stderr = worker.stderr_tail()
        if result is None:
            result = _crash(stage, worker.ending(), stderr, last)
        worker.close()
        return self._with_log(result, stderr)

    def _with_log(self, result: dict[str, Any], stderr: str) -> dict[str, Any]:
        """Add what only the worker's stderr tells: operators logged as run on the CPU, and lost GPU work."""
        if "fallback_log" in result:
            result = with_logged(result, stderr, user_fallback_value())
        lost = lost_command_buffer(stderr)
        if lost is None or result["outcome"] != "pass":
            return result
        problem = Problem("gpu-work-lost", "macOS reports lost GPU work: " + lost, None, cause_of(lost))
        rest = {key: value for key, value in result.items() if key not in ("outcome", "cause", "detail", "problems")}
        return stage_outcome([problem], "", **rest)


def _blocks(done: dict[str, Any]) -> bool:
    """Whether the stages after this one cannot tell anything."""
    failed = done["outcome"] in ("fail", "crash", "stalled")
    return bool(done.get("absent")) or (failed and (done["stage"] == "allocate" or _import_failed(done)))


def _import_failed(done: dict[str, Any]) -> bool:
    return any(problem["check"] in ("torch-import", "device-unavailable") for problem in done["problems"])


def _after(last: dict[str, Any]) -> str:
    told = ", ".join(f"{key} {last[key]}" for key in ("network", "case", "step", "operator") if key in last)
    return ", last heard at " + told if told else ""


def _crash(stage: str, ending: str, stderr: str, last: dict[str, Any]) -> dict[str, Any]:
    said = abort_message(stderr)
    text = f"the process of {stage} ended by {ending}{_after(last)}"
    text += "" if said is None else ": " + said
    return ended("crash", text, None if said is None else cause_of(said), "stage-crash", last=last)


def supervise(options: Options, program: Sequence[str], writer: EventWriter) -> int:
    """Run the proof under ``options``; SIGTERM ends it as Ctrl-C does, with a result."""
    # Outside the main thread the caller looks after signals.
    with contextlib.suppress(ValueError):
        signal.signal(signal.SIGTERM, _interrupt)
    try:
        return Supervisor(options, program, writer).run()
    except BrokenPipeError:  # nobody reads the events any more; the worker has been ended
        return EXIT_CODES["unknown"]
