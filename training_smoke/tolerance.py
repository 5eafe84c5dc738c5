"""How far a device's result may lie from the exact one.

The reference is computed on the CPU in float64 from inputs already rounded to the tested dtype, so all of the error is
the device's. Model (Higham and Mary, "A new approach to probabilistic rounding error analysis", 2019): rounding errors
are independent with mean zero, so after ``n`` of them the error exceeds ``lambda * sqrt(n) * u`` times the typical size
of the partial results with probability below ``2 exp(-lambda**2 / 2)``. With lambda = 8 that is 1e-14. With
u = eps / 2:

    limit = 4 * (depth * eps(dtype) + sqrt(length) * eps(accumulator)) * scale * condition

* ``depth``: roundings to the dtype that follow one another; a transcendental function counts as 4 of them (Apple's and
  NVIDIA's documented errors of exp, log, erf and tanh are 2 to 4 units in the last place).
* ``length``: the longest sum in the forward or backward pass. Sums of more than 256 terms count as 256: libraries add
  blocks first, and a tree of 2**20 terms is 20 deep.
* accumulator: float16 products may be summed in float16 (CUDA's reduced-precision reductions, some CPU kernels);
  bfloat16 matrix hardware always sums in float32.
* ``scale``: the largest magnitude in the reference, of each output and each gradient by itself.
* ``condition``: the condition number of the problem (matrix factorisations), which amplifies every rounding.

GPUs compute float32 with "fast" arithmetic unless told otherwise (Metal compiles so by default), and PyTorch's own MPS
tests allow 1e-4 there; so on a GPU the working eps of float32 is taken as 2**-17.
"""

from __future__ import annotations

import math

import torch

SAFETY = 4.0
TRANSCENDENTAL = 4
LONGEST_SUM = 256
GPU_FLOAT32_EPS = 2.0**-17


def limit(
    dtype: torch.dtype, scale: float, depth: int = 1, length: int = 1, condition: float = 1.0, on_gpu: bool = False
) -> float:
    """The largest absolute error that a sound device makes, by the formula above."""
    float32 = GPU_FLOAT32_EPS if on_gpu else float(torch.finfo(torch.float32).eps)
    eps = float32 if dtype == torch.float32 else float(torch.finfo(dtype).eps)
    accumulator = eps if dtype == torch.float16 else float32
    summed = math.sqrt(min(length, LONGEST_SUM)) * accumulator
    return SAFETY * (depth * eps + summed) * scale * condition
