"""Cases: linear layers, products of matrices, attention, factorisations."""

from __future__ import annotations

from typing import Callable, Tuple

import torch
from torch.nn import functional

from .operators import Case, Maker
from .tolerance import TRANSCENDENTAL

Tensor = torch.Tensor
Tensors = Tuple[Tensor, ...]
ATTENTION = "torch.nn.functional.scaled_dot_product_attention"


def _linear_inputs(shape: tuple[int, ...], outputs: int, bias: bool) -> Callable[[Maker], Tensors]:
    def make(maker: Maker) -> Tensors:
        weight = maker.normal(outputs, shape[-1], deviation=shape[-1] ** -0.5)
        inputs = (maker.normal(*shape), weight)
        return (*inputs, maker.normal(outputs)) if bias else inputs

    return make


def _linear(x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    return functional.linear(x, weight, bias)


def _heads(maker: Maker) -> Tensors:
    return maker.normal(2, 4, 48, 32), maker.normal(2, 4, 48, 32), maker.normal(2, 4, 48, 32)


def _attention(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    return functional.scaled_dot_product_attention(q, k, v)


def _attention_causal(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    return functional.scaled_dot_product_attention(q, k, v, is_causal=True)


def _attention_masked(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    steps = torch.arange(q.shape[-2], device=q.device)
    near = (steps[:, None] - steps[None, :]).abs() < 9
    return functional.scaled_dot_product_attention(q, k, v, attn_mask=near)


SOFTMAX_DEPTH = 4 + TRANSCENDENTAL
CASES = (
    Case("linear", _linear_inputs((64, 128), 96, True), _linear, length=128, essential=True),
    Case("linear_no_bias", _linear_inputs((64, 128), 96, False), _linear, length=128, essential=True),
    # The shapes that macOS 26 virtual machines compute wrongly (pytorch #192934), bias on 3-D input.
    Case("linear_3d_80x1x2_to_192", _linear_inputs((80, 1, 2), 192, True), _linear, length=192, essential=True),
    Case("linear_3d_2x64x128_to_384", _linear_inputs((2, 64, 128), 384, True), _linear, length=384, essential=True),
    Case("linear_3d_no_bias", _linear_inputs((2, 64, 128), 384, False), _linear, length=384, essential=True),
    Case(
        "matmul", lambda m: (m.normal(64, 96), m.normal(96, 80, deviation=0.1)), torch.matmul, length=96, essential=True
    ),
    Case(
        "bmm",
        lambda m: (m.normal(6, 32, 64), m.normal(6, 64, 48, deviation=0.125)),
        torch.bmm,
        length=64,
        essential=True,
    ),
    Case(
        "einsum",
        lambda m: (m.normal(2, 24, 4, 16), m.normal(2, 24, 4, 16, deviation=0.25)),
        lambda a, b: torch.einsum("bqhd,bkhd->bhqk", a, b),
        length=24,
    ),
    Case("attention", _heads, _attention, length=48, depth=2 * SOFTMAX_DEPTH, needs=ATTENTION),
    Case("attention_causal", _heads, _attention_causal, length=48, depth=2 * SOFTMAX_DEPTH, needs=ATTENTION),
    Case("attention_mask", _heads, _attention_masked, length=48, depth=2 * SOFTMAX_DEPTH, needs=ATTENTION),
    Case(
        "attention_spelled_out",
        _heads,
        lambda q, k, v: torch.softmax(q @ k.transpose(-2, -1) * q.shape[-1] ** -0.5, -1) @ v,
        length=48,
        depth=2 * SOFTMAX_DEPTH,
        essential=True,
    ),
    # The matrices have eigenvalues between 1 and 4, so a condition number of at most 4 (16 for the inverse's gradient).
    Case(
        "cholesky", lambda m: (m.positive_definite(24),), torch.linalg.cholesky, length=24, condition=4.0, float32=True
    ),
    Case("inverse", lambda m: (m.positive_definite(24),), torch.linalg.inv, length=24, condition=16.0, float32=True),
    Case(
        "svd_values",
        lambda m: (m.positive_definite(24),),
        torch.linalg.svdvals,
        length=24,
        condition=4.0,
        gradient=False,
        float32=True,
    ),
)
