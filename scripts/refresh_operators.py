"""Writes mpsdoctor/knowledge/operators.json from the table of native functions inside an installed torch.

Usage: python scripts/refresh_operators.py   (with the torch whose operators are wanted in the same environment)
"""

from __future__ import annotations

import argparse
import importlib.metadata
import importlib.util
import json
import re
from pathlib import Path

TARGET = Path(__file__).parents[1] / "mpsdoctor" / "knowledge" / "operators.json"
_FUNCTION = re.compile(r"^- func: ([\w.]+)\(", re.MULTILINE)
_KEYS = re.compile(r"^ {4}([\w, ]+):", re.MULTILINE)

# First release with an MPS kernel, where somebody looked it up: public tickets and the symbols of the wheels.
FIRST = {
    "_fft_r2c": "2.3.0",
    "index_copy": "2.8.0",
    "isin": "2.4.0",
    "slow_conv3d_forward": "2.3.0",
    "upsample_bicubic2d": "2.6.0",
}


def operators(table: str) -> tuple[list[str], list[str]]:
    """Split the operators of a native_functions.yaml into those with an MPS kernel and those with a CPU kernel only.

    An operator counts as a whole: one overload with a kernel is enough. Composite operators are in neither list.
    """
    mps: set[str] = set()
    cpu: set[str] = set()
    starts = [match.start() for match in _FUNCTION.finditer(table)]
    for start, end in zip(starts, [*starts[1:], len(table)], strict=True):
        block = table[start:end]
        name = _FUNCTION.match(block)
        assert name is not None
        keys = {key for line in _KEYS.findall(block) for key in re.split(r",\s*", line)}
        base = name[1].split(".")[0]
        if "MPS" in keys:
            mps.add(base)
        elif "CPU" in keys and not any(key.startswith("Composite") for key in keys):
            cpu.add(base)
    return sorted(mps), sorted(name for name in cpu if not {name, name.removesuffix("_")} & mps)


def main() -> None:
    """Read the installed torch's table and write the JSON file."""
    argparse.ArgumentParser(description=__doc__).parse_args()
    found = importlib.util.find_spec("torchgen")
    if found is None or found.origin is None:
        raise SystemExit("torchgen, which comes with torch, is not installed here")
    table = Path(found.origin).parent / "packaged" / "ATen" / "native" / "native_functions.yaml"
    have, lack = operators(table.read_text(encoding="utf-8"))
    version = importlib.metadata.version("torch").split("+")[0]
    document = {
        "source": f"native_functions.yaml in the wheel of torch {version}; `first`: public tickets and symbols",
        "torch": version,
        "first": FIRST,
        "have": have,
        "lack": lack,
    }
    TARGET.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
