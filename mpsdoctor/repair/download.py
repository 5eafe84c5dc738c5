"""One file from its publisher, checked against the checksum that the publisher states."""

from __future__ import annotations

import hashlib
import re
import urllib.error
import urllib.request
from pathlib import Path

from mpsdoctor.repair.actions import StepFailed
from mpsdoctor.repair.paths import beside

_TIMEOUT = 60.0  # seconds without a byte
_CHUNK = 1 << 20
_SIZE_LIMIT = 1 << 30  # bytes; Miniforge's installer has some 80 MB
_SHA256 = re.compile(r"\b[0-9a-fA-F]{64}\b")


def fetch_verified(url: str, checksum_url: str, path: Path) -> None:
    """Download `url` to `path`. Raises StepFailed, and leaves no file, where it fails or the checksum differs."""
    stated = _SHA256.search(_open(checksum_url).read(4096).decode("ascii", "replace"))
    if stated is None:
        raise StepFailed(f"{checksum_url} states no checksum; nothing was downloaded")
    path.parent.mkdir(parents=True, exist_ok=True)
    part = beside(path)
    try:
        if _save(url, part) != stated[0].lower():
            raise StepFailed(f"the checksum of {url} is not the one that its publisher states")
        part.replace(path)
    except OSError as error:
        raise StepFailed(f"{url} could not be saved: {error.strerror or error}") from error
    finally:
        part.unlink(missing_ok=True)


def _save(url: str, part: Path) -> str:
    hashed, size = hashlib.sha256(), 0
    with _open(url) as answer, part.open("wb") as file:
        while chunk := answer.read(_CHUNK):
            size += len(chunk)
            if size > _SIZE_LIMIT:
                raise StepFailed(f"{url} is larger than {_SIZE_LIMIT >> 20} MB")
            hashed.update(chunk)
            file.write(chunk)
    return hashed.hexdigest()


def _open(url: str):  # type: ignore[no-untyped-def]  # noqa: ANN202 - urllib's answer has no public type
    if not url.startswith(("https://", "http://127.0.0.1:")):
        raise StepFailed(f"{url} is no https address")
    try:
        return urllib.request.urlopen(url, timeout=_TIMEOUT)
    except (urllib.error.URLError, TimeoutError) as error:
        raise StepFailed(f"{url} cannot be reached: {getattr(error, 'reason', error)}") from error
