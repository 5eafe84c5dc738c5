"""The Python interpreter under examination (the target), as it describes itself and as its file says."""

from __future__ import annotations

from dataclasses import dataclass

from mpsdoctor.facts.codec import Subject
from mpsdoctor.facts.process import ProcessEnd


@dataclass(frozen=True, kw_only=True)
class Interpreter(Subject):
    """One interpreter. Paths are redacted; `machine` is the architecture of the running process."""

    executable: str | None = None
    real_path: str | None = None
    chosen_by: str | None = None  # why this one: "--python", "VIRTUAL_ENV", "CONDA_PREFIX", "python3 on PATH"
    version: str | None = None  # "3.12.11"
    version_text: str | None = None  # sys.version, one line
    implementation: str | None = None  # "cpython", "pypy"
    vendor: str | None = None  # python.org, homebrew, apple, pyenv, uv, conda-forge, anaconda, nix, macports, ...
    free_threaded: bool | None = None
    pre_release: bool | None = None
    machine: str | None = None
    binary_architectures: tuple[str, ...] | None = None
    translated: bool | None = None  # sysctl.proc_translated asked inside it: runs under Rosetta
    prefix: str | None = None
    base_prefix: str | None = None
    base_executable: str | None = None
    base_exists: bool | None = None
    venv: bool | None = None
    venv_home: str | None = None  # "home" of pyvenv.cfg
    venv_prefix_moved: bool | None = None  # its activate script names another folder: copied or moved
    conda: bool | None = None  # prefix holds conda-meta
    platform: str | None = None  # sys.platform
    platform_tag: str | None = None  # sysconfig.get_platform()
    platform_text: str | None = None  # platform.platform()
    macos_version_seen: str | None = None  # platform.mac_ver() as this Python is told
    macos_version_true: str | None = None  # the same asked again with SYSTEM_VERSION_COMPAT=0
    site_packages: tuple[str, ...] | None = None
    user_site: str | None = None
    user_site_enabled: bool | None = None
    externally_managed: bool | None = None
    sys_path: tuple[str, ...] | None = None
    working_directory: str | None = None
    end: ProcessEnd | None = None  # only where it did not answer normally

    @property
    def version_info(self) -> tuple[int, ...] | None:
        """The version as numbers, (3, 12, 11), or None where it is unknown or no number."""
        if self.version is None:
            return None
        numbers: list[int] = []
        for part in self.version.split("."):
            digits = ""
            for character in part:
                if not character.isdigit() or not character.isascii():
                    break
                digits += character
            if not digits or len(digits) > 4:  # no version part has more digits; int() of a huge text is slow
                break
            numbers.append(int(digits))
        return tuple(numbers) or None

    @property
    def minor(self) -> str | None:
        """ "3.12", or "3.13t" for a free-threaded build; None where unknown."""
        info = self.version_info
        if info is None or len(info) < 2:
            return None
        return f"{info[0]}.{info[1]}{'t' if self.free_threaded else ''}"

    @property
    def is_x86_64(self) -> bool | None:
        """True where the process runs x86_64 code, by the process first and by its file second."""
        if self.machine is not None:
            return self.machine in ("x86_64", "i386", "AMD64")
        if self.binary_architectures:
            return "x86_64" in self.binary_architectures and not any(
                arch.startswith("arm64") for arch in self.binary_architectures
            )
        if self.platform_tag is not None:
            if self.platform_tag.endswith("x86_64"):
                return True
            return False if self.platform_tag.endswith("arm64") else None
        return None
