"""The machine itself: Apple's tools on a Mac, /proc on Linux. Parsers are pure; `observe_host` asks a runner.

Ground truth first: sysctl and sw_vers with SYSTEM_VERSION_COMPAT=0, before anything that an interpreter says.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from concurrent.futures import Executor
from typing import Any

from mpsdoctor.facts.host import Host, PerformanceLevel
from mpsdoctor.probes.process import Completed
from mpsdoctor.probes.runner import SYSTEM_NAME, Runner

TIMEOUT = 5.0  # seconds; each of these answers in some 10 ms on a healthy Mac, endpoint protection can slow that down
SYSCTL_KEYS = (
    "hw.optional.arm64",
    "hw.model",
    "hw.memsize",
    "hw.ncpu",
    "hw.nperflevels",
    "hw.perflevel0.name",
    "hw.perflevel0.physicalcpu",
    "hw.perflevel1.name",
    "hw.perflevel1.physicalcpu",
    "machdep.cpu.brand_string",
    "sysctl.proc_translated",
    "kern.hv_vmm_present",
    "kern.osproductversion",
    "kern.osversion",
    "kern.osrelease",
    "iogpu.wired_limit_mb",
)
TOOL_ENVIRONMENT = {"LC_ALL": "C", "SYSTEM_VERSION_COMPAT": "0"}
_GPU_COUNT = re.compile(r'"gpu-core-count" = (\d{1,4})')
_GPU_MODEL = re.compile(r'"model" = "([^"]{1,100})"')
# Either key, by model: 0 automatic, 1 low power, 2 high power.
_LOW_POWER = re.compile(r"^\s{0,4}(?:low)?powermode\s{1,40}(\d)", re.MULTILINE)
_SPEED_LIMIT = re.compile(r"CPU_Speed_Limit\s{0,10}=\s{0,10}(\d{1,3})")
_POWER_SOURCE = re.compile(r"drawing from '([^']{1,40})'")
# What macOS tells programs linked against an old SDK (10.16 for 11 and later, 16 for 26): no version of its own.
_COMPATIBLE = re.compile(r"(?:10\.16|1[6-9]|2[0-5])(?:\.|$)")
_VERSION = re.compile(r"\d{1,3}(?:\.\d{1,3}){0,3}")

Values = dict[str, Any]


def parse_sw_vers(text: str) -> Values:
    """Read sw_vers: version and build."""
    pairs = dict(line.split(":", 1) for line in text.splitlines() if ":" in line)
    version, build = pairs.get("ProductVersion", "").strip(), pairs.get("BuildVersion", "").strip()
    found: Values = {"macos_build": build or None}
    if _VERSION.fullmatch(version) and not _COMPATIBLE.match(version):
        found["macos_version"] = version
    return found


def parse_sysctl(text: str, error_text: str) -> Values:
    """Read the answer to all keys at once. An unknown hw.optional.arm64 means Intel, as 0 does."""
    pairs: dict[str, str] = {}
    for line in text.splitlines():
        key, colon, value = line.partition(": ")
        if colon:
            pairs[key.strip()] = value.strip()
    arm64 = _flag(pairs.get("hw.optional.arm64"))
    if arm64 is None and "unknown oid 'hw.optional.arm64'" in error_text:
        arm64 = False
    levels = [
        PerformanceLevel(name, cores)
        for index in range(2)
        if (name := pairs.get(f"hw.perflevel{index}.name"))
        and (cores := _number(pairs.get(f"hw.perflevel{index}.physicalcpu"))) is not None
    ]
    version = pairs.get("kern.osproductversion", "")
    return {
        "arm64_capable": arm64,
        "model": pairs.get("hw.model"),
        "memory_bytes": _number(pairs.get("hw.memsize")),
        "cpu_count": _number(pairs.get("hw.ncpu")),
        "performance_levels": tuple(levels) or None,
        "chip": pairs.get("machdep.cpu.brand_string"),
        "shell_translated": _flag(pairs.get("sysctl.proc_translated")),
        "hypervisor_present": _flag(pairs.get("kern.hv_vmm_present")),
        "macos_version": version if _VERSION.fullmatch(version) else None,
        "macos_build": pairs.get("kern.osversion"),
        "kernel_release": pairs.get("kern.osrelease"),
        "wired_limit_mb": _number(pairs.get("iogpu.wired_limit_mb")),
    }


def parse_uname(text: str) -> Values:
    """Read `uname -a`; the second word is the host name and is left out."""
    words = text.split()
    if len(words) < 4 or not SYSTEM_NAME.fullmatch(words[0]):
        return {}
    machine = words[-1] if words[-1] != "GNU/Linux" else words[-2]
    return {
        "system": words[0],
        "kernel_release": words[2],
        "kernel": " ".join([words[0], *words[2:]]),
        "machine": machine,
    }


def parse_ioreg(text: str) -> Values:
    """Read the GPU's model and core count from `ioreg -rc IOAccelerator`."""
    cores, model = _GPU_COUNT.search(text), _GPU_MODEL.search(text)
    name = model[1] if model else None
    if name is None and "AppleParavirt" in text:
        name = "Apple Paravirtual device"
    return {"gpu_cores": int(cores[1]) if cores else None, "gpu_name": name}


