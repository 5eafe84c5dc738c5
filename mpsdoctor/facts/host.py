"""The machine: what kind of computer, which chip, which operating system."""

from __future__ import annotations

from dataclasses import dataclass

from mpsdoctor.facts.codec import Subject


@dataclass(frozen=True)
class PerformanceLevel:
    """One kind of CPU core: its name as the kernel gives it ("Performance", "Super") and how many there are."""

    name: str
    cores: int


@dataclass(frozen=True, kw_only=True)
class Host(Subject):
    """The computer and its operating system. Memory in bytes; versions as the system prints them."""

    system: str | None = None  # "Darwin", "Linux" or "Windows"
    machine: str | None = None  # what uname -m says to our own process; x86_64 under Rosetta
    kernel: str | None = None  # the whole uname line without the host name
    kernel_release: str | None = None
    macos_version: str | None = None
    macos_build: str | None = None
    arm64_capable: bool | None = None  # hw.optional.arm64: the hardware, whatever the process
    chip: str | None = None
    model: str | None = None
    memory_bytes: int | None = None
    cpu_count: int | None = None
    performance_levels: tuple[PerformanceLevel, ...] | None = None
    hypervisor_present: bool | None = None  # kern.hv_vmm_present: this macOS runs in a virtual machine
    shell_translated: bool | None = None  # sysctl.proc_translated of the process that asked: Rosetta
    gpu_name: str | None = None
    gpu_cores: int | None = None
    metal_support: str | None = None
    wired_limit_mb: int | None = None
    developer_directory: str | None = None
    developer_tools: bool | None = None
    low_power_mode: bool | None = None
    thermal_warning: bool | None = None
    power_source: str | None = None
    container: str | None = None  # "docker", "podman", "container"; None where nothing shows one
    cpu_implementer: str | None = None  # Linux /proc/cpuinfo; 0x61 is Apple
    wsl: bool | None = None

    @property
    def is_mac(self) -> bool | None:
        """True on macOS, False on another system, None where nothing tells."""
        if self.system is not None:
            return self.system == "Darwin"
        if self.macos_version is not None:
            return True
        return None

    @property
    def is_apple_silicon(self) -> bool | None:
        """True on an Apple chip (also in a virtual machine on one), False on an Intel Mac, None where nothing tells."""
        if self.arm64_capable is not None:
            return self.arm64_capable
        if self.chip is not None:
            return _chip_is_apple(self.chip)
        if self.kernel and "RELEASE_ARM64" in self.kernel:
            return True
        if self.kernel and "RELEASE_X86_64" in self.kernel:
            return False
        if self.is_mac and self.machine == "arm64":
            return True
        return None

    @property
    def is_virtual(self) -> bool | None:
        """True where this macOS is a guest of a hypervisor, by any of four signs; None where nothing was read."""
        signs = [
            self.hypervisor_present,
            None if self.model is None else self.model.startswith("VirtualMac"),
            None if self.chip is None else "(virtual)" in self.chip.lower(),
            None if self.gpu_name is None else "paravirtual" in self.gpu_name.lower(),
        ]
        known = [sign for sign in signs if sign is not None]
        return any(known) if known else None


def _chip_is_apple(chip: str) -> bool | None:
    lowered = chip.lower()
    if lowered.startswith("apple") or "virtualapple" in lowered:
        return True
    if "intel" in lowered or "amd" in lowered:
        return False
    return None
