"""Cases: convolutions, norms, activations, losses, pooling, recurrent and embedding layers."""

from __future__ import annotations

from typing import Callable, Tuple

import torch
from torch.nn import functional

from .operators import Case, Limit, Maker
from .tolerance import TRANSCENDENTAL

Tensor = torch.Tensor
Tensors = Tuple[Tensor, ...]
HALVES = ("float16", "bfloat16")


def _conv_inputs(x: tuple[int, ...], weight: tuple[int, ...], outputs: int) -> Callable[[Maker], Tensors]:
    def make(maker: Maker) -> Tensors:
        fan_in = 1
        for size in weight[1:]:
            fan_in *= size
        return maker.normal(*x), maker.normal(*weight, deviation=fan_in**-0.5), maker.normal(outputs)

    return make


def _batch_norm(x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    return functional.batch_norm(x, None, None, weight, bias, training=True)


def _norm_inputs(*shape: int, features: int) -> Callable[[Maker], Tensors]:
    return lambda maker: (maker.normal(*shape), maker.uniform(features), maker.normal(features))


def _lstm_inputs(maker: Maker) -> Tensors:
    hidden = 24
    weights = [maker.normal(4 * hidden, width, deviation=width**-0.5) for width in (16, hidden)]
    biases = [maker.normal(4 * hidden, deviation=0.3) for _ in range(2)]
    return (maker.normal(3, 6, 16), *weights, *biases)


def _lstm(x: Tensor, *weights: Tensor) -> Tensor:
    state = torch.zeros(1, x.shape[0], 24, dtype=x.dtype, device=x.device)
    output, _, _ = torch.lstm(x, (state, state), list(weights), True, 1, 0.0, True, False, True)
    return output


def _gelu_mlp(x: Tensor, expand: Tensor, contract: Tensor) -> Tensor:
    return functional.linear(functional.gelu(functional.linear(x, expand)), contract)


def _cross_entropy(x: Tensor, targets: Tensor) -> Tensor:
    return functional.cross_entropy(x, targets, reduction="none")


def _conv_transpose3d(x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    return functional.conv_transpose3d(x, weight, bias, stride=2)


NORM_DEPTH = 8
SMOOTH_DEPTH = 4 + TRANSCENDENTAL
CASES = (
    Case("conv1d", _conv_inputs((4, 12, 40), (16, 12, 5), 16), functional.conv1d, length=160),
    Case(
        "conv2d",
        _conv_inputs((2, 8, 12, 12), (16, 8, 3, 3), 16),
        lambda x, w, b: functional.conv2d(x, w, b, padding=1),
        length=288,
        essential=True,
    ),
    Case(
        "conv2d_strided",
        _conv_inputs((2, 8, 13, 13), (16, 8, 3, 3), 16),
        lambda x, w, b: functional.conv2d(x, w, b, stride=2, padding=1),
        length=144,
        essential=True,
    ),
    Case(
        "conv2d_depthwise",
        _conv_inputs((2, 16, 12, 12), (16, 1, 3, 3), 16),
        lambda x, w, b: functional.conv2d(x, w, b, padding=1, groups=16),
        length=288,
    ),
    Case(
        "conv3d",
        _conv_inputs((1, 4, 6, 8, 8), (8, 4, 3, 3, 3), 8),
        lambda x, w, b: functional.conv3d(x, w, b, padding=1),
        length=384,
        limits=(Limit("mps", (2, 3, 0), "3-D convolution on MPS came with torch 2.3"),),
    ),
    Case(
        "conv_transpose1d",
        _conv_inputs((2, 12, 24), (12, 8, 4), 8),
        lambda x, w, b: functional.conv_transpose1d(x, w, b, stride=2, padding=1),
        length=96,
    ),
    Case(
        "conv_transpose2d",
        _conv_inputs((2, 12, 8, 8), (12, 8, 4, 4), 8),
        lambda x, w, b: functional.conv_transpose2d(x, w, b, stride=2, padding=1),
        length=256,
    ),
    Case(
        "conv_transpose3d",
        _conv_inputs((1, 6, 4, 4, 4), (6, 4, 2, 2, 2), 4),
        _conv_transpose3d,
        length=256,
        limits=(
            Limit("mps", (2, 8, 0), "transposed 3-D convolution on MPS came with torch 2.8"),
            Limit("mps", None, "no transposed 3-D convolution in half precision on MPS", HALVES),
        ),
    ),
    Case(
        "layer_norm",
        _norm_inputs(6, 10, 64, features=64),
        lambda x, w, b: functional.layer_norm(x, (64,), w, b),
        length=64,
        depth=NORM_DEPTH,
        essential=True,
    ),
    Case(
        "batch_norm", _norm_inputs(4, 12, 6, 6, features=12), _batch_norm, length=144, depth=NORM_DEPTH, essential=True
    ),
    Case(
        "group_norm",
        _norm_inputs(3, 16, 6, 6, features=16),
        lambda x, w, b: functional.group_norm(x, 4, w, b),
        length=144,
        depth=NORM_DEPTH,
    ),
    Case(
        "rms_norm",
        lambda m: (m.normal(6, 10, 64), m.uniform(64)),
        lambda x, w: functional.rms_norm(x, (64,), w, 1e-5),
        length=64,
        depth=NORM_DEPTH,
        needs="torch.nn.functional.rms_norm",
    ),
    Case(
        "softmax",
        lambda m: (m.normal(12, 80, deviation=2.0),),
        lambda x: torch.softmax(x, -1),
        length=80,
        depth=SMOOTH_DEPTH,
        essential=True,
    ),
    Case(
        "log_softmax",
        lambda m: (m.normal(12, 80, deviation=2.0),),
        lambda x: torch.log_softmax(x, -1),
        length=80,
        depth=SMOOTH_DEPTH,
        essential=True,
    ),
    Case(
        "cross_entropy",
        lambda m: (m.normal(32, 40), m.integers(32, high=40)),
        _cross_entropy,
        length=40,
        depth=SMOOTH_DEPTH,
        essential=True,
    ),
    Case("gelu", lambda m: (m.normal(16, 96, deviation=2.0),), functional.gelu, depth=SMOOTH_DEPTH, essential=True),
    Case("silu", lambda m: (m.normal(16, 96, deviation=2.0),), functional.silu, depth=SMOOTH_DEPTH),
    Case(
        "tanh_sigmoid",
        lambda m: (m.normal(16, 96),),
        lambda x: torch.tanh(x) * torch.sigmoid(x),
        depth=2 * SMOOTH_DEPTH,
    ),
    Case(
        "gelu_mlp_3d",
        lambda m: (m.normal(4, 12, 32), m.normal(128, 32, deviation=0.17), m.normal(32, 128, deviation=0.09)),
        _gelu_mlp,
        length=128,
        depth=SMOOTH_DEPTH + 2,
        essential=True,
    ),
    Case(
        "embedding",
        lambda m: (m.integers(4, 20, high=50), m.normal(50, 32)),
        functional.embedding,
        depth=4,
        essential=True,
    ),
    Case("max_pool2d", lambda m: (m.distinct(2, 4, 100).view(2, 4, 10, 10),), lambda x: functional.max_pool2d(x, 2)),
    Case(
        "adaptive_avg_pool2d",
        lambda m: (m.normal(2, 8, 12, 12),),
        lambda x: functional.adaptive_avg_pool2d(x, 4),
        length=9,
    ),
    Case("lstm", _lstm_inputs, _lstm, length=40, depth=6 * (4 + TRANSCENDENTAL)),
    Case(
        "interpolate_nearest",
        lambda m: (m.normal(2, 3, 7, 7),),
        lambda x: functional.interpolate(x, scale_factor=2.0, mode="nearest"),
        length=4,
    ),
    Case(
        "interpolate_bilinear",
        lambda m: (m.normal(2, 3, 7, 7),),
        lambda x: functional.interpolate(x, size=(13, 13), mode="bilinear", align_corners=False),
        length=16,
        depth=4,
    ),
    Case(
        "interpolate_bicubic",
        lambda m: (m.normal(2, 3, 7, 7),),
        lambda x: functional.interpolate(x, size=(13, 13), mode="bicubic", align_corners=False),
        length=64,
        depth=8,
        limits=(Limit("mps", (2, 6, 0), "bicubic interpolation on MPS came with torch 2.6"),),
    ),
)
