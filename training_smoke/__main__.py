"""Entry point: ``python training_smoke ...`` (the folder, by path) or ``python -m <package>.training_smoke``."""

from __future__ import annotations

import sys
from typing import Callable, Sequence


def _main_function() -> Callable[[Sequence[str]], int]:
    if __package__:
        from .main import main

        return main
    # Run by path: Python put this folder itself on sys.path, where our file names would shadow anybody's modules of
    # the same name. Take it off again and load the folder as a package, so that relative imports work in both ways.
    import importlib
    import importlib.util
    from pathlib import Path

    sys.dont_write_bytecode = True
    folder = Path(__file__).resolve().parent
    sys.path[:] = [entry for entry in sys.path if Path(entry).resolve() != folder]
    spec = importlib.util.spec_from_file_location(
        "training_smoke", folder / "__init__.py", submodule_search_locations=[str(folder)]
    )
    if spec is None or spec.loader is None:
        raise ImportError("cannot load the training_smoke folder as a package")
    package = importlib.util.module_from_spec(spec)
    sys.modules["training_smoke"] = package
    spec.loader.exec_module(package)
    run: Callable[[Sequence[str]], int] = importlib.import_module("training_smoke.main").main
    return run


if __name__ == "__main__":
    sys.exit(_main_function()(sys.argv[1:]))
