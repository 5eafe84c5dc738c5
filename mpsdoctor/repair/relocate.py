"""A new environment is built beside the old one; before it takes its place, its scripts must name that place."""

from __future__ import annotations

import base64
import csv
import hashlib
import io
import os
from pathlib import Path

_SCRIPT_LIMIT = 1024 * 1024  # bytes; console scripts and activate files have a few kilobytes


def relocate(environment: Path, to: str) -> int:
    """Replace the environment's own path by `to` in its scripts and settings; return how many files changed.

    RECORD files get the new hashes and sizes of the scripts, compiled caches that name the old path are removed.
    """
    forms = _written_forms(os.fsencode(environment), os.fsencode(to))
    changed: dict[str, bytes] = {}
    for path in [environment / "pyvenv.cfg", *sorted((environment / "bin").glob("*"))]:
        if path.is_symlink() or not path.is_file() or path.stat().st_size > _SCRIPT_LIMIT:
            continue
        data = path.read_bytes()
        if b"\0" not in data and any(old in data for old, _ in forms):
            for old, new in forms:
                data = data.replace(old, new)
            _rewrite(path, data)
            changed[os.path.realpath(path)] = path.read_bytes()
    for site in environment.glob("lib/python*/site-packages"):
        for record in site.glob("*.dist-info/RECORD"):
            _update_record(record, site, changed)
        for cache in site.rglob("__pycache__/*.pyc"):
            if forms[0][0] in cache.read_bytes():
                cache.unlink()
    return len(changed)


def _written_forms(old: bytes, new: bytes) -> list[tuple[bytes, bytes]]:
    """Return both paths as they are, and as shells write an apostrophe inside apostrophes: sh in two ways, fish."""
    escapes = (b"'", b"'\"'\"'", b"'\\''", b"\\'")
    forms = [(old.replace(b"'", escape), new.replace(b"'", escape)) for escape in escapes]
    return list(dict.fromkeys(forms))


def _rewrite(path: Path, data: bytes) -> None:
    mode = path.stat().st_mode & 0o7777
    beside = path.with_name(f".{path.name}.mpsdoctor")
    beside.write_bytes(data)
    beside.chmod(mode)
    beside.replace(path)


def _update_record(record: Path, site: Path, changed: dict[str, bytes]) -> None:
    rows = list(csv.reader(io.StringIO(record.read_text(encoding="utf-8"))))
    found = False
    for row in rows:
        data = changed.get(os.path.realpath(site / row[0])) if len(row) == 3 and row[0].startswith("..") else None
        if data is not None:
            hashed = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            row[1], row[2] = f"sha256={hashed}", str(len(data))
            found = True
    if found:
        text = io.StringIO()
        csv.writer(text, lineterminator="\n").writerows(rows)
        _rewrite(record, text.getvalue().encode())
