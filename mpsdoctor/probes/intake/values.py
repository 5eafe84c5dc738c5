"""Finds versions, chips, sizes and platform names inside a piece of text. Pure; what is implausible is not found."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

MACOS_NAMES = {
    "mojave": "10.14",
    "catalina": "10.15",
    "big sur": "11",
    "bigsur": "11",
    "monterey": "12",
    "ventura": "13",
    "sonoma": "14",
    "sequoia": "15",
    "tahoe": "26",
    "golden gate": "27",
}
_NAME = "|".join(MACOS_NAMES)
_VERSION = r"\d{2}(?:\.\d{1,2}){0,2}"
# What follows or precedes a version that some program needs; such a version says nothing of the machine.
_NEEDED_BEHIND = re.compile(
    r"\s{0,3}(?:\+|\)?\s{0,2}(?:or|and|oder|ou|и)\s{1,3}(?:newer|later|above|higher|up|neuer|höher)|onwards|以上|以降|及以上|或更高|या)"
)
_NEEDED_BEFORE = re.compile(
    r"(?:requires?|needs?|supported (?:on|by|from)|starting (?:from|with)|since|only (?:on|in|for)|at "
    r"least|>=?|≥|<=?|pre-?|before|below"
    r"|up(?:grade|dat\w{1,3})? to|升级到|更新到|需要|mindestens|ab)\s{1,3}(?:an?\s|the\s)?(?:apple\s)?$",
    re.IGNORECASE | re.ASCII,
)
MACOS = re.compile(
    rf"\b(?:mac[\s_-]?os(?:[\s_-]?x)?|os[\s_-]?x|darwin os)(?![a-z])[\s:,=/-]{{0,4}}(?:(?:version|ver\.?|"
    rf"系统|系统版本|版本|バージョン|版)[\s:]{{0,3}})?"
    rf"(?:(?P<name>{_NAME})[\s,(v-]{{0,4}})?(?:version\s)?v?(?P<version>{_VERSION})(?![\d])(?!\.\d{{3}})",
    re.IGNORECASE | re.ASCII,
)
MACOS_NAMED = re.compile(
    rf"\b(?P<name>{_NAME})\b(?:[\s,(v-]{{1,4}}(?P<version>{_VERSION})(?![\d]))?", re.IGNORECASE | re.ASCII
)
PLATFORM = re.compile(
    r"(?<![A-Za-z])(?P<system>macOS|Darwin|Linux|Windows)-(?P<version>[\w.+~]{1,60}?)-(?P<rest>[\w.+-]{1,120})"
)
PLATFORM_TAG = re.compile(
    r"\bmacosx[_-](?P<major>\d{1,3})[_.](?P<minor>\d{1,3})[_-](?P<machine>arm64|x86_64|universal2)"
)
CHIP = re.compile(
    r"(?<![A-Za-z0-9_./-])(?:Apple[\s_-]{0,2})?M(?P<number>[1-9])[\s_-]?(?P<kind>Pro|Max|Ultra)"
    r"?(?![A-Za-z0-9_=(\[]|\.\w|/\w|\s=)(?P<virtual> \(Virtual\))?",
    re.IGNORECASE | re.ASCII,
)
SILICON = re.compile(
    r"apple[\s_-]?silicon|苹果(?:自研)?芯片|(?:アップル|apple)\s?シリコン|apple\s?m-?series|m\s?系列芯片|apple "
    r"processor",
    re.IGNORECASE | re.ASCII,
)
INTEL = re.compile(
    r"\bintel(?:\(r\)|®)?[\s-]{1,3}(?:core|xeon|i[3579]|mac\w{0,7}|based|cpu|chip|processor|imac|芯片)|\bintel\s?芯片|英特尔"
    r"|\bmac\w{0,8}\s?\(?intel\b|\b(?:core|dual-core|quad-core|6-core|8-core) (?:i[3579]\b|intel)|"
    r"\b(?:core )?i[579]-\d{4,5}\w{0,3}\b|\bインテル",
    re.IGNORECASE | re.ASCII,
)
MEMORY = re.compile(
    r"(?<![\d.])(?P<number>\d{1,3}(?:\.\d{1,2})?)\s?(?P<unit>GiB|GB|G|MB)\b(?!\s?/?s)", re.IGNORECASE | re.ASCII
)
MEMORY_WORD = re.compile(
    r"\b(?:ram|memory|unified|speicher|arbeitsspeicher|hauptspeicher|mémoire|memoria|память)\b|内存|統一|统一|メモリ",
    re.IGNORECASE,
)
PYTHON = re.compile(
    r"(?<![\w./-])(?:c?python|py|パイソン)[\s_-]{0,2}(?:(?:version|ver\.?|版本|バージョン)?(?:\s?(?:is\b|ist\b|是|为|は))?[\s:=@v]{0,4})"
    r"(?P<version>3\.(?:[6-9]|1\d)(?:\.\d{1,2})?(?:(?:a|b|rc)\d{1,2})?)(?P<threads>t)?(?![\d])",
    re.IGNORECASE | re.ASCII,
)
PYTHON_VALUE = re.compile(
    r"(?<![\d.])(?P<version>3\.(?:[6-9]|1\d)(?:\.\d{1,2})?(?:(?:a|b|rc)\d{1,2})?)(?P<threads>t)?(?![\d])", re.ASCII
)
PYTHON_PATH = re.compile(r"/(?:lib|Versions|python)/?(?:python)?@?(?P<version>3\.(?:[6-9]|1\d))(?P<threads>t)?/")
EXTENSION = re.compile(r"\.cpython-3(?P<minor>[6-9]|1\d)(?P<threads>t)?-darwin\.so")
TORCH_VERSION = r"[012]\.\d{1,2}(?:\.\d{1,2})?(?:(?:a|b|rc)\d{1,2})?(?:\.post\d{1,3})?(?:\.dev\d{8})?(?:\+[\w.]{1,40})?"
TORCH = re.compile(
    rf"(?<![\w/.-])(?:py)?torch(?:\s?(?:version|ver\.?|版本|バージョン|Version))?(?:\s?\((?:GPU\?|MPS\?|CPU)\))?"
    rf"(?:[\s:=@v`\"'-]{{1,5}}|\s\(|==|\s?[是为は]\s?)(?P<version>{TORCH_VERSION})(?![\d.]*\d)",
    re.IGNORECASE | re.ASCII,
)
VERSION_VALUE = re.compile(rf"(?<![\d.])(?P<version>{TORCH_VERSION})(?![\d]|\.\d)")
LOCAL = re.compile(r"\+(?:cu\d{2,3}|cpu|rocm[\d.]{0,8}|xpu)\b")


@dataclass(frozen=True)
class Platform:
    """A platform name as Python's platform.platform() gives it."""

    system: str
    version: str
    machine: str | None
    text: str


