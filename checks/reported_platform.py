"""What torch reports of macOS, of virtual machines and of a Metal device that it does not see."""

import re

from mpsdoctor import Facts, Remedy, Verdict, check, fail
from mpsdoctor.knowledge import causes, releases, versions

from ._pins import packages
from ._reported import (
    ASK_MACOS,
    ASK_TORCH,
    CERTAIN,
    LIKELY,
    NOTHING,
    Said,
    because_x86,
    blame,
    known,
    reported,
    runs_x86,
    torch_version,
)

_TOO_OLD, _NOT_VISIBLE, _VIRTUAL = "macos-too-old-for-torch", "metal-device-not-visible", "virtual-machine-gpu"
_INTEL = "intel-mac"
_MUCH = 4 << 30  # bytes; a machine that has allocated as much to the GPU runs out in earnest
_REAL_GPU = re.compile(r"Radeon|AMD|Intel", re.IGNORECASE)


@check(
    "OS301",
    family="macos",
    cause=_TOO_OLD,
    causes=(_NOT_VISIBLE, _VIRTUAL, "intel-mac"),
    needs=("HW101",),
    explained_by=("OS103", "TO102", "CI201", "MP101", "MP102"),
)
def torch_accepts_this_macos(facts: Facts) -> Verdict:
    """torch accepts this macOS.

    Tested: "The MPS backend is supported on macOS ...", with the macOS and the release, or the releases that the
    wording allows.

    Why: the number in the message is not reliable: torch 2.5 says 12.3 and needs 13.0, and the message is printed for
    any Metal device that torch does not see.

    What to do: take the newest torch that this macOS can run; where macOS is new enough, run outside of the sandbox.

    Source: strings and MPSDevice's constructor in the wheels 1.12.0 to 2.15.0.
    """
    said = reported(facts.messages, _TOO_OLD)
    if not said:
        return NOTHING
    evidence = known(facts, "host.macos_version", "torch.version")
    if facts.host.is_virtual:
        signs = known(facts, "host.chip", "host.gpu_name", "host.hypervisor_present")
        return blame(_VIRTUAL, said[0], evidence=[*evidence, *signs], gpu=False)
    running = versions.macos(facts.host.macos_version)
    floors = _floors(facts, said[0])
    if running is None or not floors:
        return blame(_TOO_OLD, said[0], confidence=LIKELY, evidence=evidence, ask=[ASK_MACOS, ASK_TORCH])
    if any(not versions.macos_in(running, floor, None) for floor in floors):
        best = releases.newest_for(facts.host.macos_version, facts.interpreter.minor, "arm64")
        advice = (
            [
                Remedy(
                    f"Install torch=={best.version}, the newest whose GPU support runs on this macOS, or update macOS.",
                    (("python", "-m", "pip", "install", *packages(facts)),),
                )
            ]
            if best
            else []
        )
        certain = torch_version(facts) is not None and len(floors) == 1
        return blame(
            _TOO_OLD, said[0], confidence=CERTAIN if certain else LIKELY, evidence=evidence, remedies=advice, gpu=False
        )
    evidence += known(facts, "host.chip", "host.hypervisor_present")
    if facts.host.is_apple_silicon is False:
        return blame("intel-mac", said[0], evidence=evidence, gpu=False)
    return blame(_NOT_VISIBLE, said[0], confidence=LIKELY, evidence=evidence, gpu=False)


def _floors(facts: Facts, said: Said) -> list[str]:
    """The macOS that the installed release needs, or that each release needs which has this wording."""
    version = torch_version(facts)
    floor = releases.floor_for(version) if version else None
    if floor is not None:
        return [floor.version]
    since, until = versions.stable(said.row.since or ""), versions.stable(said.row.until or "")
    fitting = [
        one
        for one in releases.releases()
        if (since is None or one.key >= since) and (until is None or one.key <= until)
    ]
    return sorted({one.mps_floor for one in fitting if one.mps_floor})


