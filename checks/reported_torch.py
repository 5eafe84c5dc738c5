"""What torch reports of its own age and health."""

from mpsdoctor import Evidence, Facts, Remedy, Verdict, check
from mpsdoctor.knowledge import known_bad, operators, releases, versions

from ._reported import (
    ASK_MACOS,
    ASK_TORCH,
    CERTAIN,
    LIKELY,
    NOTHING,
    POSSIBLE,
    Said,
    because_x86,
    blame,
    known,
    reported,
    runs_x86,
    shadow_shown,
    torch_version,
)

_BAD, _OLD, _REGRESSION = "known-bad-torch-release", "torch-too-old", "macos-os-regression"
_CRASHES = ("crash", "wrong-results", "unavailable")
_KERNEL_ROWS = ("op-", "could-not-run-mps")  # messages about one kernel, not about a whole back-end
_CPU_INPUT = "aten::_slow_conv2d"  # no missing kernel, but an input on the CPU
_SIGNALS = (
    "mpsgraph-op",
    "trace-trap",
    "bus-error",
    "segmentation-fault",
    "abort-trap",
    "metal-assertion",
    "illegal-instruction",
)
# Programs that ask for a newer torch than any x86_64 Python can have.
_BEYOND_X86 = ("torch-load-2.6", "pytorch-required")


@check(
    "TO301",
    family="torch",
    cause=_OLD,
    causes=("intel-mac", "x86-python-under-rosetta", "x86-python-hardware-unknown", "wrong-interpreter"),
)
def torch_is_new_enough(facts: Facts) -> Verdict:
    """torch has what the program asks of it.

    Tested: missing modules, attributes and functions whose first release is known, and programs that name the release
    they need.

    Why: torch.backends.mps came with 1.12, torch.mps with 2.0, many functions later. An x86_64 Python stops at 2.2.2
    and cannot be helped by an upgrade.

    What to do: upgrade torch, torchvision and torchaudio together.

    Source: listing of the wheels 1.12.0 to 2.15.0; pytorch/examples issue 1134.
    """
    said = [one for one in reported(facts.messages, _OLD) if not one.part("operator")]
    if not said or shadow_shown(facts.messages):
        return NOTHING
    first = said[0]
    version = torch_version(facts)
    evidence = known(facts, "torch.version")
    stops = first.row.id in _BEYOND_X86 or (first.row.until is not None and versions.at_least(first.row.until, "2.2.2"))
    if runs_x86(facts) and stops and facts.host.is_mac is not False:
        return because_x86(facts, first)
    if version and first.row.until and versions.at_least(version, first.row.until) and version != first.row.until:
        return _older_torch_runs(first, version, evidence)
    sure = LIKELY if facts.host.is_mac is False else None  # whoever has no Mac may not want MPS at all
    return blame(_OLD, first, confidence=sure, evidence=evidence, facts=facts, ask=() if version else [ASK_TORCH])


def _older_torch_runs(first: Said, version: str, evidence: list[Evidence]) -> Verdict:
    """The text is of an older torch than the one that is named: the program runs with another Python."""
    return blame(
        "wrong-interpreter",
        first,
        detail=f"torch {version} does not say this any more (the last that does is {first.row.until}): the program "
        "seems to run with another Python, which has an older torch.",
        confidence=POSSIBLE,
        evidence=evidence,
        remedies=[Remedy("Run the program with the Python that has the newer torch, or upgrade torch in its own.")],
        ask=["in the program: import sys, torch; print(sys.executable, torch.__version__, torch.__file__)"],
    )


@check(
    "TO302",
    family="torch",
    cause=_BAD,
    causes=("duplicate-openmp", _REGRESSION, "x86-python-under-rosetta", "x86-python-hardware-unknown"),
    needs=("HW101",),
    explained_by=("PK306", "PK302", "PR107", "PR110", "PR114", "PR108"),
)
def torch_does_not_crash(facts: Facts) -> Verdict:
    """torch neither ends the process nor fails in ordinary operations.

    Tested: signals, assertions and errors that a known release raises by itself, against the table of releases that
    are known to be bad on this macOS; a nightly counts as suspect.

    Why: some pairs of torch and macOS crash or fail in correct programs.

    What to do: take the release that the remedy names; for a crash without any text send what the ask names.

    Source: pytorch/pytorch issues 140902, 142344 and 143123; each row of the table names its own.
    """
    said = reported(facts.messages, _BAD, _REGRESSION, "duplicate-openmp")
    said = [one for one in said if one.row.causes[0] in (_BAD, _REGRESSION) or one.row.id in _SIGNALS]
    said += [
        one
        for one in reported(facts.messages, "x86-python-under-rosetta", "mixed-dtype-abort")
        if one.row.id in _SIGNALS
    ]
    if not said:
        return NOTHING
    first = said[0]
    evidence = known(facts, "torch.version", "host.macos_version")
    version = torch_version(facts)
    row = _matching(facts, first)
    if row is not None:
        return blame(
            _BAD,
            first,
            detail=row.what,
            confidence=LIKELY,
            evidence=[*evidence, Evidence("known", row.id)],
            remedies=[Remedy(row.remedy)],
        )
    if version and releases.nightly(version):
        return blame(
            _BAD,
            first,
            confidence=LIKELY,
            evidence=evidence,
            remedies=[Remedy("Install a stable release in place of this nightly.")],
            facts=facts,
        )
    if first.row.id == "illegal-instruction":
        return because_x86(facts, first) if runs_x86(facts) else blame(first.row.causes[0], first, confidence=POSSIBLE)
    return _undecided(first, version, evidence)


