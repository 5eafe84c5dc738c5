"""Packages that must fit torch: torchvision, torchaudio and NumPy."""

from mpsdoctor import (
    Conda,
    Distribution,
    Evidence,
    Interpreter,
    Packages,
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
from mpsdoctor.knowledge import companions, releases, versions

from ._commands import CONDA_TORCH, conda_record, from_pip, pip
from ._torch import installed_version

_CHAIN = ("HW101", "PY100")
_COMPANIONS = ("torchvision", "torchaudio")
_NIGHTLY_INDEX = "https://download.pytorch.org/whl/nightly/cpu"


@check("PK101", family="packages", cause="companion-version-mismatch", needs=_CHAIN, explained_by=("PY101",))
def companions_belong_to_torch(conda: Conda, interpreter: Interpreter, packages: Packages, torch: Torch) -> Verdict:
    """torchvision and torchaudio belong to this torch.

    Tested: their versions against the table of releases that belong together, else against what they require; a
    nightly needs nightlies.

    Why: their compiled parts are built for one release of torch. With another one their import fails, often with
    "operator torchvision::nms does not exist". (From torchvision 0.29.1 and torchaudio 2.11 on they accept a range.)

    What to do: install the three in one command, with the versions that the remedy names.

    Source: METADATA of every macOS wheel of torchvision and torchaudio; pytorch/vision issues 8101 and 9174.
    """
    version = installed_version(torch, packages)
    if version is None:
        return unknown("torch.version")
    found = [packages.get(name) for name in _COMPANIONS]
    installed = [one for one in found if one is not None and one.version]
    if not installed:
        complete = packages.distributions is not None and not packages.partial
        return skip("neither is installed") if complete else unknown("packages.distributions")
    strangers = [one for one in installed if _belongs(version, one) is False]
    evidence = [Evidence("torch.version", version, torch.source("version") or packages.source("*"))]
    evidence += [Evidence(f"packages.{one.name}", one.version, packages.source("*")) for one in installed]
    if not strangers:
        return passed(evidence=evidence)
    names = " and ".join(f"{one.name} {one.version}" for one in strangers)
    remedies = [_right_versions(version, strangers, conda, interpreter, packages)]
    plural = "do" if len(strangers) > 1 else "does"
    if all(_same_generation(version, one) for one in strangers):
        if all(not from_pip(one, conda_record(conda, one.name)) for one in strangers):
            return passed("conda built them for this generation of torch", evidence)
        detail = f"{names} {plural} not belong to torch {version}: pip would refuse the pair, though it may work."
        return warn(detail, evidence, remedies, confidence="likely")
    return fail(f"{names} {plural} not belong to torch {version}.", evidence, remedies, confidence="likely")


def _belongs(torch: str, companion: Distribution) -> bool | None:
    """Does the companion belong to this torch: by the table, else by its own requirement, else by nightly or not?"""
    name, version = companion.name.lower(), companion.version or ""
    known = companions.companion_matches(torch, name, version)
    if known is not None:
        return known
    required = _required_torch(companion)
    if required is not None:
        return _satisfies(torch, required)
    if releases.nightly(torch) is None:
        return False if releases.nightly(version) and releases.release(torch) else None
    stable = versions.stable(version)
    first_free = (0, 29, 1) if name == "torchvision" else (2, 11, 0)
    return None if stable is None or stable >= first_free else False


def _required_torch(companion: Distribution) -> str | None:
    """Return the versions of torch that its metadata asks for, such as "==2.10.0.dev20251008"."""
    from packaging.requirements import InvalidRequirement, Requirement

    for text in companion.requires or ():
        try:
            requirement = Requirement(text)
        except InvalidRequirement:
            continue
        if requirement.name.lower() == "torch" and requirement.marker is None and str(requirement.specifier):
            return str(requirement.specifier)
    return None


def _satisfies(torch: str, specifier: str) -> bool | None:
    from packaging.specifiers import SpecifierSet

    parsed = versions.parse(torch)
    # A build from source has the number of a release to come; what it holds, the number does not tell.
    if parsed is None or (parsed.is_prerelease and releases.nightly(torch) is None):
        return None
    return SpecifierSet(specifier).contains(parsed.public, prereleases=True)


def _same_generation(torch: str, companion: Distribution) -> bool:
    belonging, own = releases.release(torch), versions.stable(companion.version or "")
    text = None if belonging is None else getattr(belonging, companion.name.lower(), None)
    wanted = versions.stable(text or "")
    return wanted is not None and own is not None and wanted[:2] == own[:2]


def _right_versions(
    torch: str, strangers: list[Distribution], conda: Conda, interpreter: Interpreter, packages: Packages
) -> Remedy:
    names = [one.name.lower() for one in strangers]
    if conda_record(conda, *CONDA_TORCH) and all(conda_record(conda, name) for name in names):
        return Remedy(
            "Let conda install them together.",
            (("conda", "install", "-c", "conda-forge", "--override-channels", "pytorch", *names),),
        )
    release = releases.release(torch)
    if release is None:
        wanted = ["torch", *names]
        command = pip(interpreter, packages, "install", "--upgrade", "--pre", *wanted, "--index-url", _NIGHTLY_INDEX)
        return Remedy("Install the nightlies of one day in one command.", (command,))
    pairs = [f"{name}=={getattr(release, name)}" for name in names]
    command = pip(interpreter, packages, "install", f"torch=={release.version}", *pairs)
    verb = "belong" if len(pairs) > 1 else "belongs"
    return Remedy(f"Install {' and '.join(pairs)}, which {verb} to torch {release.version}.", (command,))
