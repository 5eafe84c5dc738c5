"""Which operators of torch have a kernel for MPS."""

from __future__ import annotations

import re
from functools import cache

from . import _data, versions

_NAME = re.compile(r"(?:aten::)?(\w{1,80})(?:\.\w{1,60})?")


@cache
def _lists() -> tuple[frozenset[str], frozenset[str]]:
    table = _data.document("operators")
    return frozenset(table["have"]), frozenset(table["lack"])


def state() -> str:
    """The release that the lists were made from."""
    release: str = _data.document("operators")["torch"]
    return release


def has_mps_kernel(operator: str) -> bool | None:
    """Has ``aten::isin.Tensor_Tensor_out`` a kernel for MPS in the release of ``state()``?

    One overload with a kernel counts for all. None for composite, foreign and unknown operators.
    """
    name = _base(operator)
    have, lack = _lists()
    if name in have or name.removesuffix("_") in have:
        return True
    return False if name in lack or name.removesuffix("_") in lack else None


def first_release(operator: str) -> str | None:
    """The first release with an MPS kernel for it, where somebody looked it up; else None."""
    first: dict[str, str] = _data.document("operators")["first"]
    return first.get(_base(operator)) or first.get(_base(operator).removesuffix("_"))


def newer_torch_has_it(operator: str, version: str | None) -> bool | None:
    """Would a newer torch than ``version`` (None: not known) run the operator on MPS? None where nothing tells."""
    first = first_release(operator)
    if first is not None:
        older = versions.at_least(version, first) if version is not None else False
        return None if older is None else not older
    known = has_mps_kernel(operator)
    if not known:
        return known
    return True if version is None else versions.at_least(version, state()) is False


def has_kernel_in(operator: str, version: str | None) -> bool:
    """Is it known that ``version`` has the kernel: it is not below the first release that has it?

    Without a recorded first release only the release of ``state()`` and those after it are known to have it.
    """
    if version is None:
        return False
    since = first_release(operator) or (state() if has_mps_kernel(operator) else None)
    return since is not None and versions.at_least(version, since) is True


def _base(operator: str) -> str:
    found = _NAME.match(operator.strip("'\"` "))
    return found[1] if found else ""
