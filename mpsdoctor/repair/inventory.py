"""The packages before a repair, as a list that people and installers can read: the way back where copies are lost."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from mpsdoctor.probes.files import list_folder, read_head
from mpsdoctor.repair.snapshot import file_digest

_LIMIT = 64 * 1024 * 1024  # bytes of a record; that of a large conda package lists some 100 000 files


def inventory(folders: Sequence[str]) -> dict[str, Any]:
    """Return the packages in environments or site-packages folders: versions, origins, hashes, conda's explicit list.

    `conda create --file` takes the explicit list. The hash of a RECORD vouches for every file that it lists.
    """
    sites = [site for folder in folders for site in _sites(Path(folder))]
    return {
        "distributions": [one for site in sites for one in _distributions(site)],
        "conda_explicit": [line for folder in folders for line in explicit(Path(folder))],
    }


def explicit(prefix: Path) -> list[str]:
    """Return the lines of `conda list --explicit --md5` for a prefix, from its own records.

    https://docs.conda.io/projects/conda/en/stable/user-guide/tasks/manage-environments.html, "Building identical
    conda environments".
    """
    found = []
    for entry in list_folder(prefix / "conda-meta"):
        if entry.name.endswith(".json"):
            record = _json(Path(entry.path))
            checksum = record.get("md5") or (f"sha256:{record['sha256']}" if record.get("sha256") else "")
            if record.get("url"):
                found.append(f"{record['url']}#{checksum}" if checksum else str(record["url"]))
    return ["@EXPLICIT", *sorted(found)] if found else []


def _sites(folder: Path) -> Iterator[Path]:
    yield folder
    yield from folder.glob("lib/python3*/site-packages")


def _distributions(site: Path) -> Iterator[dict[str, Any]]:
    for entry in list_folder(site):
        if not entry.name.endswith(".dist-info"):
            continue
        info = Path(entry.path)
        name, _, version = entry.name.removesuffix(".dist-info").rpartition("-")
        yield {
            "name": name,
            "version": version,
            "location": str(site),
            "installer": (read_head(info / "INSTALLER", 100) or b"").decode("utf-8", "replace").strip() or None,
            "direct_url": _json(info / "direct_url.json").get("url"),
            "record_sha256": file_digest(info / "RECORD") if (info / "RECORD").is_file() else None,
        }


def _json(path: Path) -> dict[str, Any]:
    try:
        data = json.loads(read_head(path, _LIMIT) or b"")
    except (ValueError, RecursionError):
        return {}
    return data if isinstance(data, dict) else {}
