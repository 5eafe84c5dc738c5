"""The scripts that the examined interpreter runs, as real files, also where mpsdoctor itself lives in one zip file."""

from __future__ import annotations

from functools import cache
from pathlib import Path


@cache
def on_disk(where: Path) -> Path:
    """Return `where`, a folder of ours; out of a zip file, a private copy that lasts as long as this process.

    Raises FileNotFoundError where neither is there.
    """
    if where.is_dir():
        return where
    # Not by importlib.resources: its modules import each other in a circle, and checks load in another thread now.
    archive = next((folder for folder in where.parents if folder.is_file()), None)
    if archive is None:
        raise FileNotFoundError(str(where))
    return _extracted(archive, where.relative_to(archive).as_posix() + "/")


def _extracted(archive: Path, prefix: str) -> Path:
    import atexit
    import shutil
    import tempfile
    import zipfile

    root = Path(tempfile.mkdtemp(prefix="mpsdoctor-"))  # for this user alone
    atexit.register(shutil.rmtree, root, ignore_errors=True)
    folder = root / Path(prefix).name
    with zipfile.ZipFile(archive) as file:
        for name in file.namelist():
            if name.startswith(prefix) and name.endswith((".py", ".json")):
                target = folder / name[len(prefix) :]
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(file.read(name))
    return folder
