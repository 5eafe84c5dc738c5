"""conda's command line, as far as plans use it, over rattler: a real solver and installer of real conda packages.

conda itself cannot be had here; what stands in for it reads the same arguments, links the same kind of packages into
the same kind of prefix, and writes the same records. The channel is a folder of the test.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import io
import json
import os
import sys
import tarfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

CHANNEL, MACOS, CACHE = "TEST_CONDA_CHANNEL", "TEST_CONDA_MACOS", "TEST_CONDA_CACHE"


def package(
    channel: Path,
    subdir: str,
    name: str,
    version: str,
    *,
    files: Mapping[str, str] | None = None,
    links: Mapping[str, str] | None = None,
    depends: tuple[str, ...] = (),
) -> None:
    """Write one conda package (.tar.bz2) into a channel, and its row in the channel's list."""
    folder = channel / subdir
    folder.mkdir(parents=True, exist_ok=True)
    (channel / "noarch").mkdir(exist_ok=True)
    file = folder / f"{name}-{version}-0.tar.bz2"
    row = {"name": name, "version": version, "build": "0", "build_number": 0, "depends": list(depends),
           "subdir": subdir, "license": "BSD-3-Clause"}  # fmt: skip
    names = "".join(f"{path}\n" for path in (*(files or {}), *(links or {})))
    content = {**(files or {}), "info/index.json": json.dumps(row), "info/files": names}
    with tarfile.open(file, "w:bz2") as archive:
        for path, text in content.items():
            entry = tarfile.TarInfo(path)
            entry.size, entry.mode = len(text.encode()), 0o644
            archive.addfile(entry, io.BytesIO(text.encode()))
        for path, to in (links or {}).items():
            entry = tarfile.TarInfo(path)
            entry.type, entry.linkname = tarfile.SYMTYPE, to
            archive.addfile(entry)
    data = file.read_bytes()
    row |= {"md5": hashlib.md5(data, usedforsecurity=False).hexdigest(), "size": len(data),
            "sha256": hashlib.sha256(data).hexdigest()}  # fmt: skip
    for other in (folder, channel / "noarch"):
        listed = other / "repodata.json"
        rows = json.loads(listed.read_text())["packages"] if listed.exists() else {}
        if other == folder:
            rows[file.name] = row
        document = {"info": {"subdir": other.name}, "packages": rows, "packages.conda": {}, "repodata_version": 1}
        listed.write_text(json.dumps(document))


def tool(path: Path) -> Path:
    """Write the executable; it finds channel, macOS and cache in its variables."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!{sys.executable}\nimport sys\nsys.path.insert(0, {str(Path(__file__).parent)!r})\n"
                    "from conda_tool import main\nmain(sys.argv[1:])\n")  # fmt: skip
    path.chmod(0o755)
    return path


def main(arguments: list[str]) -> None:
    """conda create, install and remove."""
    parser = argparse.ArgumentParser(prog="conda", allow_abbrev=False)
    commands = parser.add_subparsers(dest="command", required=True)
    for name in ("create", "install", "remove"):
        one = commands.add_parser(name, allow_abbrev=False)
        one.add_argument("--yes", action="store_true", required=True)
        one.add_argument("--prefix", type=Path, required=True)
        one.add_argument("--override-channels", action="store_true")
        one.add_argument("--channel", choices=["conda-forge"])
        one.add_argument("--force" if name == "remove" else "--force-reinstall", action="store_true", dest="force")
        one.add_argument("specs", nargs="+")
    asyncio.run(_run(parser.parse_args(arguments), arguments))
    sys.stdout.flush()
    os._exit(0)  # rattler's threads do not always survive the end of the interpreter


async def _run(asked: Any, arguments: list[str]) -> None:
    import rattler

    subdir = os.environ.get("CONDA_SUBDIR", "osx-arm64")
    records = [rattler.PrefixRecord.from_path(path) for path in sorted(asked.prefix.glob("conda-meta/*.json"))]
    there = {record.name.normalized: record for record in records}
    if asked.command == "create" and asked.prefix.exists():
        sys.exit(f"conda: error: {asked.prefix} is there already")
    if asked.command == "remove":
        missing = [name for name in asked.specs if name not in there]
        if missing:
            sys.exit(f"PackagesNotFoundError: {missing}")
        wanted: list[rattler.RepoDataRecord] = [record for name, record in there.items() if name not in asked.specs]
    else:
        system = rattler.GenericVirtualPackage(
            rattler.PackageName("__osx"), rattler.Version(os.environ[MACOS]), rattler.BuildString("0")
        )
        named = {rattler.MatchSpec(spec).name.normalized for spec in asked.specs}
        wanted = await rattler.solve(
            [os.environ[CHANNEL]],
            [*asked.specs, *(name for name in there if name not in named)],
            platforms=[rattler.Subdir(subdir), "noarch"],
            locked_packages=list(there.values()),
            virtual_packages=[system],
        )
    again = {rattler.MatchSpec(spec).name.normalized for spec in asked.specs} if asked.force else None
    await rattler.install(
        wanted,
        asked.prefix,
        cache_dir=Path(os.environ[CACHE]),
        installed_packages=records,
        reinstall_packages=again if asked.command == "install" else None,
        platform=rattler.Subdir(subdir),
        show_progress=False,
    )
    kind = "remove" if asked.command == "remove" else "update"
    with (asked.prefix / "conda-meta" / "history").open("a") as history:
        history.write(
            f"==> 2026-12-01 10:00:00 <==\n# cmd: conda {' '.join(arguments)}\n# {kind} specs: {asked.specs}\n"
        )
