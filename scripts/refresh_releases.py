"""Brings the wheel columns of mpsdoctor/knowledge/releases.json up to date with the package index.

    python scripts/refresh_releases.py [--index URL] [--file PATH] [--check]

Only what the index states is touched: dates, requires-python, wheel tags and the Pythons in them. Columns that were
read out of the wheels by hand (MPS floors, NumPy ABI, companions, ...) are never overwritten; for a new release they
stay null and are named at the end. The index is the one that pip uses: --index, else PIP_INDEX_URL, else pip's
configuration. It must speak the JSON form of the simple API (PEP 691) and give upload times (PEP 700).

Exit status: 0 nothing to do or file written, 1 with --check and a stale file, 2 the index could not be read.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

from mpsdoctor.knowledge import versions
from mpsdoctor.knowledge.releases import wheel_tag

Row = dict[str, Any]
FILE = Path(__file__).resolve().parent.parent / "mpsdoctor" / "knowledge" / "releases.json"
MEDIA_TYPE = "application/vnd.pypi.simple.v1+json"
FIRST_WITH_MPS = (1, 12, 0)
FROM_INDEX = ("date", "requires_python", "arm64_pythons", "arm64_tags", "x86_64_pythons", "x86_64_tags")
WHEEL = re.compile(r"torch-(?P<version>[^-]+)-(?P<tag>.+-macosx_\d+_\d+_(?P<machine>arm64|x86_64))\.whl")


class IndexUnreadable(Exception):
    """The index was not found, did not answer, or answered in a form that this script does not read."""


def index_url(given: str | None) -> str:
    """The base URL of the simple index: as given, else as pip is set up."""
    if given or os.environ.get("PIP_INDEX_URL"):
        return given or os.environ["PIP_INDEX_URL"]
    # Not `pip config get`: it does not find what a file named by PIP_CONFIG_FILE sets (seen with pip 23.2.1).
    command = [sys.executable, "-m", "pip", "config", "list"]
    asked = subprocess.run(command, capture_output=True, text=True, timeout=60, stdin=subprocess.DEVNULL, check=False)
    settings = dict(line.split("=", 1) for line in asked.stdout.splitlines() if "=" in line)
    for name in ("install.index-url", "global.index-url"):
        if name in settings:
            return settings[name].strip("'\"")
    raise IndexUnreadable("pip has no index configured: name one with --index or PIP_INDEX_URL")


def fetch(base: str, timeout: float) -> list[Row]:
    """The files that the index lists for torch."""
    if not base.startswith(("http://", "https://")):
        raise IndexUnreadable("the index must be an http or https address")
    request = urllib.request.Request(f"{base.rstrip('/')}/torch/", headers={"Accept": MEDIA_TYPE})
    try:
        with urllib.request.urlopen(request, timeout=timeout) as answer:
            listed: list[Row] = json.loads(answer.read())["files"]
    except (OSError, urllib.error.URLError) as error:
        raise IndexUnreadable(f"no answer from the index: {error}") from error
    except (ValueError, KeyError, TypeError) as error:
        raise IndexUnreadable("the index does not answer in the JSON form of PEP 691") from error
    return listed


def index_rows(files: list[Row]) -> dict[str, Row]:
    """What the index states of each final release that has macOS wheels, by version."""
    found: dict[str, Row] = {}
    uploads: dict[str, list[str]] = {}
    for file in files:
        version = re.match(r"torch-([^-]+)-", file["filename"])
        if not version or file.get("yanked") or (versions.stable(version[1]) or (0,)) < FIRST_WITH_MPS:
            continue
        uploads.setdefault(version[1], []).append(file.get("upload-time") or "")
        wheel = WHEEL.fullmatch(file["filename"])
        if wheel and wheel_tag(wheel["tag"]):
            row = found.setdefault(version[1], {"arm64_tags": [], "x86_64_tags": []})
            row[f"{wheel['machine']}_tags"].append(wheel["tag"])
            row["requires_python"] = file.get("requires-python")
    for version_text, row in found.items():
        if not all(uploads[version_text]):
            raise IndexUnreadable("the index gives no upload times (PEP 700)")
        row["date"] = min(uploads[version_text])[:10]
        for machine in ("arm64", "x86_64"):
            row[f"{machine}_tags"] = sorted(row[f"{machine}_tags"])
            row[f"{machine}_pythons"] = _pythons(row[f"{machine}_tags"])
    return found


def merge(document: Row, listed: dict[str, Row]) -> list[str]:
    """Puts the index's columns into ``document``; returns one line for each difference."""
    rows: list[Row] = document["releases"]
    columns = list(rows[0]) if rows else ["version", *FROM_INDEX]
    differences: list[str] = []
    known = {row["version"]: row for row in rows}
    for version in sorted(listed, key=_order):
        if version not in known:
            row = {**dict.fromkeys(columns), "notes": [], **listed[version], "version": version}
            rows.append(row)
            by_hand = ", ".join(name for name in columns if row[name] is None)
            differences.append(f"+ {version}: new, {row['date']}; to be looked up by hand: {by_hand}")
            continue
        row = known[version]
        for name in FROM_INDEX:
            if row.get(name) != listed[version][name]:
                differences.append(f"~ {version}.{name}: {row.get(name)} -> {listed[version][name]}")
                row[name] = listed[version][name]
    differences += [f"? {version}: no longer on the index, left as it is" for version in known if version not in listed]
    rows.sort(key=lambda row: _order(row["version"]))
    return differences


def main(arguments: list[str] | None = None) -> int:
    """Runs the command; returns its exit status."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--index", help="base URL of a simple index (default: pip's)")
    parser.add_argument("--file", type=Path, default=FILE, help="the release table")
    parser.add_argument("--check", action="store_true", help="change nothing; exit 1 when the table is stale")
    parser.add_argument("--timeout", type=float, default=60.0, help="seconds to wait for the index")
    options = parser.parse_args(arguments)
    document: Row = json.loads(options.file.read_text(encoding="utf-8"))
    try:
        listed = index_rows(fetch(index_url(options.index), options.timeout))
        if not listed:
            raise IndexUnreadable("the index lists no macOS wheel of torch")
    except IndexUnreadable as problem:
        print(f"refresh_releases: {problem}", file=sys.stderr)
        return 2
    differences = merge(document, listed)
    for line in differences:
        print(line)
    stale = any(not line.startswith("?") for line in differences)
    if options.check:
        return int(stale)
    if stale:
        _write(options.file, json.dumps(document, indent=1, ensure_ascii=False) + "\n")
    return 0


def _pythons(tags: list[str]) -> list[str]:
    found = {tag.python for tag in map(wheel_tag, tags) if tag}
    return sorted(found, key=lambda python: (int(python.rstrip("t").split(".")[1]), python))


def _order(version: str) -> tuple[int, int, int]:
    return versions.stable(version) or (0, 0, 0)


def _write(path: Path, text: str) -> None:
    # A run that is cut short must not leave half a table behind.
    beside = path.with_suffix(".new")
    beside.write_text(text, encoding="utf-8")
    beside.replace(path)


if __name__ == "__main__":
    sys.exit(main())
