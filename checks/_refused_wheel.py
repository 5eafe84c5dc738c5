"""Why an installer refuses a wheel: a suffix, a Python or a macOS that has none, another package, a file for Intel."""

from mpsdoctor import Facts, Remedy, Verdict
from mpsdoctor.knowledge import releases, versions

from ._reported import ASK_PYTHON, CERTAIN, LIKELY, POSSIBLE, Said, because_x86, blame, known, runs_x86
from ._wanted import (
    TORCH_FAMILY,
    is_for_intel,
    is_foreign,
    is_local,
    other_python_tag,
    wanted_name,
    wanted_release,
)

PYTHON_ROWS = ("uv-python-abi", "pip-different-python", "pip-old-pin-new-python")


def of_the_wheel(facts: Facts, said: list[Said]) -> Verdict | None:
    """What was asked for: a suffix, a Python without a build, a macOS below the wheel's, another package."""
    first = next((one for one in said if one.row.id in PYTHON_ROWS), None)
    local = next((one for one in said if is_local(one) or is_foreign(one)), None)
    name = wanted_name(said)
    wanted = wanted_release(said)
    evidence = known(facts, "interpreter.version", "host.macos_version")
    if local is not None and name in TORCH_FAMILY:
        return blame("non-mac-wheel-pin", said[0], confidence=CERTAIN, evidence=[local.evidence])
    intel = next((one for one in said if is_for_intel(one)), None)
    if intel is not None and facts.host.is_apple_silicon and not runs_x86(facts):
        return _intel_wheel(facts, intel)
    first = first or next((one for one in said if other_python_tag(facts, one)), None)
    if first is not None:
        return blame(
            "python-version-no-wheel",
            first,
            confidence=CERTAIN,
            evidence=evidence,
            remedies=_other_python(facts, wanted),
        )
    if name not in TORCH_FAMILY:
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


def _intel_wheel(facts: Facts, said: Said) -> Verdict:
    """A file for Intel Macs on Apple silicon, and no sign of an x86_64 Python that would want it."""
    return blame(
        "arch-mismatch-binaries",
        said,
        detail="This wheel file is built for Intel Macs, and this Mac has Apple silicon.",
        confidence=LIKELY if facts.interpreter.machine == "arm64" else POSSIBLE,
        evidence=known(facts, "host.chip", "host.arm64_capable", "interpreter.machine"),
        remedies=[
            Remedy(
                "Let the installer choose the file: install the package by its name.",
                (("python", "-m", "pip", "install", said.part("name") or "torch"),),
            )
        ],
        ask=() if facts.interpreter.machine else [ASK_PYTHON],
    )


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
