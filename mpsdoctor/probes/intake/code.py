"""What pasted code shows by itself: a variable that is set too late."""

from __future__ import annotations

import re
from collections.abc import Sequence

from mpsdoctor.facts import Claim
from mpsdoctor.probes.intake.collector import Collector
from mpsdoctor.probes.intake.text import Line

_IMPORT = re.compile(r"^\s*(?:import torch\b|from torch\b)")
_SET = re.compile(r"os\.(?:environ(?:\.setdefault\(|\[)|putenv\()\s?['\"](?P<name>PYTORCH_\w{3,60})['\"]")
_SHOWN = 200


def read_code(into: Collector, lines: Sequence[Line]) -> None:
    """Read that a program sets one of torch's variables below `import torch`: torch reads them while it loads."""
    imported: int | None = None
    for line in lines:
        if imported is None:
            imported = line.number if _IMPORT.match(line.text) else None
            continue
        found = _SET.search(line.text)
        if found:
            told = {"name": found["name"], "import_line": str(imported)}
            into.claims.append(
                Claim(id="variable-after-import", text=line.text[:_SHOWN], line=line.number, values=told)
            )
            return
