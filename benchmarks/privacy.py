"""Ten thousand machines with planted names and secrets through every format. Prints the number and the seconds.

Usage: python benchmarks/privacy.py [EXAMPLES]
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

from hypothesis import HealthCheck, Phase, given, settings

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from tests.report.planted import NAMES, Planted, planted
from tests.report.test_privacy import check_one


def main() -> None:
    """Run them; the first that fails is shown with all that was drawn."""
    wanted = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    count = 0

    @settings(max_examples=wanted, deadline=None, database=None, suppress_health_check=list(HealthCheck),
              phases=(Phase.explicit, Phase.generate, Phase.shrink))  # fmt: skip
    @given(planted())
    def run(case: Planted) -> None:
        nonlocal count
        check_one(case)
        count += 1
        if count % 500 == 0:
            print(f"{count} machines, {time.monotonic() - started:.0f} s", file=sys.stderr, flush=True)

    started = time.monotonic()
    run()
    seconds = time.monotonic() - started
    print(f"{count} machines made of {len(NAMES)} recordings, every format: nothing survived; {seconds:.0f} s")


if __name__ == "__main__":
    main()
