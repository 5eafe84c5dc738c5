"""Apple's tools: what the recorded Macs printed, and the odd answers that other Macs give."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mpsdoctor.facts.host import Host, PerformanceLevel
from mpsdoctor.probes import apple
from mpsdoctor.probes.replay import ReplayRunner
from tests.conftest import RECORDINGS

GB = 1024**3
# recording: chip, model, GB, GPU cores, macOS, build, the first kind of CPU core, in a virtual machine, tools
MACS: dict[str, tuple[str, str, float, int | None, str, str, tuple[str, int], bool, bool]] = {
    "01-m1-air-8gb-macos14-uv":
        ("Apple M1", "MacBookAir10,1", 8, 7, "14.7.2", "23H311", ("Performance", 4), False, False),
    "02-m2pro-macos15-miniforge":
        ("Apple M2 Pro", "Mac14,9", 16, 19, "15.5", "24F74", ("Performance", 8), False, True),
    "03-m4max-macos26":
        ("Apple M4 Max", "Mac16,6", 128, 40, "26.6.2", "25G83", ("Performance", 12), False, True),
    "04-m1-macos13-old":
        ("Apple M1", "Macmini9,1", 16, 8, "13.7.4", "22H420", ("Performance", 4), False, True),
    "05-m1pro-anaconda-x86_64-rosetta":
        ("Apple M1 Pro", "MacBookPro18,3", 16, 14, "14.5", "23F79", ("Performance", 6), False, True),
    "07-github-macos-14-arm64-runner":
        ("Apple M1 (Virtual)", "VirtualMac2,1", 7, None, "14.8.7", "23J520", ("Standard", 3), True, True),
    "08-github-macos-15-arm64-runner":
        ("Apple M1 (Virtual)", "VirtualMac2,1", 7, None, "15.7.7", "24G720", ("Standard", 3), True, True),
    "11-m3-macos26-built-not-available":
        ("Apple M3", "Mac15,12", 16, 10, "26.2", "25C56", ("Performance", 4), False, True),
    "14-bonus-github-macos-26-arm64-runner":
        ("Apple M1 (Virtual)", "VirtualMac2,1", 7, None, "26.6.2", "25G83", ("Standard", 3), True, True),
}  # fmt: skip


@pytest.fixture(scope="module")
def pool() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(4) as made:
        yield made


def host(name: str, pool: ThreadPoolExecutor) -> Host:
    return apple.observe_host(ReplayRunner(RECORDINGS / name), pool)


@pytest.mark.parametrize("name", sorted(MACS))
def test_every_recorded_mac_is_read(name: str, pool: ThreadPoolExecutor) -> None:
    chip, model, memory, cores, version, build, (kind, count), virtual, tools = MACS[name]
    found = host(name, pool)
    assert (found.chip, found.model, found.memory_bytes) == (chip, model, memory * GB)
    assert (found.gpu_cores, found.macos_version, found.macos_build) == (cores, version, build)
    assert found.performance_levels is not None
    assert found.performance_levels[0] == PerformanceLevel(kind, count)
    assert (found.is_mac, found.is_apple_silicon, found.is_virtual) == (True, True, virtual)
    assert found.developer_tools is tools
    assert (found.low_power_mode, found.thermal_warning, found.power_source) == (False, False, "AC Power")
    assert set(found.sources) >= {"chip", "macos_version", "arm64_capable"}
    assert "Mac.local" not in str(dataclasses.asdict(found))  # the host name is nobody's business


def test_rosetta_shows_in_the_shell_and_in_uname_but_not_in_the_hardware(pool: ThreadPoolExecutor) -> None:
    found = host("05-m1pro-anaconda-x86_64-rosetta", pool)
    assert (found.machine, found.shell_translated, found.arm64_capable) == ("x86_64", True, True)


def test_a_container_on_a_mac_is_known_by_its_kernel_and_its_cpu(pool: ThreadPoolExecutor) -> None:
    found = host("09-docker-linux-on-mac", pool)
    assert (found.system, found.machine, found.container, found.cpu_implementer) == (
        "Linux",
        "aarch64",
        "docker",
        "0x61",
    )
    assert (found.is_mac, found.macos_version, found.wsl) == (False, None, False)


def sysctl(**values: str) -> str:
    return "".join(f"{key.replace('__', '.')}: {value}\n" for key, value in values.items())


UNKNOWN = "sysctl: unknown oid 'hw.optional.arm64'\nsysctl: unknown oid 'sysctl.proc_translated'\n"


@pytest.mark.parametrize(
    ("text", "errors", "expected"),
    [
        ("", UNKNOWN, {"arm64_capable": False, "shell_translated": None}),  # most Intel Macs
        (sysctl(hw__optional__arm64="0"), "", {"arm64_capable": False}),  # some of them
        (sysctl(hw__optional__arm64="1"), "", {"arm64_capable": True}),
        ("", "", {"arm64_capable": None, "chip": None, "memory_bytes": None, "performance_levels": None}),
        ("", "sysctl: unknown oid 'iogpu.wired_limit_mb'\n", {"arm64_capable": None, "wired_limit_mb": None}),
        ("hw.optional.arm64:\nhw.model: \n", "", {"arm64_capable": None}),
        (sysctl(hw__memsize="9" * 5000, hw__ncpu="-1"), "", {"memory_bytes": None, "cpu_count": None}),
        (sysctl(hw__memsize="²", hw__ncpu="1e3"), "", {"memory_bytes": None, "cpu_count": None}),
        (sysctl(machdep__cpu__brand_string="VirtualApple @ 2.50GHz"), "", {"chip": "VirtualApple @ 2.50GHz"}),
        (sysctl(machdep__cpu__brand_string="Intel(R) Core(TM) i9: 9980HK"), "",
         {"chip": "Intel(R) Core(TM) i9: 9980HK"}),
        (sysctl(kern__osproductversion="27.0", kern__osrelease="27.0.0"), "",
         {"macos_version": "27.0", "kernel_release": "27.0.0"}),
        (sysctl(kern__osproductversion="26.x"), "", {"macos_version": None}),
        (sysctl(kern__hv_vmm_present="1", hw__model="VirtualMac2,1"), "", {"hypervisor_present": True}),
    ],
)  # fmt: skip
def test_odd_answers_of_sysctl(text: str, errors: str, expected: dict[str, Any]) -> None:
    found = apple.parse_sysctl(text, errors)
    assert {name: found[name] for name in expected} == expected


def test_the_first_kind_of_core_is_not_always_called_performance() -> None:
    """An M5 Max has Super and Performance cores, and no Efficiency cores."""
    names = {"hw__perflevel0__name": "Super", "hw__perflevel0__physicalcpu": "6",
             "hw__perflevel1__name": "Performance", "hw__perflevel1__physicalcpu": "12"}  # fmt: skip
    found = apple.parse_sysctl(sysctl(**names), "")["performance_levels"]
    assert found == (PerformanceLevel("Super", 6), PerformanceLevel("Performance", 12))


@pytest.mark.parametrize(
    ("version", "rest", "expected"),
    [
        ("26.6.2", "BuildVersion:\t\t25G83\n", {"macos_version": "26.6.2", "macos_build": "25G83"}),
        ("13.4.1", "ProductVersionExtra:\t\t(c)\nBuildVersion:\t\t22F770820d\n",
         {"macos_version": "13.4.1", "macos_build": "22F770820d"}),  # a rapid security response
        ("27.0", "BuildVersion:\t\t26A428\n", {"macos_version": "27.0", "macos_build": "26A428"}),
        ("10.16", "BuildVersion:\t\t20A1\n", {"macos_build": "20A1"}),  # what an old SDK is told
        ("16.0", "", {"macos_build": None}),
        ("16", "", {"macos_build": None}),
        ("10.15.7", "", {"macos_version": "10.15.7", "macos_build": None}),
        ("11.6", "", {"macos_version": "11.6", "macos_build": None}),
        ("14.5 (beta)", "", {"macos_build": None}),
    ],
)  # fmt: skip
def test_odd_answers_of_sw_vers(version: str, rest: str, expected: dict[str, Any]) -> None:
    assert apple.parse_sw_vers(f"ProductName:\t\tmacOS\nProductVersion:\t\t{version}\n{rest}") == expected
    assert apple.parse_sw_vers("") == {"macos_build": None}


@pytest.mark.parametrize(
    ("line", "machine", "release"),
    [
        ("Darwin Mac.local 27.0.0 Darwin Kernel Version 27.0.0: Tue; root:xnu-13432.1.9~1/RELEASE_ARM64_T6041 arm64",
         "arm64", "27.0.0"),
        ("Darwin i 22.6.0 Darwin Kernel Version 22.6.0: x; root:xnu-8796~1/RELEASE_X86_64 x86_64", "x86_64", "22.6.0"),
        ("Linux host 6.1.0 #1 SMP x86_64 GNU/Linux", "x86_64", "6.1.0"),
        ("Linux host 6.1.0 #1 SMP aarch64", "aarch64", "6.1.0"),
    ],
)  # fmt: skip
def test_uname_gives_kernel_and_machine_and_never_the_name(line: str, machine: str, release: str) -> None:
    found = apple.parse_uname(line)
    assert (found["machine"], found["kernel_release"]) == (machine, release)
    assert line.split()[1] not in found["kernel"].split()
    assert apple.parse_uname("Darwin Mac.local") == {}


def test_ioreg_of_a_virtual_machine_and_behind_a_tree() -> None:
    assert apple.parse_ioreg('+-o AppleParavirtGPU  <class AppleParavirtGPU>\n "IOClass" = "AppleParavirtGPU"') == {
        "gpu_cores": None, "gpu_name": "Apple Paravirtual device"}  # fmt: skip
    tree = '  | |   {\n  | |     "model" = "Apple M3 Pro"\n  | |     "gpu-core-count" = 14\n'
    assert apple.parse_ioreg(tree) == {"gpu_cores": 14, "gpu_name": "Apple M3 Pro"}
    assert apple.parse_ioreg("") == {"gpu_cores": None, "gpu_name": None}


@pytest.mark.parametrize(
    ("settings_text", "expected"),
    [(" lowpowermode         1\n", True), (" lowpowermode         0\n", False), (" powermode            1\n", True),
     (" powermode            2\n", False), (" powernap             1\n", None), ("", None)],
)  # fmt: skip
def test_low_power_mode_has_two_names(settings_text: str, expected: bool | None) -> None:
    assert apple.parse_power(settings_text, "", "")["low_power_mode"] is expected


def test_heat_and_power_source() -> None:
    intel = "CPU_Scheduler_Limit \t= 100\nCPU_Speed_Limit \t= 80\n"
    assert apple.parse_power("", intel, "Now drawing from 'Battery Power'\n -InternalBattery-0")["thermal_warning"]
    assert apple.parse_power("", intel, "Now drawing from 'Battery Power'\n")["power_source"] == "Battery Power"
    assert not apple.parse_power("", intel.replace("80", "100"), "")["thermal_warning"]
    assert "thermal_warning" not in apple.parse_power("", "", "")


@settings(max_examples=300, deadline=None)
@given(st.text(max_size=200), st.sampled_from(sorted(apple.SYSCTL_KEYS)))
def test_no_output_breaks_a_parser(text: str, key: str) -> None:
    apple.parse_sw_vers(f"ProductVersion:{text}")
    apple.parse_sysctl(f"{key}: {text}", text)
    apple.parse_uname(f"Darwin {text}")
    apple.parse_ioreg(f'"gpu-core-count" = {text}\n"model" = "{text}')
    apple.parse_power(f" lowpowermode {text}", f"CPU_Speed_Limit = {text}", f"drawing from '{text}")
    apple.parse_cpuinfo(f"CPU implementer\t: {text}\nmodel name\t: {text}")
