"""What kind of computer this is."""

from mpsdoctor import Environment, Evidence, Host, Remedy, Verdict, check, fail, passed, unknown, warn

ASK_HARDWARE = "sysctl -n hw.optional.arm64    (1: Apple silicon · unknown oid or 0: Intel)"


@check("HW101", family="hardware", cause="not-a-mac", causes=("linux-container-on-mac",))
def this_is_a_mac(host: Host, environment: Environment) -> Verdict:
    """This machine runs macOS.

    Tested: the operating system that the kernel names; on Linux also the signs of a container on a Mac (Docker's
    linuxkit kernel, an Apple CPU behind a Linux kernel).

    Why: MPS is Metal, and Metal is part of macOS. Linux containers on a Mac run in a virtual machine without Metal, so
    that PyTorch in them can only use the CPU, whatever is installed.

    What to do: run Python on macOS itself. In a container or on Linux, ask for the CPU (or CUDA) device.

    Source: pytorch/pytorch issues 81224, 96066 and 106717.
    """
    if host.is_mac is None and host.container is not None:
        return fail(
            "This runs in a container, which is Linux also on a Mac; there is no Metal in it.",
            [Evidence.of(host, "container")],
            [Remedy("On a Mac, run the program with a Python on macOS itself; inside, use the CPU device.")],
            cause="linux-container-on-mac",
            confidence="likely",
            gpu=False,
        )
    if host.is_mac is None:
        return unknown("host.system", ask=["the output of sw_vers, which only macOS has"])
    system = Evidence.of(host, "system")
    if host.is_mac:
        return passed(evidence=[system])
    shown = _is_container_on_mac(host)
    # A Linux has no macOS version: a ticket that tells both speaks of the Mac around the container.
    if host.system == "Linux" and (shown or (host.container is not None and host.macos_version is not None)):
        names = ("container", "kernel", "cpu_implementer", *(() if shown else ("macos_version",)))
        signs = [Evidence.of(host, name) for name in names if getattr(host, name)]
        return fail(
            "This is Linux in a container on a Mac; there is no Metal in it, so PyTorch cannot use the GPU here.",
            [system, *signs],
            [
                Remedy(
                    "Run the program with a Python on macOS itself, outside the container; inside, use the CPU device."
                )
            ],
            cause="linux-container-on-mac",
            confidence="certain" if shown and (_is_arm(host) or _has_apple_cpu(host)) else "likely",
            gpu=False,
        )
    where = "Windows" if host.system == "Windows" else "Linux under Windows (WSL)" if host.wsl else str(host.system)
    return fail(
        f"This is {where}, not a Mac: MPS, PyTorch's use of Apple's GPU, exists only on macOS.",
        [system],
        [Remedy("Nothing is to be repaired. Use the CPU or CUDA device here, or run this on the Mac in question.")],
        gpu=False,
    )


_ARCHITECTURES = ("aarch64", "arm64", "x86_64", "amd64")


def _is_container_on_mac(host: Host) -> bool:
    # linuxkit is the kernel of Docker Desktop on every system: an x86_64 one, or one on another CPU, proves no Mac.
    linuxkit = "linuxkit" in (host.kernel or "")
    if _has_apple_cpu(host):
        return linuxkit or host.container is not None
    return linuxkit and _is_arm(host) is not False and host.cpu_implementer in (None, "0x61")


def _has_apple_cpu(host: Host) -> bool:
    return (host.cpu_implementer or "").lower() == "0x61" or (host.chip or "").startswith("Apple")


def _is_arm(host: Host) -> bool | None:
    named = host.machine or next((one for one in _ARCHITECTURES if one in (host.kernel or "")), None)
    return None if named is None else named in ("aarch64", "arm64")


@check("HW102", family="hardware", cause="intel-mac", needs=("HW101",))
def apple_silicon(host: Host) -> Verdict:
    """The Mac has Apple silicon.

    Tested: hw.optional.arm64, which tells the hardware whatever the process runs as; else the chip's name and the
    kernel's build.

    Why: PyTorch ended its Intel builds with 2.2.2 (March 2024). They contain MPS for AMD GPUs, but nobody maintains
    it, and Python 3.13 and later have no build at all.

    What to do: on an Intel Mac use torch 2.2.2 with numpy below 2 and Python 3.12 or older, on the CPU; conda-forge
    still builds newer CPU versions for Intel.

    Source: pytorch/pytorch issues 114602 and 131766; the package index (no x86_64 wheel after 2.2.2).
    """
    silicon = host.is_apple_silicon
    if silicon is None:
        return unknown("host.arm64_capable", "host.chip", ask=[ASK_HARDWARE])
    evidence = [
        Evidence.of(host, name) for name in ("arm64_capable", "chip", "model") if getattr(host, name) is not None
    ]
    if silicon:
        return passed(evidence=evidence)
    return warn(
        "This is an Intel Mac: PyTorch's builds for it end at 2.2.2, and its GPU support is not to be relied on.",
        evidence,
        [
            Remedy(
                "Stay on torch 2.2.2 with numpy below 2 and Python 3.12 or older, and use the CPU.",
                (("python", "-m", "pip", "install", "torch==2.2.2", "torchvision==0.17.2", "numpy<2"),),
            ),
            Remedy("For a newer torch on the CPU, conda-forge still builds for Intel Macs."),
        ],
        confidence="certain" if host.is_mac else "likely",
    )
