"""Tells an assignment that a message or a guide proposes from one that the user has made."""

from __future__ import annotations

import re

_NEAR = 60  # characters before an assignment that say whose it is
# "Use X=0.0 to ...", "you can set the environment variable X=1", "请设置 X=1"
_PROPOSED_BEFORE = re.compile(
    r"(?:(?<!\bI )(?<!\bwe )\buse|(?<!\bI )(?<!\bI have )\btry"
    r"|\b(?:can|could|may|might|should|must|please|consider|recommend|need to|suggests?|proposes?|says? to|told to)"
    r"\b(?: \w{1,12}){0,3}?|set the environment variable|请先?设置|可以?设置|建议设置?|bitte|setzen sie|veuillez)"
    r"(?: (?:also|by))? ?(?:set(?:ting)?|export(?:ing)?|us(?:e|ing)|try(?:ing)?|running with)?"
    r"(?: the)?(?: environment)?(?: variable)?(?: to)?[\s:`'\"(]{0,4}$",
    re.IGNORECASE,
)
_PROPOSED_BEHIND = re.compile(
    r"[`'\")]{0,2}\s{1,2}(?:to (?:disable|enable|use|allow|fall|lift|avoid|suppress|silence|work)\b|を設定してください)"
)
_OWN = re.compile(
    r"\b(?:i|we|i've|i'd|have|had|already|with|after|export(?:ed)?|setenv|tried|setting|my|our|ich|j'ai)\b|设置了|已经?设|"
    r"設定し(?:た|て)|[$%] ?$",
    re.IGNORECASE,
)


def is_advice(text: str, start: int, end: int, message_at: int | None) -> bool:
    """Is the assignment at `start`..`end` of a logical line only proposed there?

    `message_at`: where a recognised message begins in the line; what follows it is the message's own text, unless
    the user's own words stand right before the assignment.
    """
    before = text[max(0, start - _NEAR) : start]
    own = _OWN.search(before[-30:])
    if message_at is not None and message_at < start and own is None:
        return True
    if _PROPOSED_BEFORE.search(before):
        return True
    return own is None and _PROPOSED_BEHIND.match(text, end) is not None
