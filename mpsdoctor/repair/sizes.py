"""Download sizes that are known."""

from __future__ import annotations

# MB (10**6 bytes) of the arm64 wheel of each release: the table of releases, notes on wheel sizes (package index).
_ARM64 = {"1.12.1": 49, "2.10.0": 80, "2.12.0": 88, "2.13.0": 111, "2.14.0": 127, "2.14.1": 127, "2.15.0": 138}


def wheel_mb(torch: str, machine: str) -> float | None:
    """Return the size of torch's wheel for this architecture, or None where it is not known."""
    return float(_ARM64[torch]) if machine == "arm64" and torch in _ARM64 else None
