"""Cuts a large log down to the lines that can tell something. Line numbers stay those of the whole log."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

LARGE = 400_000  # characters; above that a log is cut down first
_HEAD_TAIL = 400  # lines kept at both ends
_MOST = 2_000  # interesting lines that are kept, half of them from the end
_END_CHARACTERS, _HIT_CHARACTERS = 80_000, 300_000  # at most as much of each end, and of the interesting lines
_AROUND = 2
_WORDS = (
    "rror", "arning", "raceback", "MPS", "mps", "macOS", "macosx", "MacOS", "dlopen", "Symbol not found",
    "Library not loaded", "OMP", "ssert", "zsh:", "fault", "trap", "Killed", "killed", "satisf", "No matching",
    "only has wheels", "not found", "Apple M", "Intel", "Chip", "Python version", "Python 3", "platform",
    "PyTorch version", "torch==", "torch 2", "torch:", "CUDA", "NumPy", "numpy", "NaN", "nan", "lack image",
    "abort", "Abort", "exited", "PYTORCH_", "KMP_", "Expected in",
)  # fmt: skip
_INTERESTING = re.compile("|".join(map(re.escape, _WORDS)))


def split_large(text: str) -> str:
    """Break lines that are longer than any message, so that none of their parts is lost."""
    if "\n" in text[:20_000] or len(text) <= 20_000:
        return text
    return "\n".join(text[at : at + 4_000] for at in range(0, len(text), 4_000))


def reduce(lines: Sequence[str]) -> list[tuple[int, str]]:
    """Keep both ends, and the first of all equal lines with an interesting word, with the lines around them.

    Returns the kept lines with their numbers, counted from 1.
    """
    numbers = range(len(lines))
    keep = {*_within(lines, numbers[:_HEAD_TAIL], _END_CHARACTERS)}
    keep |= {*_within(lines, numbers[: -_HEAD_TAIL - 1 : -1], _END_CHARACTERS)}
    seen: set[str] = set()
    hits = []
    for index, line in enumerate(lines):
        if line in seen:
            continue
        seen.add(line)
        if _INTERESTING.search(line):
            hits.append(index)
    early, late = hits[: _MOST // 2], hits[_MOST // 2 :][: -_MOST // 2 - 1 : -1]
    for index in (*_within(lines, early, _HIT_CHARACTERS), *_within(lines, late, _HIT_CHARACTERS)):
        keep.update(range(max(0, index - _AROUND), min(len(lines), index + _AROUND + 1)))
    return [(index + 1, lines[index]) for index in sorted(keep)]


def _within(lines: Sequence[str], numbers: Iterable[int], characters: int) -> Iterator[int]:
    """The first of these lines that together have no more characters; at least one."""
    for number in numbers:
        yield number
        characters -= len(lines[number])
        if characters < 0:
            return
