"""The bars of the train stage, as pure functions from numbers to problems.

The bands of float16 and bfloat16 were set from 40 seeds of each network on a CPU (torch 2.13.0, tests/training_smoke/
clean_runs.py), and leave a factor of 3 or more to the worst of them: in float16 a cosine of 0.9948, norms 4.2 % and
curves 1.3 % apart; in bfloat16 (20 seeds) 0.981, 8.9 % and 0.4 %. A CPU's float32 is the reference itself, so the bands
of float32 are not measured: they allow for TF32 and fast arithmetic, with 10 bits of mantissa as float16 has.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Mapping, Sequence

import torch

from .outcomes import Problem
from .precision import COLLAPSED_SCALE, Precision
from .probes import Activation, HalfParameters
from .sizes import Run

Tensor = torch.Tensor


@dataclass(frozen=True)
class Bands:
    """How closely a run in some dtype follows the same run in float32 on the CPU.

    ``cosine`` and ``norm`` (largest relative difference of the norms) are of each parameter's gradient at step 1,
    ``first_loss`` the relative difference of the first loss, ``curve`` the mean absolute difference of the two loss
    curves as a share of the first loss.
    """

    cosine: float
    norm: float
    first_loss: float
    curve: float


BANDS = {
    "float32": Bands(cosine=0.98, norm=0.15, first_loss=0.003, curve=0.05),
    "float16": Bands(cosine=0.98, norm=0.15, first_loss=0.003, curve=0.05),
    "bfloat16": Bands(cosine=0.94, norm=0.30, first_loss=0.015, curve=0.05),
}


def activation_problems(
    seen: Sequence[Activation], precision: Precision, device_type: str, network: str
) -> list[Problem]:
    """Every watched layer must return the training dtype, on the device."""
    if not seen:
        return [Problem("activation-dtype", f"{network}: no layer was seen to run", network)]
    problems: list[Problem] = []
    converted = [each for each in seen if each.dtype != precision.torch_dtype]
    if converted:
        first = converted[0]
        text = f"{network}: the layer {first.layer} returned {str(first.dtype)[6:]} and not {precision.dtype}"
        text += f" ({len(converted)} of {len(seen)} layers)"
        problems.append(Problem("activation-dtype", text, network))
    elsewhere = [each for each in seen if each.device != device_type]
    if elsewhere:
        text = f"{network}: the layer {elsewhere[0].layer} returned its result on {elsewhere[0].device}"
        text += f" and not on {device_type} ({len(elsewhere)} of {len(seen)} layers)"
        problems.append(Problem("activation-device", text, network))
    return problems


def gradient_problems(
    ours: Mapping[str, Tensor | None], reference: Mapping[str, Tensor | None], dtype: str, network: str
) -> list[Problem]:
    """Every parameter has a gradient that is finite, not zero, and close to the CPU's in direction and length."""
    bands = BANDS[dtype]
    problems: dict[str, Problem] = {}
    for name, expected in reference.items():
        actual = ours.get(name)
        where = f"{network}: the gradient of {name}"
        if actual is None or expected is None or float(actual.abs().max()) == 0.0:
            problems.setdefault("gradient-zero", Problem("gradient-zero", where + " is zero", network))
            continue
        if not bool(torch.isfinite(actual).all()):
            cause = "fp16-numerics-nan" if dtype == "float16" else None
            problems.setdefault("gradient-finite", Problem("gradient-finite", where + " is not finite", network, cause))
            continue
        ratio = float(actual.norm() / expected.norm())
        cosine = float((actual * expected).sum() / (actual.norm() * expected.norm()))
        if cosine < bands.cosine:
            text = f"{where} points elsewhere than the CPU's (cosine {cosine:.4f}, at least {bands.cosine})"
            problems.setdefault("gradient-direction", Problem("gradient-direction", text, network))
        elif abs(ratio - 1.0) > bands.norm:
            text = f"{where} has {ratio:.3f} times the norm of the CPU's (within {bands.norm} of 1)"
            problems.setdefault("gradient-norm", Problem("gradient-norm", text, network))
    return list(problems.values())


def closeness(ours: Mapping[str, Tensor | None], reference: Mapping[str, Tensor | None]) -> dict[str, float]:
    """The worst cosine and the worst norm ratio over all parameters that have both gradients."""
    cosines, ratios = [1.0], [1.0]
    for name, expected in reference.items():
        actual = ours.get(name)
        if actual is None or expected is None or not float(actual.norm()) > 0.0:
            continue
        cosines.append(float((actual * expected).sum() / (actual.norm() * expected.norm())))
        ratios.append(float(actual.norm() / expected.norm()))
    return {"cosine": min(cosines), "norm_ratio": max(ratios, key=lambda ratio: abs(math.log(ratio)))}


