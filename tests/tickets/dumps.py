"""Texts that sound machines print: collect_env of every layout, and the reports of accelerate, transformers, YOLO."""

from __future__ import annotations

from dataclasses import dataclass

from mpsdoctor.knowledge.releases import release


@dataclass(frozen=True)
class Machine:
    """One sound Mac: versions that go together, as the table of releases has them."""

    macos: str
    torch: str
    python: str
    chip: str
    vendor: str

    @property
    def version_text(self) -> str:
        return {
            "python.org": f"{self.python} (v{self.python}:12345, Jan  1 2026, 10:00:00) [Clang 13.0.0 (clang-1300)]",
            "conda-forge": f"{self.python} | packaged by conda-forge | (main, Jan  1 2026, 10:00:00) [Clang 18.1.8 ]",
            "anaconda": f"{self.python} | packaged by Anaconda, Inc. | (main, Jan  1 2026, 10:00:00) [Clang 14.0.6 ]",
            "homebrew": f"{self.python} (main, Jan  1 2026, 10:00:00) [Clang 16.0.0 (clang-1600.0.26.6)]",
            "uv": f"{self.python} (main, Jan  1 2026, 10:00:00) [Clang 20.1.4 ]",
            "pyenv": f"{self.python} (main, Jan  1 2026, 10:00:00) [Clang 15.0.0 (clang-1500.3.9.4)]",
        }[self.vendor]

    @property
    def platform(self) -> str:
        return f"macOS-{self.macos}-arm64-arm-64bit{'-Mach-O' if self.python >= '3.14' else ''}"

    @property
    def packages(self) -> str:
        known = release(self.torch)
        assert known is not None
        numpy = "2.1.3" if known.numpy2_abi else "1.26.4"
        rows = [f"[pip3] numpy=={numpy}", f"[pip3] torch=={self.torch}"]
        rows += [f"[pip3] torchaudio=={known.torchaudio}"] if known.torchaudio else []
        rows += [f"[pip3] torchvision=={known.torchvision}"] if known.torchvision else []
        return "\n".join(rows)


MACHINES = tuple(
    Machine(*row.split())
    for row in """
12.6.1 1.12.1 3.9.13 M1 conda-forge
12.7.6 1.13.1 3.10.9 M1 python.org
12.4 2.0.1 3.10.11 M1-Pro homebrew
12.7.6 2.4.1 3.11.9 M1 uv
13.0 1.13.1 3.9.16 M1-Max anaconda
13.2.1 2.0.0 3.10.10 M2 pyenv
13.4 2.0.1 3.11.4 M2 python.org
13.5.2 2.1.0 3.11.5 M2-Ultra conda-forge
13.6 2.1.2 3.10.13 M1 homebrew
13.6.7 2.6.0 3.12.8 M1-Pro uv
13.7.2 2.8.0 3.12.11 M1 uv
14.0 2.1.1 3.11.6 M1-Max pyenv
14.1 2.1.2 3.11.6 M3-Max homebrew
14.2.1 2.2.0 3.12.1 M3 python.org
14.3 2.2.0 3.11.7 M3-Pro conda-forge
14.5 2.3.1 3.12.3 M2-Pro anaconda
14.5 2.4.0 3.12.4 M3 python.org
14.6.1 2.4.1 3.12.5 M1 homebrew
14.7 2.5.1 3.11.10 M2-Max conda-forge
14.7.1 2.6.0 3.13.1 M1-Pro python.org
14.7.4 2.7.0 3.12.9 M3 uv
15.0 2.4.1 3.12.6 M3-Max pyenv
15.1 2.5.1 3.12.7 M4 homebrew
15.2 2.5.1 3.11.11 M4-Pro conda-forge
15.3 2.6.0 3.13.1 M4-Max uv
15.4.1 2.7.0 3.12.10 M2 python.org
15.5 2.7.1 3.13.3 M4 homebrew
15.6 2.8.0 3.13.5 M1 conda-forge
15.7.1 2.9.1 3.13.9 M2-Pro uv
15.7.7 2.13.0 3.12.11 M4-Pro homebrew
26.0 2.9.0 3.12.11 M4 python.org
26.1 2.9.1 3.14.0 M5 uv
26.2 2.10.0 3.13.11 M3-Ultra conda-forge
26.3 2.11.0 3.12.12 M2 homebrew
26.4 2.12.1 3.13.12 M4-Max uv
26.5.1 2.14.1 3.14.2 M5-Max python.org
27.0 2.14.1 3.13.12 M5 conda-forge
26.2 2.15.0 3.14.2 M3-Pro homebrew
16.0 2.10.0 3.11.9 M4 anaconda
14.8 2.14.1 3.12.12 M1 pyenv
""".strip().splitlines()
)
MACHINES = tuple(Machine(m.macos, m.torch, m.python, f"Apple {m.chip.replace('-', ' ')}", m.vendor) for m in MACHINES)


