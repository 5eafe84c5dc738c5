"""Cases: integers, indices, sorting, views with strides and offsets, reductions, copies."""

from __future__ import annotations

import torch
from torch.nn import functional

from .operators import Case, Limit, Maker

Tensor = torch.Tensor


def _scatter_inputs(maker: Maker) -> tuple[Tensor, ...]:
    return maker.integers(6, 40, high=12), maker.normal(6, 40)


def _scatter_add(index: Tensor, source: Tensor) -> Tensor:
    return torch.zeros(6, 12, dtype=source.dtype, device=source.device).scatter_add(1, index, source)


def _index_put(index: Tensor, source: Tensor) -> Tensor:
    target = torch.zeros(12, 8, dtype=source.dtype, device=source.device)
    return target.index_put((index,), source, accumulate=True)


def _index_copy(x: Tensor, rows: Tensor) -> Tensor:
    return x.index_copy(0, torch.tensor([5, 1, 3], device=x.device), rows)


def _slice_assignment(x: Tensor) -> Tensor:
    result = x.clone()
    result[1:, 2:5] = x[:-1, 3:6] * 2.0
    return result[1:, 1:]


def _masked_fill(x: Tensor) -> Tensor:
    steps = torch.arange(x.shape[-1], device=x.device)
    return x.masked_fill(steps[None, :] > steps[:, None], -4.0)


def _round_trip(x: Tensor) -> Tensor:
    """To the CPU and back through non-contiguous memory, and through another dtype."""
    there = x.t().cpu().contiguous().to(x.device)
    return there.t().to(torch.float32).to(x.dtype)


CASES = (
    Case("cumsum", lambda m: (m.uniform(6, 60),), lambda x: torch.cumsum(x, -1), length=60, depth=2),
    Case(
        "cumsum_int64",
        lambda m: (m.integers(6, 200, high=100_000),),
        lambda x: torch.cumsum(x, 1),
        exact=True,
        gradient=False,
    ),
    Case(
        "argmax_int64",
        lambda m: (m.distinct(20, 100).mul(8.0).long(),),
        lambda x: torch.argmax(x, -1),
        exact=True,
        gradient=False,
    ),
    Case(
        "argmax",
        lambda m: (m.distinct(20, 100),),
        lambda x: (torch.argmax(x, -1), torch.amin(x, -1)),
        exact=True,
        gradient=False,
    ),
    Case(
        "sum_int64",
        lambda m: (m.integers(8, 500, high=1000),),
        lambda x: (x.sum(1), x.max(), (x * 3) // 7),
        exact=True,
        gradient=False,
    ),
    Case(
        "gather", lambda m: (m.normal(6, 12), m.integers(6, 30, high=12)), lambda x, i: torch.gather(x, 1, i), length=16
    ),
    Case("scatter_add", _scatter_inputs, _scatter_add, length=16),
    Case(
        "index_select",
        lambda m: (m.normal(20, 16), m.integers(30, high=20)),
        lambda x, i: torch.index_select(x, 0, i),
        length=8,
    ),
    Case("index_put_accumulate", lambda m: (m.integers(40, high=12), m.normal(40, 8)), _index_put, length=16),
    Case(
        "index_copy",
        lambda m: (m.normal(8, 6), m.normal(3, 6)),
        _index_copy,
        limits=(Limit("mps", (2, 8, 0), "index_copy on MPS came with torch 2.8"),),
    ),
    Case(
        "isin",
        lambda m: (m.integers(40, high=30), m.integers(10, high=30)),
        torch.isin,
        exact=True,
        gradient=False,
        limits=(Limit("mps", (2, 4, 0), "isin on MPS came with torch 2.4"),),
    ),
    Case("topk", lambda m: (m.distinct(10, 64),), lambda x: tuple(torch.topk(x, 5, -1)), exact=True),
    Case("sort", lambda m: (m.distinct(10, 64),), lambda x: tuple(torch.sort(x, -1, descending=True)), exact=True),
    Case("masked_fill", lambda m: (m.normal(24, 24),), _masked_fill, exact=True),
    Case(
        "where",
        lambda m: (m.normal(16, 24), m.normal(16, 24)),
        lambda a, b: torch.where(a > b, a * 2.0, b * 4.0),
        exact=True,
    ),
    Case(
        "pad_reflect",
        lambda m: (m.normal(2, 3, 8, 8),),
        lambda x: functional.pad(x, (2, 1, 3, 2), mode="reflect"),
        length=6,
    ),
    Case(
        "pad_constant",
        lambda m: (m.normal(2, 3, 8, 8),),
        lambda x: functional.pad(x, (2, 1, 0, 3), value=0.5),
        exact=True,
    ),
    Case(
        "concatenate",
        lambda m: (m.normal(4, 6), m.normal(4, 10)),
        lambda a, b: torch.cat([a, b, a.flip(1)], 1),
        depth=2,
    ),
    Case("roll", lambda m: (m.normal(3, 5, 7),), lambda x: torch.roll(x, (2, -3), (1, 2)), exact=True),
    Case(
        "broadcast_add_multiply",
        lambda m: (m.normal(8, 1, 16), m.normal(12, 1)),
        lambda a, b: (a + b) * a,
        length=128,
        depth=3,
    ),
    Case(
        "transposed_matmul",
        lambda m: (m.normal(48, 40), m.normal(56, 48, deviation=0.15)),
        lambda a, b: a.t() @ b.t(),
        length=56,
        essential=True,
    ),
    Case("strided_slices", lambda m: (m.normal(20, 30),), lambda x: x[3::2, 1::3] * x[2:-1:2, 0:-2:3][:, :10], depth=2),
    Case(
        "slice_with_offset",
        lambda m: (m.normal(40, 33), m.normal(16, 24, deviation=0.2)),
        lambda x, w: functional.linear(x[7:, 9:], w),
        length=33,
    ),
    Case("slice_assignment", lambda m: (m.normal(10, 12),), _slice_assignment, depth=2),
    Case("copy_round_trip", lambda m: (m.normal(31, 17),), _round_trip, exact=True, gradient=False),
    Case("mean_large", lambda m: (m.uniform(2**18),), lambda x: x.mean(), length=2**18, depth=2),
    Case("sum_large_rows", lambda m: (m.uniform(4, 2**13),), lambda x: (x.sum(-1), x.amax(-1)), length=2**13, depth=2),
    Case("variance", lambda m: (m.normal(12, 300),), lambda x: torch.var(x, -1), length=300, depth=6),
)