def late_loss(losses: Sequence[float]) -> float:
    """The mean of the last tenth of a loss curve."""
    count = max(1, len(losses) // 10)
    return sum(losses[-count:]) / count


def loss_problems(losses: Sequence[float], run: Run, dtype: str, reference: Sequence[float]) -> list[Problem]:
    """Finite at every step, and down to the bar at the end.

    A loss that is finite in float32 on the CPU and not in float16 here is a matter of float16.
    """
    network = run.shape.name
    bad = next((step for step, loss in enumerate(losses, 1) if not math.isfinite(loss)), None)
    if bad is not None:
        text = f"{network}: the loss is {losses[bad - 1]} at step {bad} of {run.steps}"
        half = dtype == "float16" and all(math.isfinite(loss) for loss in reference)
        return [Problem("loss-not-finite", text, network, "fp16-numerics-nan" if half else None)]
    end = late_loss(losses)
    if end <= run.loss_bar:
        return []
    text = f"{network}: the loss went from {losses[0]:.2f} to {end:.2f} and not to {run.loss_bar} in {run.steps} steps"
    return [Problem("loss-does-not-fall", text, network)]


def accuracy_problems(accuracy: float, run: Run) -> list[Problem]:
    """The trained network must know unseen data."""
    if accuracy >= run.accuracy_bar:
        return []
    text = f"{run.shape.name}: {accuracy:.0%} of unseen data right, at least {run.accuracy_bar:.0%} is due"
    return [Problem("accuracy", text, run.shape.name)]


def curve_distance(losses: Sequence[float], reference: Sequence[float]) -> float:
    """The mean absolute difference of two loss curves as a share of the reference's first loss."""
    pairs = list(zip(losses, reference))
    return sum(abs(ours - theirs) for ours, theirs in pairs) / len(pairs) / reference[0]


def agreement_problems(losses: Sequence[float], reference: Sequence[float], dtype: str, network: str) -> list[Problem]:
    """The run must follow the float32 run on the CPU from the same start on the same data."""
    bands = BANDS[dtype]
    first = abs(losses[0] - reference[0]) / reference[0]
    if first > bands.first_loss:
        text = f"{network}: the first loss is {losses[0]:.4f}, on the CPU {reference[0]:.4f}"
        return [Problem("cpu-agreement", text, network)]
    distance = curve_distance(losses, reference)
    if distance <= bands.curve:
        return []
    text = f"{network}: the loss curve lies {distance:.1%} of the first loss away from the CPU's"
    text += f", at most {bands.curve:.0%} is due"
    return [Problem("cpu-agreement", text, network)]


def scale_problems(scales: Sequence[float], precision: Precision, network: str) -> list[Problem]:
    """The loss scale must not collapse: then gradients overflow again and again."""
    if precision.scaler == "none" or not scales or scales[-1] >= COLLAPSED_SCALE:
        return []
    text = f"{network}: the loss scale fell to {scales[-1]:g}, at least {COLLAPSED_SCALE:g} is due"
    return [Problem("scale-collapse", text, network, "fp16-numerics-nan")]


def half_parameter_problems(probe: HalfParameters, precision: Precision, known_bad: bool) -> list[Problem]:
    """Unscaling must keep the gradients of half-precision parameters. ``known_bad``: a release known for it."""
    if probe.skip is not None or probe.survived == probe.total:
        return []
    dtype = precision.dtype
    text = f"unscaling {dtype} gradients of {dtype} parameters loses {probe.total - probe.survived} of {probe.total}"
    text += f": training with parameters held in {dtype} stands still without an error"
    text += " (autocast with float32 parameters is not affected)"
    return [Problem("half-parameter-unscale", text, None, "known-bad-torch-release" if known_bad else None)]


def memory_growth(memory: Sequence[int | None]) -> int | None:
    """Bytes by which the later blocks exceed the earlier ones, None where memory is not told.

    The first third is warm-up. What grows from step to step is in the smallest of the last third as well.
    """
    known = [value for value in memory if value is not None]
    if len(known) < 6:
        return None
    third = len(known) // 3
    return min(known[-third:]) - max(known[third : 2 * third])


def memory_problems(memory: Sequence[int | None], on_cpu: bool, network: str) -> list[Problem]:
    """Memory must not grow from step to step. A CPU process's resident memory is noisier than a GPU's allocator."""
    growth, allowed = memory_growth(memory), (12 if on_cpu else 1) * 1024 * 1024
    if growth is None or growth <= allowed:
        return []
    text = f"{network}: memory grew by {growth / 1024**2:.1f} MB in the last third of the steps"
    return [Problem("memory-growth", text, network)]
