"""Takes out what names a person or a place before anything is written to a file or a report.

Known names (user, home folder, host) are replaced as whole path segments or words, longest first, whatever their case;
secrets in URLs and variables are replaced by their pattern. Keys of JSON objects never change.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

_URL_CREDENTIALS = re.compile(r"(?P<scheme>[a-z][a-z0-9+.-]{0,20}://)[^/\s@'\"]{1,500}@", re.IGNORECASE)
_TOKEN = re.compile(
    r"(?<![A-Za-z0-9])(?:gh[pousr]_[A-Za-z0-9]{20,255}|github_pat_\w{20,255}|hf_[A-Za-z0-9]{20,100}|pypi-[\w-]{30,500}"
    r"|sk-[\w-]{20,200}|xox[abprs]-[\w-]{10,200}|AKIA[A-Z0-9]{16}|glpat-[\w-]{20,100})"
)
_URL_TOKEN_PATH = re.compile(r"(?P<before>/t/)(?P<token>[A-Za-z]{2}-[0-9a-fA-F-]{8,60})(?=/)")
_EMAIL = re.compile(r"(?<![\w.+-])[\w.+-]{1,64}@[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63}){1,5}")
_UUID = re.compile(r"(?<![0-9A-Fa-f])[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}(?![0-9A-Fa-f])")
_VAR_FOLDERS = re.compile(r"/var/folders/[^/\s]{1,20}/[^/\s]{1,64}")
_HOME = re.compile(r"(?P<root>/(?:Users|home)/)(?P<name>[^/\s:;,'\"()<>|]{1,64})")
_SERIAL = re.compile(
    r"(?P<key>[\"']?serial[_ -]?number[\"']?\s{0,5}[:=]\s{0,5}[\"']?)(?P<value>[\w-]{4,40})", re.IGNORECASE
)
_SHARED_HOMES = frozenset({"user", "shared", "runner", "linuxbrew"})  # names that say nothing about anybody

# Variables whose name says that the value is a secret are never kept, whatever list they are on.
SECRET_NAME = re.compile(r"TOKEN|SECRET|PASSW|CREDENTIAL|API_?KEY|PRIVATE|COOKIE|AUTH(?!OR)", re.IGNORECASE)


class Redactor:
    """Replaces personal and secret text, and counts what it replaced by kind in `counts`."""

    def __init__(self, *, home: str | None = None, user: str | None = None, host: str | None = None) -> None:
        self.counts: Counter[str] = Counter()
        self._names: list[tuple[re.Pattern[str], str, str]] = []
        if home and home.strip("/") and len(home) > 2:
            pattern = re.compile(rf"{re.escape(home.rstrip('/'))}(?=/|$|[\s:;,'\")])", re.IGNORECASE)
            self._names.append((pattern, "~", "home"))
        for name, placeholder in sorted(((user, "user"), (host, "host")), key=lambda item: -len(item[0] or "")):
            if name and len(name) > 1 and name.lower() not in _SHARED_HOMES | {"root", "localhost"}:
                # As a whole path segment or the host part of a kernel line, not inside a longer word.
                pattern = re.compile(rf"(?<=/){re.escape(name)}(?=/|$|[\s:;,'\"])", re.IGNORECASE)
                if placeholder == "host":
                    pattern = re.compile(rf"(?<![\w.-]){re.escape(name)}(?![\w-])", re.IGNORECASE)
                self._names.append((pattern, placeholder, placeholder))

    def text(self, text: str) -> str:
        """Return the text with everything personal replaced."""
        for pattern, placeholder, kind in self._names:
            text = self._replace(pattern, placeholder, kind, text)
        if "://" in text:
            text = self._replace(_URL_CREDENTIALS, r"\g<scheme>***@", "url-credentials", text)
        if "/t/" in text:
            text = self._replace(_URL_TOKEN_PATH, r"\g<before>***", "token", text)
        if "@" in text:
            text = self._replace(_EMAIL, "e-mail", "e-mail", text)
        if "-" in text:
            text = self._replace(_UUID, "00000000-0000-0000-0000-000000000000", "uuid", text)
        if "/" in text:
            text = self._replace(_VAR_FOLDERS, "/var/folders/xx/hash", "temporary-folder", text)
            text = self._replace(_HOME, self._home, "user", text)
        text = self._replace(_TOKEN, "***", "token", text)
        return self._replace(_SERIAL, r"\g<key>***", "serial-number", text)

    def _replace(self, pattern: re.Pattern[str], by: str | Callable[[re.Match[str]], str], kind: str, text: str) -> str:
        new = pattern.sub(by, text)
        if new != text:
            self.counts[kind] += 1
        return new

    @staticmethod
    def _home(match: re.Match[str]) -> str:
        name = match["name"]
        return match[0] if name.lower() in _SHARED_HOMES else f"{match['root']}user"

    def value(self, value: Any) -> Any:
        """Return JSON data with every text value redacted and every key as it was."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, Mapping):
            return {key: self.value(item) for key, item in value.items()}
        if isinstance(value, (list, tuple)):
            return [self.value(item) for item in value]
        return value

    def output(self, text: str) -> str:
        """Return what a command printed: as JSON where it is JSON (keys stay), else as text."""
        stripped = text.lstrip()
        if stripped[:1] in ("{", "["):
            try:
                return json.dumps(self.value(json.loads(text)), ensure_ascii=False, indent=1)
            except (ValueError, RecursionError):
                return self.text(text)
        return self.text(text)
