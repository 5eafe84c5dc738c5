"""Bytes to lines: what terminals, issue trackers and chat programs add to a text is taken off again.

Line numbers are those of the file as it came, so that a source like "line 12" can be found again.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

LONGEST_LINE = 20_000  # characters; pip's longest list of versions has under 4,000
_ESCAPES = re.compile(r"\x1b(?:\[[0-9;?]{0,20}[A-Za-z]|\][^\x07\x1b]{0,300}(?:\x07|\x1b\\)?|[()][A-Z0-9])")
_BACKSPACE = re.compile(r"[^\n\x08]\x08")
# Quote marks, bullets, table borders, check boxes and headings before the text of a line.
_MARKUP = re.compile(
    r"^[ \t]*(?:(?:>{1,2}(?!>)|[|│┃║]|[-*•‣▪●](?=[ \t])|#{1,6}(?=[ \t])|\[[ xX]\]|\d{1,2}[.)](?=[ \t]))[ \t]*){1,8}"
)
_STAMP = re.compile(
    r"^(?:\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?:Z|[+-]\d\d:?\d\d)?\]?:?|[\w.-]{1,40}"
    r"-\d{1,3} {1,20}\|) "
)
_PROMPT = re.compile(
    r"^(?:>>> ?|In \[\d{1,4}\]: ?|Out\[\d{1,4}\]: ?)|^(?:\([\w./ -]{1,40}\) ?)?(?:(?:[\w.-]{1,40}"
    r"@[\w.-]{1,60}[: ][^$%#\n]{0,80}?|[~/][\w./-]{0,80} ?)?[$%❯➜λ]|PS [A-Z]:[^>\n]{0,80}>) +"
)
_TAGS = re.compile(
    r"</?(?:br|p|li|ul|ol|td|tr|th|table|b|i|em|strong|code|pre|details|summary|kbd|sub|div|span)\b[^<>\n]{0,200}>"
)
_PLAIN = {
    **{code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)},  # full-width forms
    **dict.fromkeys(map(ord, "\u00a0\u2007\u202f\u3000\u2002\u2003\u2009"), " "),
    **dict.fromkeys(map(ord, "\u200b\u200c\u200d\u2060\ufeff\u00ad\ufe0f"), None),
    **dict.fromkeys(map(ord, "\u2018\u2019\u201b\u2032"), "'"),
    **dict.fromkeys(map(ord, "\u201c\u201d\u201f\u2033\u300c\u300d"), '"'),
    **dict.fromkeys(map(ord, "\u2010\u2011\u2012\u2013\u2014\u2212"), "-"),
    ord("、"): ",",
    ord("。"): ". ",
    ord("\t"): "    ",
}  # fmt: skip
_CONTROL = {code: None for code in (*range(9), *range(11, 32), 127) if code not in (9, 10)}


@dataclass(frozen=True)
class Line:
    """One line without markup. `number` counts from 1 in the file; `fenced`: inside a code block or indented as one."""

    number: int
    text: str
    fenced: bool = False
    prompt: bool = False


def decode(data: bytes) -> str:
    """Return the text of a file in any common encoding; undecodable bytes become replacement characters."""
    for mark, encoding in ((b"\xef\xbb\xbf", "utf-8-sig"), (b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16")):
        if data.startswith(mark):
            return data.decode(encoding, "replace")
    for encoding in ("utf-8", "gb18030"):
        try:
            return data.decode(encoding)
        except UnicodeDecodeError:
            continue
    return data.decode("utf-8", "replace")


def plain(text: str) -> str:
    """Take off line-end styles, terminal codes, typographic and full-width characters, and HTML."""
    text = (
        text.replace("\r\n", "\n")
        .replace("\r", "\n")
        .replace("\u2028", "\n")
        .replace("\x0b", "\n")
        .replace("\x0c", "\n")
    )
    if "\x1b" in text:
        text = _ESCAPES.sub("", text)
    if "\x08" in text:
        text = _BACKSPACE.sub("", text)
    if not text.isascii() or _has_control(text):
        text = text.translate(_PLAIN).translate(_CONTROL)
    elif "\t" in text:
        text = text.expandtabs(4)
    if "&" in text:
        text = html.unescape(text)
    return _TAGS.sub(" ", text) if "</" in text or "<br" in text else text


def _has_control(text: str) -> bool:
    return any(chr(code) in text for code in (*range(9), *range(14, 32), 127))


def lines(numbered: Iterable[tuple[int, str]]) -> tuple[Line, ...]:
    """Take fences, quote marks, bullets, time stamps and prompts off lines of plain text. Empty lines stay."""
    return tuple(_lines(numbered))


def _lines(numbered: Iterable[tuple[int, str]]) -> Iterator[Line]:
    fenced = False
    for number, whole in numbered:
        raw = whole[:LONGEST_LINE]
        indented = raw.startswith("    ")
        body = _STAMP.sub("", raw.strip() if not raw.isspace() else "")
        body = _MARKUP.sub("", body)
        if body.startswith(("```", "~~~")):
            fenced = not fenced
            inner = body.strip("`~ ")
            if " " not in inner:  # the language of the block, or nothing
                yield Line(number, "", fenced)
                continue
            body = inner
        body = body.rstrip().rstrip("|│┃║").rstrip()
        prompt = _PROMPT.match(body)
        if prompt and prompt.end() < len(body):
            yield Line(number, body[prompt.end() :], fenced or indented, True)
        else:
            yield Line(number, body, fenced or indented)
