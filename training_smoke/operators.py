"""What one operator case is, and the table of all of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Callable, Sequence, Union

import torch

from .apis import Version, find

Outputs = Union[torch.Tensor, Sequence[torch.Tensor]]


class Maker:
    """Makes the inputs of a case on the CPU from its own generator."""

    def __init__(self, seed: int) -> None:
        self.generator = torch.Generator().manual_seed(seed)

    def normal(self, *shape: int, deviation: float = 1.0) -> torch.Tensor:
        """Normally distributed values."""
        return torch.randn(*shape, generator=self.generator) * deviation

    def uniform(self, *shape: int, low: float = 0.5, high: float = 1.5) -> torch.Tensor:
        """Evenly distributed values, positive unless told otherwise."""
        return torch.rand(*shape, generator=self.generator) * (high - low) + low

    def integers(self, *shape: int, high: int) -> torch.Tensor:
        """int64 values from 0 to below ``high``."""
        return torch.randint(0, high, shape, generator=self.generator)

    def distinct(self, *shape: int) -> torch.Tensor:
        """Rows of distinct values, all exact in every dtype (multiples of 1/8 below 16), in random order."""
        rows = torch.empty(shape).view(-1, shape[-1])
        for row in rows:
            row.copy_(torch.randperm(128, generator=self.generator)[: shape[-1]].to(torch.float32) / 8.0)
        return rows.view(*shape)

    def positive_definite(self, size: int) -> torch.Tensor:
        """A symmetric matrix with eigenvalues between 1 and 4."""
        basis, _ = torch.linalg.qr(self.normal(size, size).double())
        scaled: torch.Tensor = basis * self.uniform(size, low=1.0, high=4.0).double()
        result: torch.Tensor = (scaled @ basis.T).float()
        return result


@dataclass(frozen=True)
class Limit:
    """A known gap: on ``device`` the operator came with ``since`` (None: never), for ``dtypes`` (empty: all)."""

    device: str
    since: Version | None
    reason: str
    dtypes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Case:
    """One operator or module pattern: how to make its inputs, how to run it, and what its tolerance depends on.

    ``exact`` results must be equal; ``gradient`` says that the backward pass is compared too; ``float32`` that there is
    no half-precision form, so float32 is tested whatever was asked; ``essential`` that no network trains without it.
    """

    name: str
    make: Callable[[Maker], tuple[torch.Tensor, ...]]
    run: Callable[..., Outputs]
    length: int = 1
    depth: int = 1
    condition: float = 1.0
    exact: bool = False
    gradient: bool = True
    float32: bool = False
    essential: bool = False
    needs: str | None = None
    limits: tuple[Limit, ...] = ()

    def skip_reason(self, device: str, version: Version, dtype: str) -> str | None:
        """Why this case does not apply here, or None."""
        if self.needs is not None and find(self.needs) is None:
            return f"this torch has no {self.needs}"
        for known in self.limits:
            applies = known.device == device and (not known.dtypes or dtype in known.dtypes)
            if applies and (known.since is None or version < known.since):
                return known.reason
        return None


def table() -> dict[str, Case]:
    """All cases by name, in the order in which they run."""
    from . import cases_layers, cases_matrix, cases_tensors

    cases: list[Case] = [*cases_matrix.CASES, *cases_layers.CASES, *cases_tensors.CASES]
    result = {case.name: case for case in cases}
    assert len(result) == len(cases), "two cases have one name"
    return result