def platforms(text: str) -> Iterator[Platform]:
    """Every platform name in the text: macOS-14.3-arm64-arm-64bit, Linux-5.15.0-x86_64-with-glibc2.35."""
    for found in PLATFORM.finditer(text):
        rest = found["rest"]
        machine = re.search(r"(?:^|-)(arm64|x86_64|aarch64|AMD64|amd64)(?:-|$)", f"{found['version']}-{rest}")
        if found["system"] in ("macOS", "Darwin") and machine is None:
            continue
        system = {"macOS": "Darwin"}.get(found["system"], found["system"])
        yield Platform(system, found["version"], machine[1] if machine else None, found[0])


def macos_versions(text: str) -> Iterator[tuple[int, str]]:
    """Each macOS version that the text gives as a machine's, not as a need, with where it stands."""
    for pattern in (MACOS, MACOS_NAMED):
        for found in pattern.finditer(text):
            if _NEEDED_BEHIND.match(text, found.end()) or _NEEDED_BEFORE.search(
                text[max(0, found.start() - 40) : found.start()]
            ):
                continue
            version = found["version"] or MACOS_NAMES[found["name"].lower()]
            if plausible_macos(version):
                yield found.start(), version


def plausible_macos(version: str) -> bool:
    """True for 10.9 to 10.16, 11 to 16 and 26 to 30: a number cut from a longer one must not pass for a version."""
    parts = [int(part) for part in version.split(".")]
    if parts[0] == 10:
        return len(parts) > 1 and 9 <= parts[1] <= 16
    return 11 <= parts[0] <= 16 or 26 <= parts[0] <= 30


def chip(text: str) -> str | None:
    """The first chip by Apple in the text, as macOS names it."""
    found = CHIP.search(text)
    if found is None:
        return None
    kind = f" {found['kind'].title()}" if found["kind"] else ""
    return f"Apple M{found['number']}{kind}{found['virtual'] or ''}"


def memory_bytes(text: str) -> int | None:
    """The first size in the text that a Mac's memory can have, in bytes."""
    for found in MEMORY.finditer(text):
        number = float(found["number"])
        if found["unit"].upper() == "MB":
            number /= 1024
        if 4 <= number <= 1024 and (number == int(number) or number > 7):
            return round(number) * 1024**3
    return None


def python_version(text: str) -> tuple[str, bool] | None:
    """The first Python version in a value and whether it is a free-threaded one."""
    found = PYTHON_VALUE.search(text)
    if found is None:
        return None
    return found["version"], bool(found["threads"]) or "free-threading" in text or "free threading" in text


def torch_version(text: str) -> str | None:
    """The first version that torch can have, in a value."""
    found = VERSION_VALUE.search(text)
    return found["version"] if found else None
