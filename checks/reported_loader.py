"""What macOS's loader and compiled packages report when they do not fit together."""

from mpsdoctor import Evidence, Facts, Messages, Verdict, check
from mpsdoctor.knowledge import companions, versions

from ._reported import (
    CERTAIN,
    LIKELY,
    NOTHING,
    because_x86,
    blame,
    known,
    part,
    reported,
    runs_x86,
    torch_version,
    x86_cause,
)

_ROSETTA, _SOURCE = "x86-python-under-rosetta", "source-shadows-package"


@check("PK302", family="packages", cause="arch-mismatch-binaries", causes=(_ROSETTA,), needs=("HW101",))
def loader_meets_one_architecture(facts: Facts) -> Verdict:
    """The loader meets files of one architecture only.

    Tested: "incompatible architecture (have ..., need ...)" and "not a mach-o file"; "need" is the running process.

    Why: packages that were installed while Python ran under Rosetta do not load into a native one, nor the reverse.

    What to do: install the packages again with the Python that runs now. Where an x86_64 Python on Apple silicon
    meets arm64 files, that Python is to be replaced.

    Source: text of macOS's dynamic linker; 263 public tickets, sorted by cause.
    """
    said = reported(facts.messages, "arch-mismatch-binaries")
    if not said:
        return NOTHING
    need = part(said, "need") or ""
    if need.startswith("x86_64") and x86_cause(facts) == _ROSETTA:
        return because_x86(facts, said[0])
    sure = CERTAIN if len(said[0].row.causes) == 1 and facts.host.is_apple_silicon is not False else LIKELY
    return blame(
        "arch-mismatch-binaries",
        said[0],
        confidence=sure,
        evidence=known(facts, "host.chip", "host.arm64_capable"),
        gpu=False,
    )


@check("PK303", family="packages", cause="mixed-package-sources", needs=("HW101",))
def libraries_come_from_one_source(messages: Messages) -> Verdict:
    """The parts of torch come from one source.

    Tested: loader messages that expect libtorch in the environment's lib folder, where conda puts it, or that miss one
    of its libraries.

    Why: a torchaudio of pip's that loads conda's libtorch, or the reverse, meets functions that are not there.

    What to do: remove both and install all three from one source.

    Source: 263 public tickets, sorted by cause; pytorch/pytorch issue 39640.
    """
    said = reported(messages, "mixed-package-sources")
    return blame("mixed-package-sources", said[0]) if said else NOTHING


@check("PK304", family="packages", cause="companion-version-mismatch", causes=(_SOURCE,), explained_by=("PK303",))
def companions_load(facts: Facts) -> Verdict:
    """torchvision and torchaudio load into this torch.

    Tested: "operator torchvision::nms does not exist", "Failed to load image Python extension", missing symbols.

    Why: their compiled parts are built for one release of torch. The operator is missing as well where a source
    checkout or a torch.hub copy is imported in place of the installed package.

    What to do: install the three in one command; mpsdoctor explain companion-version-mismatch has the pairs.

    Source: pytorch/pytorch issue 157648; pytorch/vision issues 8101 and 9174.
    """
    said = reported(facts.messages, "companion-version-mismatch")
    if not said:
        return NOTHING
    if said[0].row.id == "nms-missing" and _vision_belongs(facts):
        return blame(
            _SOURCE,
            said[0],
            detail="torchvision belongs to this torch, so its version is not what is wrong: another torchvision is "
            "imported, a source checkout or the copy that torch.hub downloads.",
            confidence=LIKELY,
            evidence=[
                *known(facts, "torch.version"),
                Evidence("packages.distributions", f"torchvision {facts.packages.version('torchvision')}"),
            ],
            ask=['python -c "import torchvision; print(torchvision.__file__)", in the folder of the program'],
        )
    return blame("companion-version-mismatch", said[0])


def _vision_belongs(facts: Facts) -> bool:
    """Is it known that the installed torchvision is one for the installed torch?"""
    torch, vision = torch_version(facts), facts.packages.version("torchvision")
    return bool(torch and vision and companions.companion_matches(torch, "torchvision", vision))


@check("PK305", family="packages", cause="numpy2-abi", causes=(_ROSETTA, "intel-mac"))
def numpy_fits(facts: Facts) -> Verdict:
    """NumPy fits this torch.

    Tested: NumPy's and torch's messages about each other, with the versions where the ticket gives them.

    Why: torch up to 2.2.2 is built against NumPy 1, and 2.2.2 is the last torch of every x86_64 Python. An Apple
    silicon Mac that has it runs its Python under Rosetta more often than not.

    What to do: install numpy below 2; on Apple silicon make a native environment with a current torch instead.

    Source: libtorch_python of the wheels 1.12.0 to 2.15.0; 263 public tickets, sorted by cause.
    """
    said = reported(facts.messages, "numpy2-abi")
    if not said:
        return NOTHING
    evidence = known(facts, "torch.version", "interpreter.machine")
    translated = facts.host.is_apple_silicon and runs_x86(facts)
    if translated:
        return because_x86(facts, said[0])
    if facts.host.is_apple_silicon and runs_x86(facts) is None and torch_version(facts) == "2.2.2":
        return blame(
            _ROSETTA,
            said[0],
            confidence=LIKELY,
            evidence=evidence,
            ask=['python -c "import platform; print(platform.machine())"'],
        )
    new = versions.at_least(torch_version(facts), "2.3.0") and said[0].row.id in ("numpy-unavailable", "numpy-init")
    return blame("numpy2-abi", said[0], confidence=LIKELY if new else None, evidence=evidence)


@check("PK306", family="packages", cause="duplicate-openmp")
def one_openmp_runtime(messages: Messages) -> Verdict:
    """One OpenMP runtime is loaded.

    Tested: the OpenMP runtime's own messages, and loader paths that name two of them.

    Why: pip's torch brings its own libomp, conda's packages bring another. Two in one process end it, or crash or
    hang it without a word; KMP_DUPLICATE_LIB_OK turns the clear message into such a crash.

    What to do: take all packages from one source, all from conda-forge or all from pip.

    Source: pytorch/pytorch issue 78490; pytorch/vision issue 6087; conda-forge/pytorch-cpu-feedstock issue 260.
    """
    said = [one for one in reported(messages, "duplicate-openmp") if one.row.level != "crash"]
    return blame("duplicate-openmp", said[0]) if said else NOTHING


@check("PK307", family="packages", cause="missing-libomp")
def openmp_is_found(messages: Messages) -> Verdict:
    """The OpenMP runtime is found.

    Tested: "Library not loaded: ...libomp.dylib".

    Why: downloads of libtorch and some source builds expect a libomp that they do not bring.

    What to do: install libomp where the message looks for it, or install torch's wheel, which brings it.

    Source: text of macOS's dynamic linker; 263 public tickets, sorted by cause.
    """
    said = reported(messages, "missing-libomp")
    return blame("missing-libomp", said[0]) if said else NOTHING
