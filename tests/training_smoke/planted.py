"""Runs training_smoke with a fault planted in every worker: ``planted.py PLANT[+PLANT...] OPTIONS...``.

A plant is a file of ``plants/`` whose function ``plant()`` patches a torch operator or replaces a device object, as a
broken torch or a broken device would. The program itself knows nothing of plants: it only starts its workers with the
command it is told, which is this script again.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PLANTS = Path(__file__).resolve().parent / "plants"


def load_program(folder: Path) -> None:
    places = [str(folder)]
    spec = importlib.util.spec_from_file_location(
        "training_smoke", folder / "__init__.py", submodule_search_locations=places
    )
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["training_smoke"] = module
    spec.loader.exec_module(module)


if __name__ == "__main__":
    plant, *options = sys.argv[1:]
    load_program(ROOT / "training_smoke")
    if "--worker" in options:  # the supervisor never imports torch
        sys.path.append(str(PLANTS))
        for name in plant.split("+"):
            importlib.import_module(name).plant()
    main = importlib.import_module("training_smoke.main").main
    sys.exit(main(options, program=[sys.executable, "-B", __file__, plant]))
