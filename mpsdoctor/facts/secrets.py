"""The forms of secrets: in URLs, in assignments, tokens by their prefix, and the names of variables that hold one."""

from __future__ import annotations

import re

HIDDEN = "***"

# Keys and variables whose name says that the value is a secret or a serial number.
KEY = re.compile(
    r"TOKEN(?:_ID)?$|(?:HOST|USER|COMPUTER)_?NAME|(?:^|[_-])SECRETS?(?:$|[_-])|PASSW|CREDENTIAL|API_?KEY|PRIVATE_KEY|COOKIE|^AUTH(?:ORIZATION)?$|_AUTH$|SERIAL|U[UD]ID",
    re.IGNORECASE,
)

_URL_CREDENTIALS = re.compile(r"(?P<scheme>[a-z][a-z0-9+.-]{0,20}://)[^/\s'\"]{1,500}@", re.IGNORECASE)
# conda's and its mirrors' /t/TOKEN/ at the beginning of a URL's path
_URL_TOKEN_PATH = re.compile(r"(?P<before>://[^/\s]{1,255}/t/)[\w.~-]{1,200}")
_URL_QUERY = re.compile(
    r"(?P<before>[?&][\w-]{0,40}(?:token|key|sig|signature|secret|passw(?:or)?d|auth|credential)=)[^&\s#'\"]{1,2000}",
    re.IGNORECASE,
)
_ASSIGNED = re.compile(
    r"(?P<before>\b(?:[A-Z0-9_]{0,60}(?:TOKEN|SECRET|PASSWORD|PASSWD|API_?KEY|ACCESS_KEY|PRIVATE_KEY|CREDENTIALS?|_PASS|_CREDS?)"
    r"(?:_ID)?|[Pp]assword|[Pp]asswd)[\"']?\s{0,3}(?:=(?!=)|:(?!:))\s{0,3}[\"']?)[^\s\"',;&]{3,2000}"
)
# The same without a sign between: WANDB_API_KEY 0123...; "password is swordfish9"
_NAMED = re.compile(r"(?P<before>\b[A-Z0-9_]{2,60}_(?:KEY|TOKEN|SECRET)\s{1,3})(?=[\w-]{0,400}\d)[A-Za-z0-9_-]{16,400}")
_SPOKEN = re.compile(r"(?P<before>\b[Pp]ass(?:word|wd)\s{1,3}(?:is\s{1,3})?)(?=\S{0,100}\d)[^\s\"',;]{4,200}")
_OPTION = re.compile(
    r"(?P<before>(?<!\S)--(?:[a-z]{1,20}[-_]){0,3}(?:token|password|passwd|secret|api[-_]?key)(?:\s{1,3}|=))"
    r"(?!-)[^\s'\"]{3,2000}"
)
_USER_OPTION = re.compile(r"(?P<before>(?<!\S)(?:-u|--user)[ =][\"']?)[^\s:@/\"']{1,100}:[^\s\"']{1,200}")
_BEARER = re.compile(
    r"(?P<before>\b(?:Bearer|Authorization:\s{0,3}\w{1,20})\s{1,3})(?=\S{0,4000}\d)[\w.~+/=-]{12,4000}"
)
_TOKEN = re.compile(
    r"(?<![A-Za-z0-9])(?:gh[pousr]_[A-Za-z0-9]{20,255}|github_pat_\w{20,255}|hf_[A-Za-z0-9]{20,100}|pypi-[\w-]{30,500}"
    r"|sk-[\w-]{20,200}|xox[abprs]-[\w-]{10,200}|A[KS]IA[A-Z0-9]{16}|glpat-[\w-]{20,100}|npm_[A-Za-z0-9]{30,100}"
    r"|dckr_pat_[\w-]{20,100}|AIza[\w-]{35}|eyJ[\w-]{10,2000}\.[\w-]{10,4000}\.[\w-]{0,2000})"
)
_SERIAL = re.compile(
    r"(?P<before>serial[_ -]?number(?: \(system\))?[\"']?\s{0,5}[:=]\s{0,5}[\"'<]?)[\w-]{4,80}", re.IGNORECASE
)
_UDID = re.compile(r"(?<![0-9A-Fa-f-])[0-9A-F]{8}-[0-9A-F]{16}(?![0-9A-Fa-f-])")
_MAC_ADDRESS = re.compile(r"(?<![0-9A-Fa-f:])[0-9a-fA-F]{2}(?::[0-9a-fA-F]{2}){5}(?![0-9A-Fa-f:])")

# (kind, text without which the pattern cannot match, pattern, replacement)
PATTERNS = (
    ("url-credentials", "://", _URL_CREDENTIALS, rf"\g<scheme>{HIDDEN}@"),
    ("token", "/t/", _URL_TOKEN_PATH, rf"\g<before>{HIDDEN}"),
    ("token", "=", _URL_QUERY, rf"\g<before>{HIDDEN}"),
    ("secret", "", _ASSIGNED, rf"\g<before>{HIDDEN}"),
    ("secret", "_", _NAMED, rf"\g<before>{HIDDEN}"),
    ("secret", "ass", _SPOKEN, rf"\g<before>{HIDDEN}"),
    ("secret", "--", _OPTION, rf"\g<before>{HIDDEN}"),
    ("secret", "-u", _USER_OPTION, rf"\g<before>{HIDDEN}"),
    ("token", "", _BEARER, rf"\g<before>{HIDDEN}"),
    ("token", "", _TOKEN, HIDDEN),
    ("serial-number", "", _SERIAL, rf"\g<before>{HIDDEN}"),
    ("serial-number", "-", _UDID, HIDDEN),
    ("network-address", ":", _MAC_ADDRESS, HIDDEN),
)


def hide(text: str) -> str:
    """Return the text without secrets, for what is only shown: names of people and folders stay."""
    for _, needed, pattern, by in PATTERNS:
        if needed in text:
            text = pattern.sub(by, text)
    return text
