"""The numerics stage inside the supervisor: workers that go through the operators, and what becomes of those that die.

An operator is announced before it runs, so the one that was running when a worker ended is known. It is then run alone:
if it ends the worker again, it is named. If not, something before it has damaged the process, and halving the list of
those before finds which.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any, Callable, Dict, Optional, Sequence

from .causes import abort_message, cause_of, lost_command_buffer, with_context
from .events import EventWriter
from .options import Options
from .outcomes import ended
from .process import Stalled, WorkerProcess

Measure = Dict[str, Any]
Start = Callable[[Optional[Sequence[str]]], WorkerProcess]
MOST_DEATHS = 6  # each costs a new process: a device that fails more operators than this needs no longer list


@dataclass
class Batch:
    """What one worker did: the measures it sent, and the operator it ended in with what to say of that."""

    measures: list[Measure] = field(default_factory=list)
    victim: str | None = None
    verdict: Measure | None = None
    failed: dict[str, Any] | None = None  # the worker could not begin (torch did not import)

    @property
    def names(self) -> list[str]:
        """The measured operators, in order."""
        return [str(measure["operator"]) for measure in self.measures]


class OperatorRuns:
    """Runs operators in workers until each has a measurement, is skipped, or time is up."""

    def __init__(self, options: Options, start: Start, writer: EventWriter, hidden: bool) -> None:
        """``hidden``: the user's environment lets operators without a kernel run on the CPU."""
        self._options = options
        self._start = start
        self._writer = writer
        self._hidden = hidden
        self._end = time.monotonic() + options.deadlines["numerics"]
        self.names: list[str] = []
        self.essential: list[str] = []
        self.measures: dict[str, Measure] = {}
        self.lost_work: str | None = None
        self.torch: str | None = None
        self.failed: dict[str, Any] | None = None

    def run(self) -> None:
        """Measure all operators that were asked for; ``failed`` says so if no worker could begin."""
        left: list[str] | None = None
        deaths = 0
        while left is None or (left and deaths <= MOST_DEATHS and time.monotonic() < self._end):
            batch = self._batch(left)
            for measure in batch.measures:
                self._record(measure, say=False)
            if not self.names:
                self.failed = batch.failed or ended("skip", "no such operator")
                return
            if batch.victim is not None and batch.verdict is not None:
                deaths += 1
                self._record(self._confirmed(batch))
            elif batch.failed is not None:
                return
            left = [name for name in (self.names if left is None else left) if name not in self.measures]

    def _confirmed(self, batch: Batch) -> Measure:
        assert batch.victim is not None
        assert batch.verdict is not None
        if not batch.measures or batch.verdict["outcome"] == "hung":
            return batch.verdict
        alone = self._batch([batch.victim], say=False)
        if alone.victim is not None or batch.victim not in alone.names:
            return batch.verdict
        culprit = self._bisect(batch.names, batch.victim)
        text = "ends the process, but only after {} ({})".format(culprit, batch.verdict["detail"])
        return dict(batch.verdict, detail=text)

    def _bisect(self, suspects: list[str], victim: str) -> str:
        while len(suspects) > 1 and time.monotonic() < self._end:
            half = suspects[: len(suspects) // 2]
            died = self._batch([*half, victim], say=False).victim is not None
            suspects = half if died else suspects[len(half) :]
        return suspects[0]

    def _batch(self, names: Sequence[str] | None, say: bool = True) -> Batch:
        worker = self._start(names)
        batch = Batch()
        running: str | None = None
        event: dict[str, Any] | None = None
        stalled = False
        try:
            while True:
                event = worker.next_event(min(self._end, time.monotonic() + self._options.deadlines["operator"]))
                if event is None or event["event"] == "outcome":
                    break
                running = self._received(event, batch, running, say)
        except Stalled:
            stalled = True
        worker.stop(grace=0.0 if stalled else 10.0)
        stderr = worker.stderr_tail()
        self.lost_work = self.lost_work or lost_command_buffer(stderr)
        name = "numerics" if time.monotonic() >= self._end else "operator"
        detail = f"no answer within the {self._options.deadlines[name]:g} s of {name}"
        detail = detail if stalled else _death(worker.ending(), stderr)
        worker.close()
        if event is not None and event["event"] == "outcome" and not stalled:
            told = {key: value for key, value in event.items() if key not in ("event", "t")}
            batch.failed = None if told.get("outcome") == "done" else told
        elif running is not None:
            outcome = "hung" if stalled else "crashed"
            batch.victim = running
            batch.verdict = dict(
                _unmeasured(running, self._options.dtype, outcome), detail=detail, cause=cause_of(detail)
            )
        else:
            outcome = "stalled" if stalled else "crash"
            batch.failed = ended(outcome, detail, cause_of(detail), "stage-" + outcome)
        return batch

    def _received(self, event: dict[str, Any], batch: Batch, running: str | None, say: bool) -> str | None:
        """Take one event of a worker; returns the operator that runs now."""
        kind = event["event"]
        fields = {key: value for key, value in event.items() if key not in ("event", "t", "stage")}
        if kind == "ready":
            self.torch = str(event.get("torch"))
        elif kind == "table" and not self.names:
            self.names, self.essential = list(event["names"]), list(event["essential"])
        elif kind == "step":
            running = str(event["operator"])
            if say:
                self._writer.emit("step", stage="numerics", **fields)
        elif kind == "measure":
            batch.measures.append(fields)
            running = None
            if say:
                self._writer.emit("measure", stage="numerics", **self._explained(fields))
        return running

    def _explained(self, measure: Measure) -> Measure:
        if measure["outcome"] == "missing" and self._hidden:
            text = "no kernel on this device; PYTORCH_ENABLE_MPS_FALLBACK lets it run on the CPU"
            return dict(measure, outcome="fallback", detail=text)
        if measure["outcome"] in ("wrong", "crashed", "hung"):
            return dict(measure, cause=with_context(measure["cause"], self._options.device, self._options.context))
        return measure

    def _record(self, measure: Measure, say: bool = True) -> None:
        explained = self._explained(measure)
        self.measures[str(measure["operator"])] = explained
        if say:
            self._writer.emit("measure", stage="numerics", **explained)


def _unmeasured(name: str, dtype: str, outcome: str) -> Measure:
    return {"operator": name, "outcome": outcome, "dtype": dtype, "error": None, "worst": None}


def _death(ending: str, stderr: str) -> str:
    said = abort_message(stderr)
    return f"the process ended by {ending}" + ("" if said is None else ": " + said)
