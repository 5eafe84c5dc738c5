"""What pip, uv, Poetry and conda report when they find no torch."""

import re

from mpsdoctor import Conda, Facts, Messages, Remedy, Verdict, check, fail
from mpsdoctor.knowledge import versions

from ._refused_wheel import PYTHON_ROWS, of_the_wheel
from ._reported import (
    ASK_PYTHON,
    CERTAIN,
    LIKELY,
    NOTHING,
    POSSIBLE,
    Said,
    because_x86,
    blame,
    known,
    part,
    reported,
    runs_x86,
    shows_x86,
)
from ._wanted import has_wheel, is_local, offers_older, wanted_release

_PRE_RELEASE = re.compile(r"\d(?:a|b|rc)\d")
_X86 = "x86-python-hardware-unknown"
_NO_WHEEL = (
    "non-mac-wheel-pin",
    "python-version-no-wheel",
    "x86-python-hardware-unknown",
    "macos-version-misreported",
    "python-implementation-unsupported",
)


@check(
    "PY301",
    family="python",
    cause="python-version-no-wheel",
    causes=(
        *_NO_WHEEL,
        "x86-python-under-rosetta",
        "intel-mac",
        "macos-too-old-for-torch",
        "package-without-mac-wheel",
        "arch-mismatch-binaries",
    ),
    needs=("HW101",),
)
def installers_find_torch(facts: Facts) -> Verdict:
    """The installer finds a build of torch for this Python and this Mac.

    Tested: what pip, uv and Poetry say when they refuse, with the version asked for, the versions offered and the
    tags named, against the table of releases, the Python, the macOS and the hardware.

    Why: the wording hides the cause. One sentence covers a Python without a build, an Intel Mac, a translated Python,
    a misreported macOS and a suffix like +cu121 that no wheel for macOS has.

    What to do: see the remedy, which depends on the cause; where the deciding fact is missing, send it first.

    Source: 263 public tickets, sorted by cause; the package index, torch 1.12.0 to 2.15.0.
    """
    said = reported(facts.messages, *_NO_WHEEL)
    if not said:
        return NOTHING
    return _of_the_system(facts, said) or of_the_wheel(facts, said) or _of_nothing_known(facts, said)


def _of_the_system(facts: Facts, said: list[Said]) -> Verdict | None:
    """The interpreter or its surroundings: implementation, architecture, the macOS that it is told."""
    interpreter, first = facts.interpreter, said[0]
    if interpreter.implementation not in (None, "cpython"):
        return blame(
            "python-implementation-unsupported",
            first,
            confidence=CERTAIN,
            evidence=known(facts, "interpreter.implementation"),
        )
    if runs_x86(facts) and _x86_matters(said):
        return because_x86(facts, first)
    tagged = next((one for one in said if one.row.causes[0] == _X86 and shows_x86(one)), None)
    # The installer's own tag proves the Python and the chip the Mac, unless the ticket shows an arm64 Python.
    if tagged is not None and facts.host.is_apple_silicon is not None and interpreter.machine != "arm64":
        return because_x86(facts, tagged)
    told = interpreter.macos_version_seen or ""
    if told.startswith("10.16") and not interpreter.is_x86_64:
        evidence = known(facts, "interpreter.macos_version_seen", "host.macos_version", "interpreter.machine")
        return blame("macos-version-misreported", first, confidence=CERTAIN, evidence=evidence)
    return None


def _x86_matters(said: list[Said]) -> bool:
    """Would an arm64 Python find what this one does not? Not where only the suffix or the Python is wrong."""
    wanted = wanted_release(said)
    newer = versions.at_least(wanted, "2.3.0") if wanted else None
    if part(said, "last") is not None and offers_older(part(said, "last"), wanted):
        return True
    if any(one.row.id in PYTHON_ROWS for one in said) or any(is_local(one) for one in said):
        return bool(newer)
    return newer is not False


