"""One check: this lab's models need a Mac with 16 GB."""

from mpsdoctor import Evidence, Host, Remedy, Verdict, check, passed, unknown, warn

NEEDED = 16 * 1024**3


@check("EX101", family="hardware", cause="example-too-little-memory", needs=("HW101",))
def enough_memory(host: Host) -> Verdict:
    """The Mac has the memory that our models need.

    Tested: hw.memsize against 16 GB.

    Why: below it the system swaps, and training is slower than on the CPU.

    What to do: take the small configuration.

    Source: our own measurements.
    """
    if host.memory_bytes is None:
        return unknown("host.memory_bytes", ask=["sysctl -n hw.memsize"])
    if host.memory_bytes >= NEEDED:
        return passed()
    return warn(
        "This Mac has less memory than our models need.",
        [Evidence.of(host, "memory_bytes")],
        [Remedy("Take the small configuration.", (("train", "--config", "small"),))],
    )
