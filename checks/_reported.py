"""What the checks of messages share: which messages are theirs, and a verdict that shows them."""

import re
from collections.abc import Iterable
from typing import NamedTuple

from mpsdoctor import Evidence, Facts, Message, Messages, Remedy, Verdict, fail, skip, warn
from mpsdoctor.knowledge import causes
from mpsdoctor.knowledge import messages as table

CERTAIN, LIKELY, POSSIBLE = "certain", "likely", "possible"
ASK_HARDWARE = "sysctl -n hw.optional.arm64    (1: Apple silicon · unknown oid or 0: Intel)"
ASK_PYTHON = 'python -c "import sys, platform; print(sys.version, platform.machine())"'
ASK_TORCH = 'python -c "import torch; print(torch.__version__)"'
ASK_MACOS = "the output of sw_vers"
NOTHING = skip("no such message was reported")


class Said(NamedTuple):
    """One reported message and its row of the table."""

    message: Message
    row: table.Message

    @property
    def evidence(self) -> Evidence:
        """The message as evidence, with its line."""
        place = f"line {self.message.line}" if self.message.line else ""
        return Evidence(f"messages.{self.message.id}", self.message.text, place)

    def part(self, name: str) -> str | None:
        """One deciding part of the message: "operator", "version", "need"."""
        return (self.message.values or {}).get(name)


def reported(messages: Messages, *slugs: str) -> list[Said]:
    """The messages whose first candidate is one of these causes: errors before warnings, then by line."""
    found = []
    for message in messages.items or ():
        row = table.message(message.id)
        if row is not None and row.causes and row.causes[0] in slugs:
            found.append(Said(message, row))
    return sorted(found, key=lambda said: said.row.level == "warning")


_SHADOWS = ("torch-own-file", "torch-own-frame", "torch-partially-initialized")


def shadow_shown(messages: Messages) -> bool:
    """Does a message show that a file of the user's is imported as torch? What it lacks says nothing of a release."""
    return any(message.id in _SHADOWS for message in messages.items or ())


def part(said: Iterable[Said], name: str) -> str | None:
    """The first value of that name in any of the messages."""
    return next((value for one in said if (value := one.part(name))), None)


def blame(
    cause: str,
    said: Said,
    *,
    detail: str | None = None,
    confidence: str | None = None,
    evidence: Iterable[Evidence] = (),
    remedies: Iterable[Remedy] = (),
    ask: Iterable[str] = (),
    gpu: bool | None = None,
    facts: Facts | None = None,
) -> Verdict:
    """The verdict that this cause is behind the message. Without `confidence`: certain where the row names no other.

    With `facts` a remedy that leads to a newer torch names the release which this Mac can use.
    """
    known = causes.cause(cause)
    sure = confidence or (CERTAIN if said.row.causes == (cause,) else LIKELY)
    steps = list(remedies)
    if not steps and said.row.causes[:1] == (cause,):
        steps.append(Remedy(said.row.remedy))
    if known is not None and not steps:
        steps.append(Remedy("  ".join(known.what_to_do[:2])))  # two blanks: a command ends there
    if facts is not None:
        from ._pins import pinned

        steps = pinned(facts, steps)
    say = warn if said.row.level == "warning" else fail
    text = detail or (known.means if known else said.row.means)
    return say(text, [said.evidence, *evidence], steps, cause=cause, confidence=sure, gpu=gpu, ask=ask)


def known(facts: Facts, *names: str) -> list[Evidence]:
    """Evidence for each of these facts ("host.chip") that is known."""
    found = []
    for name in names:
        subject, _, field = name.partition(".")
        owner = getattr(facts, subject)
        if getattr(owner, field) is not None:
            found.append(Evidence.of(owner, field))
    return found


def torch_version(facts: Facts) -> str | None:
    """The installed version of torch."""
    return facts.torch.version or facts.packages.version("torch")


def runs_x86(facts: Facts) -> bool | None:
    """Does the Python run as x86_64? On an Intel Mac it must."""
    if facts.interpreter.is_x86_64 is not None:
        return facts.interpreter.is_x86_64
    if facts.host.is_apple_silicon is False:
        return True
    return True if facts.host.shell_translated else None


def x86_cause(facts: Facts) -> str:
    """Which of the three causes an x86_64 Python has on this Mac."""
    silicon = True if facts.interpreter.translated or facts.host.shell_translated else facts.host.is_apple_silicon
    if silicon is None:
        return "x86-python-hardware-unknown"
    return "x86-python-under-rosetta" if silicon else "intel-mac"


_WHEEL_FILE = re.compile(r"[\w.+-]{1,200}\.whl\b")


def shows_x86(said: Said) -> bool:
    """Does the message itself name x86_64, outside of a wheel's name? A refused file says nothing of the Python."""
    return "x86_64" in _WHEEL_FILE.sub("", said.message.text)


def because_x86(facts: Facts, said: Said, *, detail: str | None = None) -> Verdict:
    """The verdict that the x86_64 Python is behind the message: certain where facts or the message name x86_64."""
    cause = x86_cause(facts)
    names = (
        "host.chip",
        "host.arm64_capable",
        "interpreter.machine",
        "interpreter.translated",
        "host.shell_translated",
    )
    unknown, shown = cause == "x86-python-hardware-unknown", bool(runs_x86(facts)) or shows_x86(said)
    return blame(
        cause,
        said,
        detail=detail,
        confidence=CERTAIN if facts.host.is_mac and not unknown and shown else LIKELY,
        evidence=known(facts, *names),
        ask=[ASK_HARDWARE] if unknown else (),
        gpu=False if cause == "x86-python-under-rosetta" else None,
    )