def _of_nothing_known(facts: Facts, said: list[Said]) -> Verdict:
    """Nothing decides: the likeliest candidate. Where the Mac is known, what is unknown is its Python."""
    first = said[0]
    if first.row.causes[0] == "python-version-no-wheel" and _python_fits(facts, said):
        return _nothing_offered(facts, first)
    if first.row.causes[0] != _X86 or facts.host.is_apple_silicon is None:
        sure = POSSIBLE if first.row.causes[0] == _X86 and not shows_x86(first) else LIKELY
        return blame(first.row.causes[0], first, confidence=sure, ask=[ASK_PYTHON])
    evidence = known(facts, "host.chip", "host.arm64_capable", "interpreter.machine", "interpreter.version")
    cause = "x86-python-under-rosetta" if facts.host.is_apple_silicon else "intel-mac"
    if facts.interpreter.machine == "arm64":
        cause = "python-version-no-wheel"
    return blame(
        cause,
        first,
        detail="The installer refuses every build that it finds for this Mac; which part of the Python is wrong, its "
        "architecture or its version, is not told.",
        confidence=POSSIBLE,
        evidence=evidence,
        ask=[ASK_PYTHON],
    )


def _python_fits(facts: Facts, said: list[Said]) -> bool:
    """pip offers nothing at all, and the table has the wanted torch for this Python on Apple silicon."""
    minor = facts.interpreter.minor
    told = said[0].row.id.startswith("pip-") and part(said, "last") is None
    if (
        not told
        or minor is None
        or facts.interpreter.pre_release
        or _PRE_RELEASE.search(facts.interpreter.version or "")
    ):
        return False
    return has_wheel(minor, wanted_release(said), "arm64")


def _nothing_offered(facts: Facts, said: Said) -> Verdict:
    """Nobody tells how old the message is: a new Python has no wheels for some months, and an old pip sees none."""
    minor = facts.interpreter.minor
    return blame(
        "python-version-no-wheel",
        said,
        detail=f"pip found no torch for this Python. There are macOS wheels for Python {minor} today: this message is "
        "older than they are, or pip is, or it ran on another Python (an x86_64 one?) or asked an index without them.",
        confidence=POSSIBLE,
        evidence=known(facts, "interpreter.version", "interpreter.machine"),
        remedies=[
            Remedy(
                "Try once more with a new pip, from the index that everybody uses.",
                (
                    ("python", "-m", "pip", "install", "--upgrade", "pip"),
                    ("python", "-m", "pip", "--isolated", "install", "torch"),
                ),
            )
        ],
        ask=[ASK_PYTHON, "python -m pip config list"],
    )


@check("PK301", family="packages", cause="package-without-mac-wheel", needs=("HW101",))
def other_packages_exist_for_macos(messages: Messages) -> Verdict:
    """Every other package that the program needs exists for macOS.

    Tested: messages that name a package made for CUDA: triton, xformers, bitsandbytes, flash-attn, decord and others.

    Why: these packages have no build for macOS, or one without their GPU part. Nothing is wrong with torch, and
    installing torch again changes nothing.

    What to do: leave the package out (most programs have an option for that), or use a program made for Macs.

    Source: 263 public tickets, sorted by cause; the package index.
    """
    said = reported(messages, "package-without-mac-wheel")
    return blame("package-without-mac-wheel", said[0]) if said else NOTHING


@check("CO301", family="conda", cause="conda-package-unavailable", needs=("HW101",))
def conda_finds_torch(messages: Messages, conda: Conda, facts: Facts) -> Verdict:
    """conda finds the wanted package in the channels that it looks in.

    Tested: conda's solver messages; and whether torch came from another channel than the one asked for, much older.

    Why: the channel called pytorch ended with 2.5.1, and its index for Apple silicon was incomplete at times. conda
    then reports that the package is not available, or takes an old build from its default channel.

    What to do: install from conda-forge alone, or install torch with pip in an environment of its own.

    Source: pytorch/pytorch issues 82428, 82483, 138506 and 138696.
    """
    said = reported(messages, "conda-package-unavailable")
    if said:
        return blame("conda-package-unavailable", said[0])
    torch = conda.get("pytorch")
    asked = conda.configured_channels or ()
    old = torch is not None and versions.at_least(torch.version, "1.12.0") is False
    if (
        torch is None
        or not old
        or "pytorch" not in asked
        or torch.channel in (None, "pytorch")
        or not messages.from_ticket
    ):
        return NOTHING
    return fail(
        f"conda was asked for channel pytorch and took torch {torch.version} from {torch.channel} instead.",
        known(facts, "conda.configured_channels", "conda.packages"),
        [
            Remedy(
                "Install torch from conda-forge alone, or with pip.",
                (("conda", "install", "-c", "conda-forge", "--override-channels", "pytorch"),),
            )
        ],
        confidence=LIKELY,
    )
