"""What pip, uv, Poetry and conda report when they find no torch."""

import re

from mpsdoctor import Conda, Facts, Messages, Remedy, Verdict, check, fail
from mpsdoctor.knowledge import releases, versions

from ._reported import (
    ASK_PYTHON,
    CERTAIN,
    LIKELY,
    NOTHING,
    Said,
    because_x86,
    blame,
    known,
    part,
    reported,
    runs_x86,
)

_LOCAL = re.compile(r"\+(?:cu\d|cpu|rocm|xpu)")
_TORCH_FAMILY = ("torch", "torchvision", "torchaudio", "torchtext")
_PYTHON_ROWS = ("uv-python-abi", "pip-different-python", "pip-old-pin-new-python")
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
    return _of_the_system(facts, said) or _of_the_wheel(facts, said) or _of_nothing_known(said[0])


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
    tagged = next((one for one in said if one.row.causes[0] == "x86-python-hardware-unknown"), None)
    # The tag proves the Python and the chip the Mac, unless the text itself shows an arm64 Python.
    if tagged is not None and facts.host.is_apple_silicon is not None and interpreter.machine != "arm64":
        return because_x86(facts, tagged)
    told = interpreter.macos_version_seen or ""
    if told.startswith("10.16") and not interpreter.is_x86_64:
        evidence = known(facts, "interpreter.macos_version_seen", "host.macos_version", "interpreter.machine")
        return blame("macos-version-misreported", first, confidence=CERTAIN, evidence=evidence)
    return None


def _x86_matters(said: list[Said]) -> bool:
    """Would an arm64 Python find what this one does not? Not where only the suffix or the Python is wrong."""
    wanted = _wanted(said)
    newer = versions.at_least(wanted, "2.3.0") if wanted else None
    if part(said, "last") is not None and _offers_older(part(said, "last"), wanted):
        return True
    if any(one.row.id in _PYTHON_ROWS for one in said) or any(_is_local(one) for one in said):
        return bool(newer)
    return newer is not False


def _offers_older(last: str | None, wanted: str | None) -> bool:
    return wanted is None or (versions.at_least(wanted, last or "0") is not False and wanted != last)


def _wanted(said: list[Said]) -> str | None:
    """The release of torch that was asked for, without a suffix; the one that belongs to a companion."""
    name, version = (part(said, "name") or "torch").lower(), part(said, "version")
    if version is None:
        return None
    version = version.split("+")[0].rstrip(".*")
    if name in ("torchvision", "torchaudio"):
        return next((one.version for one in releases.releases() if getattr(one, name) == version), None)
    return version if name == "torch" else None


def _is_local(said: Said) -> bool:
    wanted = f"{said.part('version') or ''}{said.part('spec') or ''}"
    return bool(_LOCAL.search(wanted)) or said.row.causes == ("non-mac-wheel-pin",)


def _is_foreign(said: Said) -> bool:
    """A wheel file for another system was named."""
    tag = said.part("platform_tag") or ""
    return bool(tag) and "macosx" not in tag and tag != "any"


def _other_python_tag(facts: Facts, said: Said) -> bool:
    tag, minor = said.part("python_tag") or "", facts.interpreter.minor
    return tag.startswith("cp") and minor is not None and tag != f"cp{minor.replace('.', '').rstrip('t')}"


def _of_the_wheel(facts: Facts, said: list[Said]) -> Verdict | None:
    """What was asked for: a suffix, a Python without a build, a macOS below the wheel's, another package."""
    first = next((one for one in said if one.row.id in _PYTHON_ROWS), None)
    local = next((one for one in said if _is_local(one) or _is_foreign(one)), None)
    name = (part(said, "name") or "torch").lower()
    wanted = _wanted(said)
    evidence = known(facts, "interpreter.version", "host.macos_version")
    if local is not None and name in _TORCH_FAMILY:
        return blame("non-mac-wheel-pin", said[0], confidence=CERTAIN, evidence=[local.evidence])
    first = first or next((one for one in said if _other_python_tag(facts, one)), None)
    if first is not None:
        return blame(
            "python-version-no-wheel",
            first,
            confidence=CERTAIN,
            evidence=evidence,
            remedies=_other_python(facts, wanted),
        )
    if name not in _TORCH_FAMILY:
        return blame("package-without-mac-wheel", said[0], detail=f"{name} has no build for macOS that fits here.")
    if wanted is not None and _macos_below_wheel(facts, wanted):
        return blame("macos-too-old-for-torch", said[0], confidence=CERTAIN, evidence=evidence)
    if _python_has_none(facts, wanted):
        return blame(
            "python-version-no-wheel",
            said[0],
            confidence=CERTAIN,
            evidence=evidence,
            remedies=_other_python(facts, wanted),
        )
    if runs_x86(facts) is None and _exists_for_arm64(facts, said, wanted):
        return because_x86(facts, said[0])
    if said[0].row.causes[0] == "non-mac-wheel-pin":
        return blame("non-mac-wheel-pin", said[0])
    return None


def _exists_for_arm64(facts: Facts, said: list[Said], wanted: str | None) -> bool:
    """All wheels of a release are refused that has one for this Python on Apple silicon: only x86_64 is left."""
    refuses = any(one.row.id.startswith(("poetry-", "uv-no-wheel")) for one in said)
    minor = facts.interpreter.minor
    return refuses and minor is not None and minor in releases.pythons_for(wanted or "", "arm64")


def _macos_below_wheel(facts: Facts, wanted: str) -> bool:
    release, running = releases.release(wanted), versions.macos(facts.host.macos_version)
    if release is None or running is None:
        return False
    tags = [tag for tag in map(releases.wheel_tag, release.arm64_tags) if tag]
    mine = [tag for tag in tags if facts.interpreter.minor in (None, tag.python)]
    return bool(mine) and not any(versions.macos_in(running, tag.macos, None) for tag in mine)


def _python_has_none(facts: Facts, wanted: str | None) -> bool:
    minor = facts.interpreter.minor
    if minor is None:
        return False
    machine = "x86_64" if runs_x86(facts) else "arm64"
    if wanted is not None and releases.release(wanted):
        return minor not in releases.pythons_for(wanted, machine)
    return releases.newest_for(None, minor, machine) is None


def _other_python(facts: Facts, wanted: str | None) -> list[Remedy]:
    machine = "x86_64" if runs_x86(facts) else "arm64"
    release = (releases.release(wanted) if wanted else None) or releases.newest_for(
        facts.host.macos_version, None, machine
    )
    fitting = (
        [minor for minor in releases.pythons_for(release.version, machine) if not minor.endswith("t")]
        if release
        else []
    )
    if release is None or not fitting:
        return []
    best = fitting[-2] if len(fitting) > 2 else fitting[-1]
    return [
        Remedy(
            f"Make the environment anew with Python {best}: torch {release.version} has some for {', '.join(fitting)}.",
            (("uv", "venv", "--python", best),),
        )
    ]


def _of_nothing_known(first: Said) -> Verdict:
    return blame(first.row.causes[0], first, confidence=LIKELY, ask=[ASK_PYTHON])


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