@check(
    "OS302",
    family="macos",
    cause="op-needs-newer-macos",
    causes=("torch-too-old", "tensor-too-large", "x86-python-under-rosetta"),
    needs=("HW101",),
)
def operators_find_this_macos_new_enough(facts: Facts) -> Verdict:
    """The operators in use exist on this macOS.

    Tested: messages that name the macOS which an operator or a type needs, with the macOS and torch of the ticket.

    Why: MPSGraph gained int64 reductions with 13.3, complex numbers and FFT with 14, large convolutions with 15.1.
    The fallback variable is never asked, as MPS has the operator. A translated Python is told a wrong macOS.

    What to do: update macOS; until then run that part on the CPU.

    Source: strings of the wheels 1.12.0 to 2.15.0; haoheliu/versatile_audio_super_resolution issue 70.
    """
    said = reported(facts.messages, "op-needs-newer-macos")
    if not said:
        return NOTHING
    first = said[0]
    evidence = known(facts, "host.macos_version", "torch.version", "interpreter.macos_version_seen")
    running = versions.macos(facts.host.macos_version)
    needed = _needed(first)
    if running is None or needed is None or not versions.macos_in(running, needed, None):
        return blame(
            "op-needs-newer-macos", first, confidence=CERTAIN if running and needed else None, evidence=evidence
        )
    if runs_x86(facts) and facts.host.is_apple_silicon:
        return because_x86(facts, first)
    if (facts.interpreter.macos_version_seen or "").startswith("10.16"):
        return blame("macos-version-misreported", first, evidence=evidence)
    old = versions.at_least(torch_version(facts), first.row.until or "2.6.0") is False
    if first.row.id == "output-channels" and not old:
        return blame("tensor-too-large", first, confidence=LIKELY, evidence=evidence)
    return blame(
        "torch-too-old",
        first,
        confidence=LIKELY,
        evidence=evidence,
        facts=facts,
        ask=[] if torch_version(facts) else [ASK_TORCH],
    )


_NEEDS = {"output-channels": "15.1", "int64-op": "13.3", "int64-reduction": "13.3", "by-mps-on-macos-13": "13.0"}


def _needed(said: Said) -> str | None:
    """The macOS that the message names."""
    if said.row.id in _NEEDS:
        return _NEEDS[said.row.id]
    found = re.search(r"mac ?OS[ _]?(\d{2})(?:[._](\d))?", said.message.text, re.IGNORECASE)
    return f"{found[1]}.{found[2] or 0}" if found else None


@check(
    "CI301",
    family="ci",
    cause=_VIRTUAL,
    causes=("intel-mac", _NOT_VISIBLE, "mps-out-of-memory", "known-bad-torch-release"),
    needs=("HW101",),
)
def gpu_is_not_a_virtual_one(facts: Facts) -> Verdict:
    """The GPU is no virtual machine's.

    Tested: a memory error for a tiny request or with nothing allocated, a device that torch skips, kernels that do not
    compile, "no supported Metal GPU was found".

    Why: a virtual machine's GPU says that it is available and then refuses memory or kernels. The advice to lift the
    memory limit is a trap there.

    What to do: use the CPU in that job, or a real Mac.

    Source: actions/runner-images issues 9918 and 11899; pytorch/pytorch issue 196582.
    """
    said = reported(facts.messages, _VIRTUAL)
    if not said:
        return NOTHING
    first = said[0]
    evidence = known(facts, "host.chip", "host.hypervisor_present", "environment.ci", "host.macos_version")
    if facts.host.is_apple_silicon is False or (
        first.row.id == "skipping-device" and _REAL_GPU.search(first.message.text)
    ):
        return blame("intel-mac", first, evidence=evidence)
    if facts.host.is_virtual:
        return blame(_VIRTUAL, first, confidence=CERTAIN, evidence=evidence, gpu=False)
    if first.row.id == "oom-tiny-request" and _really_full(first):
        return blame("mps-out-of-memory", first, confidence=LIKELY, evidence=evidence)
    if facts.host.chip and first.row.id in ("no-metal-gpu", "pipeline-state"):
        other = _NOT_VISIBLE if first.row.id == "no-metal-gpu" else "known-bad-torch-release"
        return blame(other, first, confidence=LIKELY, evidence=evidence)
    return blame(
        _VIRTUAL, first, confidence=LIKELY, evidence=evidence, ask=["sysctl -n hw.model kern.hv_vmm_present"], gpu=False
    )


