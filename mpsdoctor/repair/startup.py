"""Files that set variables: shell profiles, activate scripts and conda's own list. Pure: text in, text out."""

from __future__ import annotations

import json
import re
from collections.abc import Collection

OPENING = "# >>> mpsdoctor took this out >>>"
CLOSING = "# <<< mpsdoctor <<<"
_OPENS = re.compile(
    r"(?:\b(?:then|else|do)|[{(]|\))[ \t]*(?:#.*)?$|^[ \t]*(?:if|elif|while|for|function|begin|switch|case)\b"
)
_CLOSES = re.compile(r"[ \t]*(?:(?:fi|else|elif|done|end|esac)\b|;;|[})])")
_HEREDOC = re.compile(r"<<-?[ \t]*['\"]?(?P<word>\w+)['\"]?")
# One value: quoted, or a word without anything that a shell would act on.
_VALUE = r"(?:'[^']*'|\"[^\"`$\\]*\"|[^\s;&|<>()`$'\"\\#]*)"


def sets(text: str, names: Collection[str], *, conda: bool = False) -> tuple[str, ...]:
    """Return the variables of `names` that this file sets in a way that can be taken out."""
    if conda:
        return tuple(name for name in names if name in _conda_variables(text))
    found = {name for _, name in _alone(text, names)} - {*set_otherwise(text, names)}
    return tuple(name for name in names if name in found)


def without(text: str, names: Collection[str], *, conda: bool = False) -> str:
    """Return the text without the settings of these variables: in a shell's file they stay, as comments in a block."""
    if conda:
        return _conda_without(text, names)
    taken = sets(text, names)
    goes = {number for number, name in _alone(text, names) if name in taken}
    lines = []
    for number, line in enumerate(_lines(text)):
        body = line.rstrip("\r\n")
        if number not in goes:
            lines.append(line)
            continue
        end = line[len(body) :] or "\n"
        lines += [f"{OPENING}{end}", f"# {body}{end}", f"{CLOSING}{end}"]
    return "".join(lines)


def _lines(text: str) -> list[str]:
    """Lines as a shell counts them: str.splitlines would also cut at a form feed."""
    return re.findall(r"[^\n]*\n|[^\n]+", text)


def _alone(text: str, names: Collection[str]) -> list[tuple[int, str]]:
    """Return number and variable of each line that does nothing but set one of them, and can be left out."""
    patterns = [(name, _assignment(name)) for name in names]
    lines = [line.rstrip("\r\n") for line in _lines(text)]
    hit = {number: name for number, line in enumerate(lines) for name, p in patterns if p.fullmatch(line)}
    return [(number, name) for number, name in hit.items() if not _is_needed(lines, number, hit)]


def _is_needed(lines: list[str], number: int, hit: Collection[int]) -> bool:
    """True for a line that belongs to the one before, or without which a block would be empty: a syntax error."""
    if number and lines[number - 1].endswith(("\\", "&&", "||", "|")):
        return True
    if _in_text(lines, number):
        return True
    before = next((lines[n] for n in range(number - 1, -1, -1) if _counts(lines, n, hit)), "")
    after = next((lines[n] for n in range(number + 1, len(lines)) if _counts(lines, n, hit)), "")
    return bool(_OPENS.search(before) and _CLOSES.match(after))


def _counts(lines: list[str], number: int, hit: Collection[int]) -> bool:
    body = lines[number].strip()
    return number not in hit and bool(body) and not body.startswith("#")


def _in_text(lines: list[str], number: int) -> bool:
    """True inside a quotation or here-document that an earlier line opens, as far as can be told."""
    quote = ""
    ending = None
    for line in lines[:number]:
        if ending is not None:
            ending = None if line.strip() == ending else ending
            continue
        quote = _open_quote(line, quote)
        heredoc = None if quote else _HEREDOC.search(line)
        ending = heredoc["word"] if heredoc else None
    return bool(quote) or ending is not None


def _open_quote(line: str, quote: str) -> str:
    escaped = False
    for place, character in enumerate(line):
        if escaped:
            escaped = False
        elif character == "\\" and quote != "'":
            escaped = True
        elif quote:
            quote = "" if character == quote else quote
        elif character in "'\"":
            quote = character
        elif character == "#" and (place == 0 or line[place - 1] in " \t;"):
            break
    return quote


def _assignment(name: str) -> re.Pattern[str]:
    """A line that does nothing but set the variable, in sh (export A=b) or fish (set -gx A b)."""
    sh = rf"(?:(?:export|typeset[ \t]+-gx|declare[ \t]+-x)[ \t]+)?{re.escape(name)}={_VALUE}"
    fish = rf"set(?:[ \t]+(?:-[a-zA-Z]+|--\w+))+[ \t]+{re.escape(name)}[ \t]+{_VALUE}"
    return re.compile(rf"[ \t]*(?:{sh}|{fish})[ \t]*;?(?:[ \t]+#.*)?[ \t]*")


def set_otherwise(text: str, names: Collection[str]) -> tuple[str, ...]:
    """Return the variables that a line sets which cannot be taken out as a whole: it does more, or a block needs it."""
    alone = {number for number, _ in _alone(text, names)}
    rest = [line for n, line in enumerate(_lines(text)) if n not in alone and not line.lstrip().startswith("#")]
    return tuple(name for name in names if any(_setting(name).search(line) for line in rest))


def _setting(name: str) -> re.Pattern[str]:
    before = r"(?:^|[;&|({]|\b(?:export|declare|typeset)\b.*[ \t]|\b(?:then|do|else)[ \t])[ \t]*"
    return re.compile(rf"{before}{re.escape(name)}=|\bset[ \t]+-.*[ \t]{re.escape(name)}[ \t]")


def _conda_variables(text: str) -> dict[str, str]:
    try:
        found = json.loads(text).get("env_vars", {})
    except (ValueError, AttributeError):
        return {}
    return found if isinstance(found, dict) else {}


def _conda_without(text: str, names: Collection[str]) -> str:
    """conda-meta/state, which `conda env config vars` writes."""
    data = json.loads(text)
    data["env_vars"] = {name: value for name, value in data["env_vars"].items() if name not in names}
    return json.dumps(data)
