"""Private hosts: the index, proxy or server of somebody's company, replaced by a name that stays the same in a report.

Public hosts stay, because they decide (PyTorch's own index) or help (a forge that a package came from). A host is
public by its registered name; what is not known is private.
"""

from __future__ import annotations

import re

_URL = r"[a-z][a-z0-9+.-]{0,20}://(?:[^/\s'\"@]{0,500}@)?"
_HOST = r"(?P<host>[a-z0-9](?:[a-z0-9-]|\.(?=[a-z0-9])){0,252})(?![\w-]|\.\w)"
IN_URL = re.compile(rf"(?P<before>{_URL}|\bgit@){_HOST}", re.IGNORECASE)
# Without a scheme, where pip, urllib3 and macOS write one: HTTPSConnectionPool(host='...', trusted-host, proxies, MDM.
_ENDS = r"(?=:\d|['\"]|(?<=\.\w\w)|(?<=\.\w\w\w)|(?<=\.\w\w\w\w))"
IN_SETTING = re.compile(
    r"(?P<before>\b(?:host=['\"]|trusted[-_]hosts?[ =:]{1,4}|mdm server:\s{0,8}"
    r"|(?:https?_|all_)?proxy[\"']?\s{0,3}[=:]\s{0,3}['\"]?))" + _HOST + _ENDS,
    re.IGNORECASE,
)
_PSEUDONYM = re.compile(r"private-\d{1,6}\.invalid")
# What follows a host that has got its pseudonym, and the path that urllib3 names apart from its host.
IN_PATH = re.compile(
    r"(?P<before>\bprivate-\d{1,6}\.invalid(?::\d{1,5})?/|@private-\d{1,6}\.invalid:|\bwith url: /)"
    r"(?P<path>[^\s'\"<>\\]+)"
)
_CLOSING = ",;:.)]}"  # behind an address in a sentence
# The parts of an index's path that every index has, or that decide: a build of torch, a conda channel, a wheel file.
_TELLING = re.compile(
    r"\*\*\*|t|\+?simple|pypi|npm|repository|repositories|api|v\d|index|packages?|pkgs|files?|anaconda|cloud|artifactory|whl|nightly|test|cpu|cu\d{2,3}"
    r"|rocm[\d.]{1,6}|conda(?:-forge)?|channels?|main|free|pytorch(?:-nightly|-test)?|noarch|(?:osx|linux|win)-\w{2,10}"
    r"|(?:torch|torchvision|torchaudio|torch-directml|numpy)|(?:current_)?repodata\.json(?:\.\w{2,3})?|torch_(?:stable|nightly)\.html|[\w.+!%-]{1,200}\.(?:whl|conda|zip|tar\.gz|tar\.bz2)",
    re.IGNORECASE,
)
_HIDDEN = "***"
_HERE = frozenset(("localhost", "host", "127.0.0.1", "0.0.0.0"))  # "host" is what this machine's own name became
_ENDINGS = frozenset(("ai", "app", "cn", "co", "com", "dev", "eu", "io", "net", "org", "sh"))
_REGISTERED = frozenset(
    word
    for line in (
        "aliyun aliyuncs anaconda apple astral bfsu conda-forge debian docker example github githubusercontent gitlab",
        "google googleapis hf huaweicloud huggingface intel mamba microsoft nvidia prefix pypi python pythonhosted",
        "pytorch readthedocs stackoverflow tencent ubuntu ustc",
    )
    for word in line.split()
)


def is_public(host: str) -> bool:
    """Return whether a host tells nothing about anybody."""
    labels = host.lower().split(".")
    if host.lower() in _HERE or labels[-1] in ("example", "localhost") or _PSEUDONYM.fullmatch(host.lower()):
        return True
    if labels[-2:] in (["edu", "cn"], ["ac", "cn"]):
        return labels[0] in ("mirror", "mirrors", "pypi")
    return len(labels) > 1 and labels[-2] in _REGISTERED and labels[-1] in _ENDINGS


def without_names(match: re.Match[str]) -> str:
    """Return an address of a private host (a match of IN_PATH) without the teams and projects in its path."""
    whole = match["path"].rstrip(_CLOSING)
    path, mark, rest = re.fullmatch(r"([^?#]*)([?#]?)(.*)", whole, re.DOTALL).groups()  # type: ignore[union-attr]
    named = "/".join(p if not p or _TELLING.fullmatch(p) else _HIDDEN for p in path.split("/"))
    hidden = rest and (rest if re.fullmatch(r"sha256=[0-9a-f]{64}", rest) else _HIDDEN)
    return match["before"] + named + mark + hidden + match["path"][len(whole) :]


class Pseudonyms:
    """Gives each private host a name by the order in which they come. `learned` grows with every new one."""

    def __init__(self) -> None:
        self._names: dict[str, str] = {}
        self._bare: re.Pattern[str] | None = None
        self._in_bare = 0  # how many names it was made of

    @property
    def learned(self) -> int:
        """How many hosts have a name."""
        return len(self._names)

    def in_url(self, match: re.Match[str]) -> str:
        """Replace the host of one address, where it is private."""
        host = match["host"]
        return match[0] if is_public(host) else match["before"] + self._name(host)

    def _name(self, host: str) -> str:
        key = host.lower()
        if key not in self._names:
            self._names[key] = f"private-{len(self._names) + 1}.invalid"
        return self._names[key]

    @property
    def bare(self) -> re.Pattern[str] | None:
        """The pattern of the known hosts outside of addresses."""
        if self._in_bare != len(self._names):
            self._in_bare = len(self._names)
            # A plain word may be anything elsewhere; a name with a dot is a host wherever it stands.
            known = sorted((name for name in self._names if "." in name), key=len, reverse=True)
            written = "|".join(map(re.escape, known))
            self._bare = re.compile(rf"(?<![\w.-])(?:{written})(?![\w-]|\.\w)", re.IGNORECASE) if known else None
        return self._bare

    def again(self, match: re.Match[str]) -> str:
        """Replace a known host that stands alone."""
        return self._names[match[0].lower()]
