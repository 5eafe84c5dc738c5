"""Takes out what names a person or a place before anything is written to a file or a report.

Known names (user, home folder, host) are replaced as whole path segments or words, whatever their case or spelling in
Unicode; secrets in URLs and variables are replaced by their pattern, private hosts by a name of their own. Keys of
JSON objects never change. Redacting twice gives the same as redacting once.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Any
from urllib.parse import quote

from mpsdoctor.facts import hosts, secrets

_EMAIL = re.compile(r"(?<![\w.+-])(?!git@)[\w.+-]{1,64}@(?:[A-Za-z0-9-]{1,63}\.){1,5}[A-Za-z]{2,24}(?![\w-])")
_UUID = re.compile(r"(?<![0-9A-Fa-f])[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}(?![0-9A-Fa-f])")
_VAR_FOLDERS = re.compile(r"/var/folders/[^/\s]{1,20}/[^/\s]{1,64}")
_UNAME = re.compile(r"^(?P<before>(?:Darwin|Linux) )(?P<name>\S{1,255})(?= \d)", re.MULTILINE)
_NAME_PART = r"(?:[^/\\\s:;,'\"()<>|]|'(?=\w))"
_HOME = re.compile(  # a name with spaces only where a slash shows its end
    r"(?P<root>/(?:Users|home)/|\b[A-Za-z]:\\{1,2}Users\\{1,2})"
    rf"(?P<name>{_NAME_PART}+(?:(?: {_NAME_PART}+){{1,3}}(?=[/\\]))?)"
)

_VOLUME = re.compile(  # an external disk bears the name that somebody gave it
    rf"(?<!/System)(?P<root>(?:/|\\/|%2F)Volumes(?:/|\\/|%2F))(?!Macintosh(?: |%20)HD(?:[/\\\s:'\"]|$))"
    rf"(?:(?!%2F){_NAME_PART})+(?:(?: {_NAME_PART}+){{1,6}}(?=[/\\]))?",
    re.IGNORECASE,
)
_ENCODED_HOME = re.compile(  # in a URL
    r"(?P<root>%2F(?:Users|home)%2F)(?P<name>(?:[^\s&\"'%]|%(?!2F)[0-9A-Fa-f]{2}){1,100})", re.IGNORECASE
)
# A shell's prompt at the beginning of a line: (base) anna@Annas-MacBook-Pro webui %
_PROMPT = re.compile(
    r"^(?P<before>[>\s]{0,8}(?:\([\w .-]{1,60}\) )?\[?)[A-Za-z_][\w.-]{0,63}@[A-Za-z][\w-]{0,63}(?:\.local|\.lan)?"
    r"(?=[ :][^\n%$#]{0,200}[%$#](?:\s|$))",
    re.MULTILINE,
)
_LOCAL_HOST = re.compile(r"(?<![\w./@-])(?=[\w-]{0,63}[A-Z-])[A-Za-z][\w-]{1,63}\.local(?![\w./-])")


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Accounts of machines and images: they name nobody.
_SHARED_HOMES = _words(
    "user users shared guest root runner linuxbrew conda vsts travis circleci distiller vscode codespace jovyan ubuntu "
    "debian ec2-user localhost host"
)
# Names that are parts of every other path or report: a user called so is redacted in his home folder alone.
_COMMON = _words(
    "admin anaconda app apple applications apps arm arm64 bin build cache cellar cmake conda contents core cpu cuda "
    "data darwin dev developer docker env envs etc frameworks github gpu home homebrew include intel lib lib64 library "
    "linux local mac macos main mamba metal miniconda miniforge mps numpy opt packages pip pixi private project "
    "projects pyenv python python3 python3.11 python3.12 pytorch resources root scratch share site-packages source src "
    "system test tests tmp torch usr uv var venv versions volumes work workspace x86_64"
)
_COMMON_HOST = re.compile(r"i?mac(?:book)?(?:[ -]?(?:pro|air|mini|studio|\d{1,4}))*", re.IGNORECASE)
_INSTALLED = re.compile(r"/(?:site|dist)-packages/|/lib/python\d")
_PATH_LIMIT = 1024  # characters looked back for the path that a name stands in
_END = r"(?=[/\\\s:;,'\")@]|$)"


class Redactor:
    """Replaces personal and secret text, and counts what it replaced by kind in `counts`."""

    def __init__(self, *, home: str | None = None, user: str | None = None, host: str | None = None) -> None:
        self.counts: Counter[str] = Counter()
        self._clean: set[str] = set()
        self._hosts = hosts.Pseudonyms()
        self._rules: list[tuple[str, str, re.Pattern[str], Callable[[re.Match[str]], str]]] = []
        if home and (home.strip("/").count("/") or home.rstrip("/") == "/root"):
            self._add("home", rf"(?<![\w.~-]){_spellings(home.rstrip('/'))}{_END}", lambda _: "~")
        if user and _is_distinctive(user):
            name = _spellings(user)
            self._add("user", rf"(?<=[/\\~]){name}{_END}|(?<![\w.-]){name}(?=@)", _user)
        if host:
            self._add_host(host)

    def _add(self, kind: str, pattern: str, by: Callable[[re.Match[str]], str]) -> None:
        self._rules.append((kind, "", re.compile(pattern, re.IGNORECASE), by))

    def _add_host(self, host: str) -> None:
        for name in sorted({host, host.split(".", 1)[0]}, key=len, reverse=True):
            if not _is_distinctive(name) or _COMMON_HOST.fullmatch(name):
                continue
            # A plain word is a host only where hosts stand: it may be the name of a package, too.
            before = r"(?<![\w.-])" if re.search(r"[-.\d]", name) else r"(?:(?<=://)|(?<=@))"
            self._add("host", rf"{before}{_spellings(name)}(?:\.local|\.lan)?(?![\w-])", lambda _: "host")

    def text(self, text: str) -> str:
        """Return the text with everything personal replaced."""
        for kind, needed, pattern, by in (*self._rules, *_RULES):
            if needed in text:
                text = self._replace(kind, pattern, by, text)
        if "://" in text or "git@" in text:
            text = self._replace("private-host", hosts.IN_URL, self._hosts.in_url, text)
        text = self._replace("private-host", hosts.IN_SETTING, self._hosts.in_url, text)
        if self._hosts.bare is not None:
            text = self._replace("private-host", self._hosts.bare, self._hosts.again, text)
        if "private-" in text:
            text = self._replace("private-path", hosts.IN_PATH, hosts.without_names, text)
        return text

    def _replace(self, kind: str, pattern: re.Pattern[str], by: Callable[[re.Match[str]], str], text: str) -> str:
        def one(match: re.Match[str]) -> str:
            new = by(match)
            if new != match[0]:
                self.counts[kind] += 1
            return new

        return pattern.sub(one, text)

    def value(self, value: Any) -> Any:
        """Return JSON data with every text value redacted and every key as it was."""
        known = self._hosts.learned
        redacted = self._value(value)
        # A private host can stand alone before the address that shows it to be one.
        if self._hosts.learned == known:
            return redacted
        self._clean.clear()
        return self._value(redacted)

    def _value(self, value: Any) -> Any:
        if isinstance(value, str):
            return value if value in self._clean else self._text_of_value(value)
        if isinstance(value, Mapping):
            return {key: self._named(str(key), item) for key, item in value.items()}
        if isinstance(value, (list, tuple)):
            return [self._value(item) for item in value]
        return value

    def _text_of_value(self, text: str) -> str:
        redacted = self.text(text)
        if redacted == text:  # most texts of a report come several times, and have nothing to hide
            self._clean.add(text)
        return redacted

    def _named(self, key: str, value: Any) -> Any:
        if isinstance(value, str) and value not in ("", secrets.HIDDEN) and secrets.KEY.search(key):
            self.counts["secret"] += 1
            return secrets.HIDDEN
        return self._value(value)

    def output(self, text: str) -> str:
        """Return what a command printed: as JSON where it is JSON (keys stay), else as text."""
        if text.lstrip()[:1] in ("{", "["):
            try:
                return json.dumps(self.value(json.loads(text)), ensure_ascii=False, indent=1)
            except (ValueError, RecursionError):
                return self.text(text)
        return self.text(text)


def _is_distinctive(name: str) -> bool:
    return len(name) > 2 and name.lower() not in _COMMON | _SHARED_HOMES


def _spellings(name: str) -> str:
    """A pattern for the name: composed or decomposed as macOS stores it, in a URL, and escaped as in JSON."""
    forms = [unicodedata.normalize(form, name) for form in ("NFC", "NFD")]
    written: Iterable[str] = [name, *forms, *(quote(form) for form in forms), *(json.dumps(f)[1:-1] for f in forms)]
    return "(?:" + "|".join(re.escape(form) for form in dict.fromkeys(written)) + ")"


def _user(match: re.Match[str]) -> str:
    before = re.split(r"[\s'\"]", match.string[max(0, match.start() - _PATH_LIMIT) : match.start()])[-1]
    return match[0] if _INSTALLED.search(before) else "user"  # an installed package can be called as its user is


def _someone(match: re.Match[str]) -> str:
    return match[0] if match["name"].lower() in _SHARED_HOMES else f"{match['root']}user"


def _always(text: str) -> Callable[[re.Match[str]], str]:
    return lambda match: match.expand(text)


# (kind, text without which the pattern cannot match, pattern, replacement)
_RULES: tuple[tuple[str, str, re.Pattern[str], Callable[[re.Match[str]], str]], ...] = (
    ("user", "", _HOME, _someone),
    ("volume", "olumes", _VOLUME, _always(r"\g<root>volume")),
    ("user", "%2", _ENCODED_HOME, _someone),
    ("user", "@", _PROMPT, _always(r"\g<before>user@host")),
    ("host", ".local", _LOCAL_HOST, _always("host.local")),
    *((kind, needed, pattern, _always(by)) for kind, needed, pattern, by in secrets.PATTERNS),
    ("e-mail", "@", _EMAIL, _always("e-mail")),
    ("uuid", "-", _UUID, _always("00000000-0000-0000-0000-000000000000")),
    ("temporary-folder", "/var/folders/", _VAR_FOLDERS, _always("/var/folders/xx/hash")),
    ("host", " ", _UNAME, _always(r"\g<before>host")),
)
