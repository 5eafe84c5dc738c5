"""A link that opens a new issue with the answer filled in. Pure; nothing is opened or sent."""

from __future__ import annotations

import re
from urllib.parse import quote

from mpsdoctor.report.document import Document, headline
from mpsdoctor.report.markdown import format_answer
from mpsdoctor.report.words import printable

URL_LIMIT = 8_000  # characters; GitHub answers 414 to a request line of more than about 8 kB
_REPOSITORY = re.compile(r"(?P<owner>[A-Za-z0-9](?:[A-Za-z0-9-]{0,38}))/(?P<name>[A-Za-z0-9._-]{1,100})")
_TITLE_LIMIT = 120
_ATTACH = "\n\nPlease attach the report file here, after a look at it: {name}\n"
_CUT = "\n\n(cut to fit into a link; the whole is in the report file)"


def is_repository(text: str) -> bool:
    """True for OWNER/REPO as GitHub allows it."""
    return _REPOSITORY.fullmatch(text) is not None and not text.endswith(("/.", "/.."))


def issue_url(document: Document, repository: str, attach: str) -> str:
    """Return the link, at most URL_LIMIT long. Raises ValueError for what is no OWNER/REPO.

    attach: the name of the file that the issue asks for.
    """
    if not is_repository(repository):
        raise ValueError(f"{printable(repository)!r} is not of the form OWNER/REPO")
    title = quote(printable(headline(document))[:_TITLE_LIMIT], safe="")
    start = f"https://github.com/{repository}/issues/new?title={title}&body="
    end = quote(_ATTACH.format(name=printable(attach)[:80]), safe="")
    body = quote(format_answer(document), safe="")
    room = URL_LIMIT - len(start) - len(end)
    if len(body) > room:
        cut = quote(_CUT, safe="")
        body = _whole_lines(body, room - len(cut)) + cut
    return start + body + end


def _whole_lines(body: str, room: int) -> str:
    """Cut quoted text behind a line, and close the code block that the cut would leave open."""
    kept = body[: max(0, room - 16)].rsplit("%0A", 1)[0]
    open_block = kept.count("%60%60%60") % 2
    return kept + ("%0A%60%60%60" if open_block else "")
