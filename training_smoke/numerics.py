"""The numerics stage inside a worker: each operator on the device against the CPU in float64."""

from __future__ import annotations

import math
import time
import warnings
from dataclasses import asdict, dataclass
from typing import Any, Callable, Sequence

import torch

from .apis import find, torch_version
from .causes import cause_of, fallback_operator, first_line, says_missing
from .devices import Device
from .operators import Case, Maker, table
from .precision import HALF
from .tolerance import limit

Tensor = torch.Tensor
Emit = Callable[..., None]


@dataclass(frozen=True)
class Measurement:
    """How one operator did: ``pass``, ``wrong``, ``missing``, ``fallback``, ``crashed`` (an error), ``skip``.

    ``error`` is the largest one as a share of its limit (``worst`` names the output or gradient): 1 and above is wrong.
    """

    operator: str
    outcome: str
    dtype: str
    error: float | None = None
    worst: str | None = None
    detail: str = ""
    cause: str | None = None


@dataclass(frozen=True)
class _Results:
    outputs: list[Tensor]
    gradients: list[Tensor]


def evaluate(case: Case, device: Device, dtype_name: str, seed: int) -> Measurement:
    """Run one case forward and backward on the device and on the CPU in float64, and compare."""
    used = "float32" if case.float32 else dtype_name
    reason = case.skip_reason(device.name, torch_version(), used)
    if reason is not None:
        return Measurement(case.name, "skip", used, detail=reason)
    dtype = HALF[used]
    try:
        rounded = [_round(tensor, dtype) for tensor in case.make(Maker(seed))]
        expected = _run(case, [_as_reference(tensor) for tensor in rounded], seed, torch.float64)
    except Exception as error:
        return Measurement(case.name, "skip", used, detail="no reference on the CPU: " + first_line(error))
    caught: list[str] = []
    try:
        with warnings.catch_warnings(record=True) as records, device.exact_float32():
            warnings.simplefilter("always")
            actual = _run(case, [tensor.to(device.torch_device) for tensor in rounded], seed, dtype)
            device.synchronise()
            fetched = _Results(
                [tensor.cpu() for tensor in actual.outputs], [tensor.cpu() for tensor in actual.gradients]
            )
        caught = [name for name in (fallback_operator(str(record.message)) for record in records) if name]
    except Exception as error:
        outcome = "missing" if says_missing(error) else "crashed"
        return Measurement(case.name, outcome, used, detail=first_line(error), cause=cause_of(str(error)))
    return _judge(case, device, used, expected, actual, fetched, caught)


def _round(tensor: Tensor, dtype: torch.dtype) -> Tensor:
    return tensor.to(dtype) if tensor.is_floating_point() else tensor


def _as_reference(tensor: Tensor) -> Tensor:
    return tensor.double() if tensor.is_floating_point() else tensor


def _run(case: Case, inputs: Sequence[Tensor], seed: int, dtype: torch.dtype) -> _Results:
    leaves = [tensor.detach().clone() for tensor in inputs]
    wanted = [leaf for leaf in leaves if case.gradient and leaf.is_floating_point()]
    for leaf in wanted:
        leaf.requires_grad_(True)
    given = case.run(*leaves)
    outputs = [given] if isinstance(given, Tensor) else list(given)
    smooth = [output for output in outputs if output.requires_grad]
    gradients: list[Tensor] = []
    if wanted and smooth:
        maker = Maker(seed + 1)
        cotangents = [_cotangent(maker, output) for output in smooth]
        gradients = list(torch.autograd.grad(smooth, wanted, cotangents))
    return _Results([output.detach() for output in outputs], [gradient.detach() for gradient in gradients])


def _cotangent(maker: Maker, output: Tensor) -> Tensor:
    drawn = maker.normal(*output.shape) if output.dim() else maker.normal(1)[0]
    # Few enough bits to be exact in every dtype, and never so small that a half-precision gradient underflows.
    return ((drawn * 8.0).round() / 8.0).to(dtype=output.dtype, device=output.device)