def parse_power(settings: str, thermal: str, battery: str) -> Values:
    """Read Low Power Mode, heat and power source from the three pmset outputs."""
    low, speed, source = _LOW_POWER.search(settings), _SPEED_LIMIT.search(thermal), _POWER_SOURCE.search(battery)
    found: Values = {
        "low_power_mode": low[1] == "1" if low else None,
        "power_source": source[1] if source else None,
    }
    if speed:
        found["thermal_warning"] = int(speed[1]) < 100
    elif "No thermal warning level" in thermal:
        found["thermal_warning"] = False
    return found


def parse_cpuinfo(text: str) -> Values:
    """Read the CPU implementer of /proc/cpuinfo (0x61: Apple) and the model name where there is one."""
    found: Values = {}
    for line in text.splitlines():
        key, colon, value = line.partition(":")
        if colon and key.strip() == "CPU implementer":
            found.setdefault("cpu_implementer", value.strip())
        elif colon and key.strip() == "model name":
            found.setdefault("chip", value.strip())
    return found


def observe_host(runner: Runner, pool: Executor) -> Host:
    """Ask the machine what it is. Commands run side by side in `pool`."""
    if runner.system == "Darwin":
        return _observe_mac(runner, pool)
    if runner.system == "Windows":
        return Host(system="Windows", sources={"*": "platform.system()"})
    return _observe_linux(runner)


def _observe_mac(runner: Runner, pool: Executor) -> Host:
    def ask(*argv: str) -> Callable[[], Completed]:
        return pool.submit(runner.run, argv, timeout=TIMEOUT, env=TOOL_ENVIRONMENT).result

    answers = {
        "sw_vers": ask("sw_vers"),
        "sysctl": ask("sysctl", *SYSCTL_KEYS),
        "uname -a": ask("uname", "-a"),
        "ioreg": ask("ioreg", "-rc", "IOAccelerator", "-d", "1", "-w", "0"),
        "xcode-select -p": ask("xcode-select", "-p"),
        "pmset -g": ask("pmset", "-g"),
        "pmset -g therm": ask("pmset", "-g", "therm"),
        "pmset -g batt": ask("pmset", "-g", "batt"),
    }
    done = {name: answer() for name, answer in answers.items()}
    tools = done["xcode-select -p"]
    parts = {
        "sw_vers": parse_sw_vers(done["sw_vers"].text),
        "sysctl": parse_sysctl(done["sysctl"].text, done["sysctl"].error_text),
        "uname -a": parse_uname(done["uname -a"].text),
        "ioreg -rc IOAccelerator": parse_ioreg(done["ioreg"].text),
        "pmset -g": parse_power(done["pmset -g"].text, done["pmset -g therm"].text, done["pmset -g batt"].text),
        "xcode-select -p": {
            "developer_tools": tools.ok if tools.end.how == "exit" else None,
            "developer_directory": tools.text.strip() or None if tools.ok else None,
        },
    }
    return _host(parts, {"system": "Darwin"})


def _observe_linux(runner: Runner) -> Host:
    kernel = runner.read("/proc/version") or ""
    dockerenv = runner.read("/.dockerenv") is not None
    podman = runner.read("/run/.containerenv") is not None
    cgroup = runner.read("/proc/1/cgroup") or ""
    container = "docker" if dockerenv else "podman" if podman else None
    if container is None and any(word in cgroup for word in ("docker", "kubepods", "containerd", "lxc")):
        container = "container"
    if container is None and "linuxkit" in kernel:
        container = "docker"  # Docker Desktop's virtual machine; nothing else ships that kernel
    uname = parse_uname(runner.run(["uname", "-a"], timeout=TIMEOUT, env=TOOL_ENVIRONMENT).text)
    parts = {
        "uname -a": uname,
        "/proc/cpuinfo": parse_cpuinfo(runner.read("/proc/cpuinfo") or ""),
        "/proc/version": {"wsl": "microsoft" in kernel.lower(), "container": container},
    }
    return _host(parts, {"system": runner.system})


def _host(parts: Mapping[str, Values], default: Values) -> Host:
    values: Values = {}
    sources: dict[str, str] = {}
    for source, found in parts.items():
        for name, value in found.items():
            if value is not None and name not in values:  # the first source is the better one
                values[name] = value
                sources[name] = source
    return Host(**{**default, **values}, sources=sources)


def _flag(text: str | None) -> bool | None:
    return {"1": True, "0": False}.get((text or "").strip())


def _number(text: str | None) -> int | None:
    return int(text) if text and text.isascii() and text.isdigit() and len(text) < 20 else None