def _matching(facts: Facts, said: Said) -> known_bad.KnownBad | None:
    rows = known_bad.matching(
        torch_version(facts), facts.host.macos_version, virtual=facts.host.is_virtual, chip=facts.host.chip
    )
    fitting = [row for row in rows if row.cause == _BAD and row.effect in _CRASHES]
    if said.row.id == "view-size":
        return next((row for row in fitting if "view size" in row.what), None)
    serious = [row for row in fitting if row.severity != "note"]
    return next((row for row in serious if row.effect == "crash"), serious[0] if serious else None)


def _undecided(first: Said, version: str | None, evidence: list[Evidence]) -> Verdict:
    """A crash that no table explains: what to suspect, and what to send."""
    if first.row.id == "view-size" and version is not None:
        return NOTHING  # outside of the bad releases this is the program's own .view() on a strided tensor
    cause = first.row.causes[0]
    ask = [ASK_TORCH, ASK_MACOS, "the twenty lines before the crash"]
    return blame(
        cause, first, confidence=LIKELY if first.row.id not in _SIGNALS else POSSIBLE, evidence=evidence, ask=ask
    )


@check(
    "PR105",
    family="program",
    cause="op-not-implemented",
    causes=(_OLD, "wrong-interpreter"),
    needs=("HW101",),
    explained_by=("EN305",),
)
def operators_have_kernels(facts: Facts) -> Verdict:
    """Every operator that the program uses has a kernel for MPS.

    Tested: the operator that the message names, against the releases in which kernels appeared and the list of
    kernels of a current release.

    Why: most operators that were missing have a kernel today. Where one still has none, the fallback variable runs it
    on the CPU, if it is set before torch is imported.

    What to do: upgrade torch first; else set PYTORCH_ENABLE_MPS_FALLBACK=1 before Python starts.

    Source: native_functions.yaml of torch 2.13.0; symbols of the wheels; pytorch/pytorch issues 77764 and 141287.
    """
    said = [
        one
        for one in reported(facts.messages, "op-not-implemented", _OLD)
        if (one.row.causes[0] != _OLD or one.part("operator"))
        and not (one.part("operator") or "").startswith(_CPU_INPUT)
    ]
    if not said:
        return NOTHING
    first, version = said[0], torch_version(facts)
    operator = first.part("operator") if first.row.id.startswith(_KERNEL_ROWS) else None
    evidence = known(facts, "torch.version")
    newer = operators.newer_torch_has_it(operator, version) if operator and operator.startswith("aten::") else None
    if newer:
        if runs_x86(facts) and _beyond_x86(operator):
            return because_x86(facts, first)
        since = operators.first_release(operator or "")
        advice = f"Upgrade torch{f' to {since} or later' if since else ''}: it has a kernel for this operator."
        return blame(
            _OLD,
            first,
            confidence=LIKELY if version is None or not since else CERTAIN,
            evidence=evidence,
            remedies=[Remedy(advice)],
            facts=facts,
            ask=() if version else [ASK_TORCH],
        )
    if newer is None and first.row.causes[0] == _OLD and operator is None:
        return blame(_OLD, first, evidence=evidence, facts=facts)
    if newer is False and operator and operators.has_kernel_in(operator, version):
        return _another_torch(operator, version or "", first, evidence)
    return blame("op-not-implemented", first, confidence=LIKELY if newer is None else CERTAIN, evidence=evidence)


def _another_torch(operator: str, version: str, said: Said, evidence: list[Evidence]) -> Verdict:
    """A message that the described torch cannot print: it has the kernel."""
    since = operators.first_release(operator)
    has = f"since {since}" if since else "in that release"
    return blame(
        "wrong-interpreter",
        said,
        detail=f"torch {version} has an MPS kernel for {operator} ({has}), so this message comes from another torch: "
        "the program probably runs on another Python than the one described.",
        confidence=LIKELY,
        evidence=evidence,
        remedies=[Remedy("Put this line into the program itself: print(torch.__version__, torch.__file__)")],
        ask=["what print(torch.__version__, torch.__file__) prints inside the program"],
    )


def _beyond_x86(operator: str | None) -> bool:
    since = operators.first_release(operator or "")
    return since is not None and versions.at_least(since, "2.3.0") is True