def _judge(
    case: Case, device: Device, used: str, expected: _Results, actual: _Results, fetched: _Results, caught: list[str]
) -> Measurement:
    dtype = HALF[used]
    for index, (ours, theirs) in enumerate(zip(actual.outputs, expected.outputs)):
        wanted = dtype if theirs.is_floating_point() else theirs.dtype
        if ours.dtype != wanted:
            text = f"it returned {_plain(ours.dtype)} where {_plain(wanted)} is due"
            return Measurement(case.name, "wrong", used, worst=f"output {index}", detail=text)
        if ours.device.type != device.torch_device.type:
            text = f"its result is on {ours.device.type} and not on {device.name}"
            return Measurement(case.name, "fallback", used, detail=text)
    error, worst = _largest_error(case, device, dtype, expected, fetched)
    if not error < 1.0:
        text = "{} is off by {} times the limit".format(worst, "NaN" if math.isnan(error) else f"{error:.3g}")
        return Measurement(case.name, "wrong", used, error, worst, text)
    if caught:
        text = "{} ran on the CPU".format(", ".join(sorted(set(caught))))
        return Measurement(case.name, "fallback", used, error, worst, text)
    return Measurement(case.name, "pass", used, error, worst)


def _plain(dtype: torch.dtype) -> str:
    return str(dtype).replace("torch.", "")


def _largest_error(
    case: Case, device: Device, dtype: torch.dtype, expected: _Results, fetched: _Results
) -> tuple[float, str]:
    pairs = [(f"output {i}", a, b) for i, (a, b) in enumerate(zip(fetched.outputs, expected.outputs))]
    pairs += [(f"gradient {i}", a, b) for i, (a, b) in enumerate(zip(fetched.gradients, expected.gradients))]
    largest, where = 0.0, pairs[0][0]
    for name, ours, theirs in pairs:
        share = _share_of_limit(case, device, dtype, ours, theirs)
        if math.isnan(share) or share > largest:
            largest, where = share, name
        if math.isnan(share):
            break
    return largest, where


def _share_of_limit(case: Case, device: Device, dtype: torch.dtype, ours: Tensor, theirs: Tensor) -> float:
    if ours.shape != theirs.shape:
        return math.inf
    if not theirs.is_floating_point():
        return 0.0 if torch.equal(ours, theirs) else math.inf
    difference = float((ours.double() - theirs).abs().max()) if theirs.numel() else 0.0
    if case.exact:
        return 0.0 if difference == 0.0 else (math.nan if math.isnan(difference) else math.inf)
    scale = float(theirs.abs().max()) if theirs.numel() else 1.0
    allowed = limit(dtype, scale or 1.0, case.depth, case.length, case.condition, on_gpu=not device.is_cpu)
    return difference / allowed


def selected(names: Sequence[str] | None) -> dict[str, Case]:
    """The cases of those names (all for None), in table order."""
    cases = table()
    return cases if names is None else {name: case for name, case in cases.items() if name in names}


def run(device: Device, dtype: str, seed: int, operators: Sequence[str] | None, emit: Emit) -> None:
    """Evaluate the operators one after another; each is announced before it starts, so that a death names it."""
    warn_always = find("torch.set_warn_always")
    if warn_always is not None:
        warn_always(True)  # torch says only once in a process that an operator ran on the CPU
    cases = selected(operators)
    emit("table", names=list(cases), essential=[case.name for case in cases.values() if case.essential])
    try:
        for case in cases.values():
            emit("step", stage="numerics", operator=case.name)
            begun = time.perf_counter()
            measured: dict[str, Any] = asdict(evaluate(case, device, dtype, seed))
            emit("measure", stage="numerics", seconds=round(time.perf_counter() - begun, 3), **measured)
    finally:
        if warn_always is not None:
            warn_always(False)
