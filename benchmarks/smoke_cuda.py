"""Does training_smoke time what it says it times, and does it train as fast as a loop written by hand?

    PYTHONPATH=. python benchmarks/smoke_cuda.py [--rounds 200] [--device cuda]

For both networks of the train stage, in float16 and bfloat16, on an NVIDIA GPU:

* the step time that the training loop reports against CUDA events around the same steps (at most 3 % apart);
* the throughput of the loop, its looks at the device and its events included, against a bare hand-written loop of the
  same network on the same batches (at least 97 %). The two take turns in short rounds (single rounds differ by a tenth
  and more on a shared host); the ratio is the median over the rounds, told with its 95 % interval.

Prints one JSON object with a verdict; exit code 0 if both hold everywhere, 1 if not, 2 without the device.
With ``--device cpu`` only the throughput is compared (no CUDA events there): a rehearsal of this script.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import time
from itertools import islice
from pathlib import Path
from typing import Any

import torch
from torch.nn import functional

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from training_smoke import events, loop, networks, precision, sizes, train_network
from training_smoke.devices import Device, device_named

STEP_TIME_OFF = 0.03
LEAST_THROUGHPUT = 0.97
STEPS = 2 * train_network.BLOCK  # a round: long enough for a look at the device in between, short for many rounds
WARM_STEPS = 30
Batches = list[tuple[torch.Tensor, torch.Tensor]]


class Bare:
    """What somebody would write by hand: autocast, a gradient scaler for float16, AdamW, nothing else."""

    def __init__(self, run: sizes.Run, device: torch.device, dtype: torch.dtype) -> None:
        self.kind, self.dtype = device.type, dtype
        self.model = networks.build(run.shape, 0).to(device)
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=run.rate, weight_decay=0.0, betas=(0.9, 0.95))
        self.scaler = torch.amp.GradScaler(self.kind, enabled=dtype == torch.float16)

    def train(self, data: Batches) -> None:
        for inputs, targets in data:
            self.optimizer.zero_grad(set_to_none=True)
            with torch.autocast(self.kind, dtype=self.dtype):
                scores = self.model(inputs)
                loss = functional.cross_entropy(scores.flatten(0, -2), targets.flatten())
            self.scaler.scale(loss).backward()  # type: ignore[no-untyped-call]
            self.scaler.step(self.optimizer)
            self.scaler.update()


class Ours:
    """The program's own loop, with its looks at the device, writing its events to nowhere."""

    def __init__(self, run: sizes.Run, device: Device, dtype: str, sink: events.EventWriter) -> None:
        plan = precision.precision_for(device, dtype)
        self.trainer = loop.Trainer(networks.build(run.shape, 0), device, plan, run.rate, precision.INITIAL_SCALE)
        self.block = train_network.block_for(device)
        self.sink = sink

    def _tell(self, record: loop.Record) -> None:
        self.sink.emit(
            "step", stage="train", step=len(record.losses), loss=record.losses[-1], step_ms=record.step_ms[-1]
        )

    def train(self, data: Batches) -> loop.Record:
        return loop.train(self.trainer, data, self.block, self._tell)

    def event_times(self, data: Batches) -> tuple[float, float]:
        """Milliseconds a step of one block over all of ``data``: as reported, and by CUDA events around it."""
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))  # type: ignore[no-untyped-call]
        torch.cuda.synchronize()
        begin.record()
        record = loop.train(self.trainer, data, len(data))
        end.record()
        torch.cuda.synchronize()
        return record.step_ms[0], float(begin.elapsed_time(end)) / len(data)


def seconds(device: Device, work: Any, data: Batches) -> float:
    """The wall time of ``work(data)`` with nothing left to do on the device before and after."""
    device.synchronise()
    begun = time.perf_counter()
    work(data)
    device.synchronise()
    return time.perf_counter() - begun


def median_interval(ordered: list[float]) -> list[float]:
    """The 95 % interval of the median of sorted values, by ranks (n/2 -+ 0.98 sqrt(n)); it assumes no distribution."""
    half = 0.98 * len(ordered) ** 0.5
    low = max(0, int(len(ordered) / 2 - half))
    high = min(len(ordered) - 1, int(len(ordered) / 2 + half))
    return [ordered[low], ordered[high]]


def measure(run: sizes.Run, device: Device, dtype: str, rounds: int, sink: events.EventWriter) -> dict[str, Any]:
    """One network in one dtype: both questions answered."""
    few = list(islice(networks.batches(run.shape, run.batch, 0), 20))
    data = [loop.to_device(few[step % len(few)], device) for step in range(STEPS if not device.is_cpu else 10)]
    ours, bare = Ours(run, device, dtype, sink), Bare(run, device.torch_device, precision.HALF[dtype])
    ours.train(data[:WARM_STEPS])
    bare.train(data[:WARM_STEPS])
    pairs = []
    for index in range(rounds):
        # Who goes first changes from round to round: clocks and caches favour neither.
        order = (bare.train, ours.train) if index % 2 == 0 else (ours.train, bare.train)
        times = {work: seconds(device, work, data) for work in order}
        pairs.append((times[bare.train], times[ours.train]))
    ratios = sorted(by_hand / own for by_hand, own in pairs)
    result: dict[str, Any] = {
        "network": run.shape.name,
        "dtype": dtype,
        "bare_ms": statistics.median(by_hand for by_hand, _ in pairs) * 1e3 / len(data),
        "loop_ms": statistics.median(own for _, own in pairs) * 1e3 / len(data),
        "throughput": statistics.median(ratios),
        "throughput_95": median_interval(ratios),
        "throughput_range": [ratios[0], ratios[-1]],
    }
    result["throughput_ok"] = result["throughput"] >= LEAST_THROUGHPUT
    if not device.is_cpu:
        timed = [ours.event_times(data) for _ in range(rounds)]
        off = [reported / by_events - 1.0 for reported, by_events in timed]
        result["reported_ms"] = statistics.median(reported for reported, _ in timed)
        result["event_ms"] = statistics.median(by_events for _, by_events in timed)
        result["step_time_off"] = statistics.median(off)
        result["step_time_off_range"] = [min(off), max(off)]
        result["step_time_ok"] = abs(result["step_time_off"]) <= STEP_TIME_OFF
    return result


def main() -> int:
    parser = argparse.ArgumentParser(description="Time training_smoke's loop against CUDA events and a bare loop.")
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--device", choices=("cuda", "cpu"), default="cuda")
    given = parser.parse_args()
    device = device_named(given.device)
    available = device.availability()
    if not available.ok:
        print(json.dumps({"verdict": "not measured", "because": available.reason}))
        return 2
    sink = events.EventWriter(os.open(os.devnull, os.O_WRONLY))
    runs = sizes.training_runs(device.is_cpu, False)
    results = [measure(run, device, dtype, given.rounds, sink) for run in runs for dtype in ("float16", "bfloat16")]
    good = all(result["throughput_ok"] and result.get("step_time_ok", True) for result in results)
    report = {
        "torch": str(torch.__version__),
        "device": device.title() or device.name,
        "bars": {"step_time_off": STEP_TIME_OFF, "throughput": LEAST_THROUGHPUT},
        "results": results,
        "verdict": "pass" if good else "fail",
    }
    print(json.dumps(report, indent=2))
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
