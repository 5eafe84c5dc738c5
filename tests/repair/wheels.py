"""A package index of small wheels on this machine, and real environments filled from it by real pip or uv."""

from __future__ import annotations

import base64
import contextlib
import ensurepip
import functools
import hashlib
import http.server
import io
import os
import subprocess
import sys
import threading
import time
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

TORCH = """
__version__ = {version!r}
class version:
    git_version, cuda, debug = "abc", None, False
class backends:
    pass
"""
PLAIN = "__version__ = {version!r}\n"
UV = str(Path(sys.executable).with_name("uv"))


def wheel(
    folder: Path,
    name: str,
    version: str,
    *,
    files: Mapping[str, str] | None = None,
    requires: tuple[str, ...] = (),
    scripts: Mapping[str, str] | None = None,
) -> Path:
    """Write one pure wheel as the binary distribution format asks for."""
    content = dict(files) if files is not None else {
        f"{name}/__init__.py": (TORCH if name == "torch" else PLAIN).format(version=version)
    }  # fmt: skip
    info = f"{name}-{version}.dist-info"
    content[f"{info}/METADATA"] = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n" + "".join(
        f"Requires-Dist: {one}\n" for one in requires
    )
    content[f"{info}/WHEEL"] = "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    if scripts:
        lines = "".join(f"{script} = {where}\n" for script, where in scripts.items())
        content[f"{info}/entry_points.txt"] = f"[console_scripts]\n{lines}"
    rows = []
    for path, text in content.items():
        hashed = base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b"=").decode()
        rows.append(f"{path},sha256={hashed},{len(text.encode())}\n")
    content[f"{info}/RECORD"] = "".join(rows) + f"{info}/RECORD,,\n"
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        for path, text in content.items():
            archive.writestr(path, text)
    target = folder / name / f"{name}-{version}-py3-none-any.whl"
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(data.getvalue())
    return target


def page(folder: Path) -> None:
    """Write the simple index (PEP 503) of every project in a folder."""
    for project in folder.iterdir():
        links = "".join(f'<a href="{w.name}">{w.name}</a><br>\n' for w in sorted(project.glob("*.whl")))
        (project / "index.html").write_text(f"<!DOCTYPE html><html><body>{links}</body></html>")


class _Quiet(http.server.SimpleHTTPRequestHandler):
    index: Index

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        pass

    def do_GET(self) -> None:
        if self.index.delay:
            time.sleep(self.index.delay)
        super().do_GET()

    def copyfile(self, source: Any, outputfile: Any) -> None:
        if self.index.broken and self.path.endswith(".whl"):
            outputfile.write(source.read(64))
            self.close_connection = True
            return
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            super().copyfile(source, outputfile)


class Index:
    """A served index. `url` is its simple page; `broken` cuts every wheel after 64 bytes, `delay` keeps pages back."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.broken, self.delay = folder, False, 0.0
        handler = type("Handler", (_Quiet,), {"index": self})
        self._server = http.server.ThreadingHTTPServer(
            ("127.0.0.1", 0), functools.partial(handler, directory=str(folder))
        )
        self._server.daemon_threads = True
        self._server.block_on_close = False
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}/"

    def add(self, name: str, version: str, **options: Any) -> None:
        wheel(self.folder, name, version, **options)
        page(self.folder)

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


@contextmanager
def serve(folder: Path) -> Iterator[Index]:
    folder.mkdir(parents=True, exist_ok=True)
    index = Index(folder)
    try:
        yield index
    finally:
        index.close()


def environment(index: Index, home: Path, **more: str) -> dict[str, str]:
    """Variables for pip, uv and mpsdoctor: this index alone, and state, cache and home in a folder of the test."""
    return {
        "HOME": str(home),
        "XDG_STATE_HOME": str(home / "state"),
        "XDG_CACHE_HOME": str(home / "cache"),
        "PIP_CONFIG_FILE": os.devnull,
        "PIP_INDEX_URL": index.url,
        "PIP_FIND_LINKS": "",
        "PIP_NO_INPUT": "1",
        "PIP_RETRIES": "0",
        "PIP_NO_COMPILE": "1",
        "PIP_DISABLE_PIP_VERSION_CHECK": "1",
        "UV_DEFAULT_INDEX": index.url,
        "UV_NO_CONFIG": "1",
        "UV_CACHE_DIR": str(home / "uv-cache"),
        "UV_HTTP_RETRIES": "0",
        "UV_PYTHON_DOWNLOADS": "never",
        "PYTHONDONTWRITEBYTECODE": "1",
        **more,
    }


def run(*argv: str, env: Mapping[str, str]) -> None:
    done = subprocess.run(argv, env={**os.environ, **env}, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def make_venv(folder: Path, env: Mapping[str, str], *requirements: str, manager: str = "pip") -> Path:
    """Make a real environment with these packages; return its interpreter."""
    python = folder / "bin" / "python"
    if manager == "uv":
        run(UV, "venv", "--no-project", "--python", sys.executable, str(folder), env=env)
        if requirements:
            run(UV, "pip", "install", "--python", str(python), *requirements, env=env)
        return python
    # pip's own wheel by uv: ensurepip takes seconds, and what matters is that pip itself manages the rest.
    run(sys.executable, "-m", "venv", "--without-pip", str(folder), env=env)
    bundled = next((Path(ensurepip.__file__).parent / "_bundled").glob("pip-*.whl"))
    run(UV, "pip", "install", "--python", str(python), "--no-deps", str(bundled), env=env)
    installer = next(folder.glob("lib/python3*/site-packages/pip-*.dist-info/INSTALLER"))
    installer.unlink()  # a link into uv's cache
    installer.write_text("pip\n")
    if requirements:
        run(str(python), "-m", "pip", "install", "-q", *requirements, env=env)
    return python


def fingerprint(*folders: Path) -> dict[str, tuple[Any, ...]]:
    """Everything that can be seen of folders and files: kind, mode, time, content."""
    found: dict[str, tuple[Any, ...]] = {}
    for folder in folders:
        paths = [folder, *sorted(folder.rglob("*"))] if folder.is_dir() and not folder.is_symlink() else [folder]
        for path in paths:
            if path.is_symlink():
                found[str(path)] = ("link", os.readlink(path))
            elif path.is_dir():
                found[str(path)] = ("folder", path.stat().st_mode)
            elif path.exists():
                state = path.stat()
                found[str(path)] = (state.st_mode, state.st_mtime_ns, hashlib.sha256(path.read_bytes()).hexdigest())
            else:
                found[str(path)] = ("absent",)
    return found