def collect_env(machine: Machine, *, layout: str = "2.5") -> str:
    """The text of `python -m torch.utils.collect_env`: 1.12 had no CPU part, later ones ask more of CUDA."""
    true = "26.0" if machine.macos == "16.0" else machine.macos
    lines = [
        "Collecting environment information...",
        f"PyTorch version: {machine.torch}",
        "Is debug build: False",
        "CUDA used to build PyTorch: None",
        "ROCM used to build PyTorch: N/A",
        "",
        f"OS: macOS {true} (arm64)",
        "GCC version: Could not collect",
        "Clang version: 15.0.0 (clang-1500.3.9.4)",
        "CMake version: version 3.29.0",
        "Libc version: N/A",
        "",
        f"Python version: {machine.version_text} (64-bit runtime)",
        f"Python platform: {machine.platform}",
        "Is CUDA available: False",
        "CUDA runtime version: No CUDA",
        *(["CUDA_MODULE_LOADING set to: N/A"] if layout != "1.12" else []),
        "GPU models and configuration: No CUDA",
        "Nvidia driver version: No CUDA",
        "cuDNN version: No CUDA",
        *(["Is XPU available: False"] if layout == "2.15" else []),
        "HIP runtime version: N/A",
        "MIOpen runtime version: N/A",
        "Is XNNPACK available: True",
        *(["Caching allocator config: N/A"] if layout == "2.15" else []),
        "",
        *(["CPU:", machine.chip, ""] if layout != "1.12" else []),
        "Versions of relevant libraries:",
        machine.packages,
        "[conda] Could not collect",
    ]
    return "\n".join(lines) + "\n"


def accelerate_env(machine: Machine) -> str:
    """The text of `accelerate env`."""
    return (
        "Copy-and-paste the text below in your GitHub issue\n\n"
        "- `Accelerate` version: 1.2.1\n"
        f"- Platform: {machine.platform}\n"
        "- `accelerate` bash location: /Users/me/env/bin/accelerate\n"
        f"- Python version: {machine.python}\n"
        "- Numpy version: 1.26.4\n"
        f"- PyTorch version (GPU?): {machine.torch} (False)\n"
        "- PyTorch XPU available: False\n"
        "- PyTorch MPS available: True\n"
        "- System RAM: 32.00 GB\n"
        "- `Accelerate` default config:\n\tNot found\n"
    )


def transformers_env(machine: Machine) -> str:
    """The text of `transformers env`."""
    return (
        "- `transformers` version: 4.48.0\n"
        f"- Platform: {machine.platform}\n"
        f"- Python version: {machine.python}\n"
        "- Huggingface_hub version: 0.27.1\n"
        "- Safetensors version: 0.5.2\n"
        "- Accelerate version: not installed\n"
        f"- PyTorch version (GPU?): {machine.torch} (False)\n"
        "- Tensorflow version (GPU?): not installed (NA)\n"
        "- Using distributed or parallel set-up in script?: <fill in>\n"
    )


def yolo_checks(machine: Machine) -> str:
    """The text of `yolo checks`."""
    return (
        f"Ultralytics 8.3.60 🚀 Python-{machine.python} torch-{machine.torch} MPS ({machine.chip})\n"
        "Setup complete ✅ (10 CPUs, 32.0 GB RAM, 300.0/460.4 GB disk)\n\n"
        f"OS                  {machine.platform}\n"
        "Environment         Darwin\n"
        f"Python              {machine.python}\n"
        "Install             pip\n"
        "RAM                 32.00 GB\n"
        f"CPU                 {machine.chip}\n"
        "CPU count           10\n"
        "GPU                 None\n"
        "CUDA                None\n\n"
        "numpy               ✅ 1.26.4<=2.1.1,>=1.23.0\n"
        f"torch               ✅ {machine.torch}>=1.8.0\n"
    )


def form(machine: Machine) -> str:
    """An issue form with nothing in its description."""
    return (
        f"### System info\n\n- macOS version: {machine.macos}\n- Chip: {machine.chip}\n- Architecture: arm64\n"
        f"- Python: {machine.python} ({machine.vendor})\n- PyTorch: {machine.torch}\n"
    )
