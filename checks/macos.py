"""The operating system and what Python is told of it."""

from mpsdoctor import (
    Environment,
    Evidence,
    Host,
    Interpreter,
    Remedy,
    Torch,
    Verdict,
    check,
    fail,
    passed,
    skip,
    unknown,
    warn,
)

from ._torch import reaches

OLDEST = "12.3"  # what torch 1.12.0 to 2.4.1 test for


@check("OS101", family="macos", needs=("HW101",))
def macos_version_is_known(host: Host) -> Verdict:
    """The macOS version is known.

    Tested: sw_vers with SYSTEM_VERSION_COMPAT=0 and kern.osproductversion.

    Why: each torch release needs a certain macOS for MPS, and neither pip nor conda looks at it.

    What to do: send the output of sw_vers.

    Source: torch's macOS wheels 1.12.0 to 2.15.0, taken apart.
    """
    if host.macos_version is None:
        return unknown("host.macos_version", ask=["the output of sw_vers"])
    return passed(evidence=[Evidence.of(host, "macos_version")])


@check("OS102", family="macos", cause="macos-version-misreported", needs=("HW101",), explained_by=("PY101",))
def python_is_told_the_true_macos(
    host: Host, interpreter: Interpreter, environment: Environment, torch: Torch
) -> Verdict:
    """Python is told the true macOS version.

    Tested: platform.mac_ver() inside the interpreter against sw_vers.

    Why: a program linked against an old SDK, or with SYSTEM_VERSION_COMPAT=1 in its environment, is told 10.16 instead
    of the real version. pip then offers no current wheel, and torch refuses what needs a newer macOS. (16.x for
    macOS 26 is harmless: wheels and torch accept it.)

    What to do: remove SYSTEM_VERSION_COMPAT from the environment, or take a newer build of Python.

    Source: python/cpython issue 135675; pypa/packaging issues 335 and 497, pull request 513.
    """
    seen = interpreter.macos_version_seen
    if seen is None:
        return skip("the interpreter did not say which macOS it sees")
    evidence = [Evidence.of(interpreter, "macos_version_seen")]
    if host.macos_version:
        evidence.append(Evidence.of(host, "macos_version"))
    if not seen.startswith("10.16"):
        return passed(evidence=evidence)
    if interpreter.is_x86_64 and host.is_apple_silicon is False:
        return passed("10.16 is what old Intel builds of Python are told; pip repairs it", evidence)
    compat = (environment.variables or {}).get("SYSTEM_VERSION_COMPAT")
    if compat:
        evidence.append(Evidence("environment.SYSTEM_VERSION_COMPAT", compat))
    say = warn if torch.usable else fail  # then it only stands in the way of the next installation
    return say(
        "This Python is told macOS 10.16 instead of the real version, so wheels and newer functions are refused.",
        evidence,
        [
            Remedy("Remove SYSTEM_VERSION_COMPAT from the environment.", (("unset", "SYSTEM_VERSION_COMPAT"),))
            if compat
            else Remedy("Take a newer build of Python: this one was built for an old macOS.")
        ],
        short="macOS is misread as 10.16",
        confidence="likely" if interpreter.is_x86_64 is None else "certain",
    )


@check("OS103", family="macos", needs=("HW101",))
def macos_is_one_that_torch_knows(host: Host) -> Verdict:
    """Some torch release can use the GPU on this macOS.

    Tested: the macOS version against the oldest one that any release's MPS needs, 12.3.

    Why: below macOS 12.3 Metal lacks what every release of torch with MPS asks for.

    What to do: update macOS; Apple silicon runs 14 and later.

    Source: the selectors that torch 1.12.0 to 2.4.1 test, read from the wheels.
    """
    if host.macos_version is None:
        return unknown("host.macos_version")
    met = reaches(host.macos_version, OLDEST)
    if met is None:
        return unknown("host.macos_version", ask=["the output of sw_vers"])
    evidence = [Evidence.of(host, "macos_version")]
    if met:
        return passed(evidence=evidence)
    return fail(
        f"macOS {host.macos_version} is too old for any torch to use the GPU; the first that can is 12.3.",
        evidence,
        [Remedy("Update macOS in System Settings, General, Software Update.")],
        cause="macos-too-old-for-torch",
        gpu=False,
    )
