"""From the words of an error to a slug of the vocabulary of causes. What is not certain stays None.

The messages are those of the torch releases 1.12 to 2.15 and of Apple's frameworks as reported in public tickets; the
release ranges were read from the wheels.
"""

from __future__ import annotations

import re
from typing import Any, Mapping

_UNIT = {"bytes": 1, "kb": 1024, "mb": 1024**2, "gb": 1024**3, "kib": 1024, "mib": 1024**2, "gib": 1024**3}
_SIZE = r"([\d.]+)\s*(bytes|[KMG]i?B)"
_OUT_OF_MEMORY = re.compile(
    rf"MPS backend out of memory \(MPS allocated: {_SIZE}, other allocations: {_SIZE}, max allowed: {_SIZE}\)\. "
    rf"Tried to allocate {_SIZE}",
    re.IGNORECASE,
)
# A request up to this size that fails below the limit is no memory pressure: an 8 GB Mac has a working set of 5 GB.
SMALL_REQUEST = 64 * 1024**2

# (pattern, slug), first match wins. Patterns are literal unless they need more.
_RULES: tuple[tuple[str, str], ...] = (
    (r"unsupported deferred-static-alloca-size", "virtual-machine-gpu"),
    (r"Failed to infer result type", "mixed-dtype-abort"),
    (r"are not broadcast compatible", "mixed-dtype-abort"),
    (r"total bytes of NDArray > 2\*\*32|product of dimension sizes > 2\*\*31", "tensor-too-large"),
    (r"Output channels > 65536 not supported|tensor dims larger than INT_MAX|Invalid buffer size", "tensor-too-large"),
    (r"kIOGPUCommandBufferCallbackErrorOutOfMemory", "mps-out-of-memory"),
    (r"invalid (low|high) watermark ratio", "watermark-env-var-invalid"),
    (r"MPS BFloat16 is only supported on MacOS|BFloat16 is not supported on MPS", "bf16-unsupported"),
    (r"bfloat16 type is supported on MacOS", "bf16-unsupported"),
    (r"unsupported autocast device_type|User specified autocast device_type must be", "mixed-precision-unsupported"),
    (r"Attempting to unscale FP16 gradients", "mixed-precision-unsupported"),
    (r"float64 (dtype|Tensor) .*MPS|float64 is not supported on MPS", "float64-on-mps"),
    (r"supported (by|on) MPS (on|for) MacOS|supported natively starting from macOS", "op-needs-newer-macos"),
    (r"Placeholder storage has not been allocated on MPS|Passed CPU tensor to MPS op", "tensor-on-wrong-device"),
    (r"not current(ly)? implemented for the MPS device", "op-not-implemented"),
    (r"is not linked with support for mps devices", "mps-not-built"),
)
_MISSING = re.compile(
    r"not current(ly)? implemented for the MPS device|not implemented for '|Could not run 'aten::"
    r"|is not supported on MPS|not supported on MPS|not implemented on MPS|MPS device does not support"
    r"|MPS (backend|only) supports only|MPS only supports|supported (by|on) MPS (on|for) MacOS"
)
# The three wordings torch uses when it runs an operator on the CPU instead (warnings, one of them for each operator).
_FALLBACK = re.compile(r"(fall|falling) back (to|on) (run on )?(the )?CPU", re.IGNORECASE)
_OPERATOR = re.compile(r"'(aten::[\w.]+)'|\b(torch\.[\w.]+)|\bMPS: (\w+) op")
# What macOS prints when GPU work was thrown away; torch before 2.15 prints it and goes on with wrong data.
_COMMAND_BUFFER = re.compile(r"command buffer exited with error status.*|MPS command buffer execution failed.*")
_FALLBACK_LOG = re.compile(r"CPU Fallback::(aten::\w+|\w+)")


def _bytes(number: str, unit: str) -> float:
    return float(number) * _UNIT[unit.lower()]


def out_of_memory_cause(message: str) -> str | None:
    """Tell the two out-of-memory errors of MPS apart by the arithmetic of the message itself.

    Ordinary pressure exceeds the limit it names, or asks for much. A virtual machine's GPU refuses a small request
    that would have stayed below the limit (``MPS allocated: 0 bytes ... Tried to allocate 256 bytes``).
    """
    match = _OUT_OF_MEMORY.search(message)
    if match is None:
        return "mps-out-of-memory" if "MPS backend out of memory" in message else None
    group = match.groups()
    allocated, other, limit, wanted = (_bytes(group[index], group[index + 1]) for index in range(0, 8, 2))
    # Sizes are rounded to two digits and memory is granted in larger pieces than asked for: stay clear of the limit.
    refused_below_limit = allocated + other + wanted <= 0.9 * limit and wanted <= SMALL_REQUEST
    return "virtual-machine-gpu" if refused_below_limit else "mps-out-of-memory"


def cause_of(message: str) -> str | None:
    """The cause that the words of an error prove, or None."""
    memory = out_of_memory_cause(message)
    if memory is not None:
        return memory
    return next((slug for pattern, slug in _RULES if re.search(pattern, message)), None)


def with_context(cause: str | None, device: str, context: Mapping[str, Any]) -> str | None:
    """In a virtual machine whose MPS device fails without a cause of its own, the machine is the cause."""
    if cause is None and device == "mps" and context.get("virtual_machine") is True:
        return "virtual-machine-gpu"
    return cause


def says_missing(error: BaseException) -> bool:
    """The error means that the operator has no kernel for this device or dtype."""
    return isinstance(error, NotImplementedError) or _MISSING.search(str(error)) is not None


def fallback_operator(message: str) -> str | None:
    """The operator that a warning says ran on the CPU, ``an operator`` where it is not named, None for other text."""
    if _FALLBACK.search(message) is None:
        return None
    match = _OPERATOR.search(message)
    return "an operator" if match is None else next(name for name in match.groups() if name)


def logged_fallbacks(text: str) -> tuple[str, ...]:
    """The operators that PYTORCH_MPS_LOG_PROFILE_INFO=4 logged as run on the CPU, each once."""
    return tuple(sorted(set(_FALLBACK_LOG.findall(text))))


def lost_command_buffer(text: str) -> str | None:
    """The line in which macOS says that GPU work was lost, or None."""
    match = _COMMAND_BUFFER.search(text)
    return None if match is None else match.group(0)[:200]


def abort_message(text: str) -> str | None:
    """The line of a dying process's stderr that proves a cause, or None."""
    for line in reversed(text.splitlines()):
        if cause_of(line) is not None or "failed assertion" in line or line.startswith("LLVM ERROR"):
            return line.strip()[:300]
    return None


def first_line(error: BaseException) -> str:
    """The type and the first 300 characters of an exception's message on one line."""
    text = str(error).strip().splitlines()
    return "{}: {}".format(type(error).__name__, text[0][:300] if text else "no message")