def _really_full(said: Said) -> bool:
    allocated, other, most = (float(said.part(f"{name}_bytes") or 0) for name in ("allocated", "other", "max"))
    return allocated + other >= (0.8 * most if most else 4 * _MUCH) and allocated + other >= _MUCH


@check("MP301", family="mps", cause=_NOT_VISIBLE, causes=(_VIRTUAL, _INTEL), needs=("HW101",), explained_by=("MP102",))
def metal_device_is_seen(facts: Facts) -> Verdict:
    """The process sees the Metal device.

    Tested: messages of Metal and of the sandbox about a device that is refused or not there; is_available() False
    from a program that is said to run in a sandbox or over ssh.

    Why: a sandbox without access to the GPU's driver, an ssh or background session hides it from the process.

    What to do: run the program in an ordinary Terminal window; torch needs no repair.

    Source: openai/codex issues 9007, 10199 and 17644; pytorch/pytorch issue 167679.
    """
    said = reported(facts.messages, _NOT_VISIBLE, _INTEL)
    if not said:
        return _told_of_a_sandbox(facts)
    if facts.host.is_virtual:
        return blame(_VIRTUAL, said[0], evidence=known(facts, "host.chip", "host.hypervisor_present"), gpu=False)
    evidence = known(facts, "environment.sandbox", "host.chip")
    return blame(said[0].row.causes[0], said[0], evidence=evidence, gpu=False)


def _told_of_a_sandbox(facts: Facts) -> Verdict:
    """is_available() False and a sandbox or ssh session in one ticket, where nothing else of the chain is wrong."""
    hidden = facts.messages.from_ticket and facts.environment.sandbox and facts.torch.available is False
    if not hidden or facts.torch.built is False or runs_x86(facts) or facts.host.is_virtual:
        return NOTHING
    floor, running = releases.floor_for(torch_version(facts) or ""), versions.macos(facts.host.macos_version)
    if floor is not None and running is not None and not versions.macos_in(running, floor.version, None):
        return NOTHING
    explained = causes.cause(_NOT_VISIBLE)
    return fail(
        explained.means if explained else "The process sees no Metal device.",
        known(facts, "torch.available", "environment.sandbox", "host.macos_version", "torch.version"),
        [Remedy("Run the same command in an ordinary Terminal window on the Mac itself; torch needs no repair.")],
        confidence=LIKELY,
        gpu=False,
    )


@check(
    "MP302",
    family="mps",
    cause="mps-not-built",
    causes=("linux-container-on-mac", "not-a-mac"),
    explained_by=("HW101", "MP101"),
)
def this_torch_has_mps(facts: Facts) -> Verdict:
    """This build of torch has MPS in it.

    Tested: "PyTorch is not linked with support for mps devices" and its relatives, with what the ticket tells of the
    system.

    Why: builds for Linux, Anaconda's cpu variant and source builds with USE_MPS=0 have no MPS in them.

    What to do: on macOS take the ordinary wheel or conda-forge's build; in a container use the CPU.

    Source: pytorch/pytorch issues 77867, 81224 and 96881; AnacondaRecipes/pytorch-feedstock.
    """
    said = reported(facts.messages, "mps-not-built")
    if not said:
        return NOTHING
    evidence = known(facts, "host.system", "host.container")
    if facts.host.container:
        return blame("linux-container-on-mac", said[0], confidence=LIKELY, evidence=evidence, gpu=False)
    if facts.host.is_mac is False:
        return blame("not-a-mac", said[0], confidence=CERTAIN, evidence=evidence, gpu=False)
    # An Apple chip alone is no macOS: most torches without MPS on such a Mac run inside of a container.
    sure = CERTAIN if facts.host.is_mac and "chip" not in facts.host.sources.get("system", "") else LIKELY
    return blame(
        "mps-not-built",
        said[0],
        confidence=sure,
        evidence=evidence,
        gpu=False,
        ask=() if sure == CERTAIN else ["the system that this Python runs on: uname -s, by that Python's shell"],
    )
