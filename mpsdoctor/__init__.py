"""mpsdoctor: finds the one reason why PyTorch cannot use this Mac's GPU, and the remedy.

The names below are the public API for plug-in checks. They are loaded when first used, so that `mpsdoctor --help` and
the interpreter's start stay fast.
"""

from __future__ import annotations

TYPE_CHECKING = False  # mypy knows the name; an import of typing would come before start.py has set sys.path right

__version__ = "0.1.0"

if TYPE_CHECKING:
    from mpsdoctor.facts import (
        Binaries,
        Binary,
        Claim,
        Conda,
        CondaPackage,
        Distribution,
        Environment,
        Facts,
        Host,
        ImportFailure,
        Interpreter,
        Message,
        Messages,
        Packages,
        PerformanceLevel,
        ProcessEnd,
        Shadow,
        Smoke,
        Torch,
        Trial,
    )
    from mpsdoctor.registry import check, run_check
    from mpsdoctor.verdict import Evidence, Remedy, Verdict, fail, passed, skip, unknown, warn

_HOMES = {
    "mpsdoctor.verdict": ("Evidence", "Remedy", "Verdict", "fail", "passed", "skip", "unknown", "warn"),
    "mpsdoctor.registry": ("check", "run_check"),
}

__all__ = [
    "Binaries",
    "Binary",
    "Claim",
    "Conda",
    "CondaPackage",
    "Distribution",
    "Environment",
    "Evidence",
    "Facts",
    "Host",
    "ImportFailure",
    "Interpreter",
    "Message",
    "Messages",
    "Packages",
    "PerformanceLevel",
    "ProcessEnd",
    "Remedy",
    "Shadow",
    "Smoke",
    "Torch",
    "Trial",
    "Verdict",
    "__version__",
    "check",
    "fail",
    "passed",
    "run_check",
    "skip",
    "unknown",
    "warn",
]


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module 'mpsdoctor' has no attribute {name!r}")
    import importlib

    home = next((module for module, names in _HOMES.items() if name in names), "mpsdoctor.facts")
    value = globals()[name] = getattr(importlib.import_module(home), name)
    return value
