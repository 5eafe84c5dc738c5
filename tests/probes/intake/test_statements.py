"""Labels in many spellings, lists of packages, JSON of tools: each says what it says, and where it stood."""

from __future__ import annotations

import json

import pytest

from mpsdoctor.facts import Facts
from mpsdoctor.probes.intake import read_ticket
from mpsdoctor.probes.intake.conda_labels import conda_package, yes
from mpsdoctor.probes.intake.labels import label
from mpsdoctor.probes.intake.readers import READERS
from mpsdoctor.probes.intake.spellings import SPELLINGS


def facts(text: str) -> Facts:
    return read_ticket(text.encode())[0]


def value(found: Facts, name: str) -> object:
    subject, _, field = name.partition(".")
    return getattr(getattr(found, subject), field)


@pytest.mark.parametrize(
    ("line", "name", "expected"),
    [
        ("Chip: Apple M3 Pro", "host.chip", "Apple M3 Pro"),
        ("- **Chip**: M3 Pro", "host.chip", "Apple M3 Pro"),
        ("| Chip | Apple M3 |", "host.chip", "Apple M3"),
        ("芯片：苹果 M2", "host.chip", "Apple M2"),
        ("プロセッサ: Apple M1", "host.chip", "Apple M1"),
        ("Prozessor: Apple M4", "host.chip", "Apple M4"),
        ("GPU: Apple M1 Max", "host.chip", "Apple M1 Max"),
        ("machdep.cpu.brand_string: Apple M2 Ultra", "host.chip", "Apple M2 Ultra"),
        ("CPU: Intel(R) Core(TM) i7-9750H CPU @ 2.60GHz", "host.chip", "Intel(R) Core(TM) i7-9750H CPU @ 2.60GHz"),
        ("Memory: 16 GB", "host.memory_bytes", 16 << 30),
        ("RAM: 32", "host.memory_bytes", 32 << 30),
        ("内存: 24GB", "host.memory_bytes", 24 << 30),
        ("hw.memsize: 17179869184", "host.memory_bytes", 16 << 30),
        ("macOS: 14.3", "host.macos_version", "14.3"),
        ("OS: macOS Sonoma 14.5 (arm64)", "host.macos_version", "14.5"),
        ("操作系统: macOS 15.1", "host.macos_version", "15.1"),
        ("ProductVersion: 15.3.1", "host.macos_version", "15.3.1"),
        ("macOS: 16.0", "host.macos_version", "26.0"),
        ("BuildVersion: 24D60", "host.macos_build", "24D60"),
        ("hw.optional.arm64: 1", "host.arm64_capable", True),
        ("hw.optional.arm64: 0", "host.arm64_capable", False),
        ("sysctl.proc_translated: 1", "host.shell_translated", True),
        ("kern.hv_vmm_present: 1", "host.hypervisor_present", True),
        ("Model Identifier: Mac14,9", "host.model", "Mac14,9"),
        ("Hardware architecture: arm64", "host.arm64_capable", True),
        ("OS: Ubuntu 22.04", "host.system", "Linux"),
        ("OS: Windows 11", "host.system", "Windows"),
        ("OS: docker", "host.container", "docker"),
        ("Python version: 3.11.4 | packaged by conda-forge |", "interpreter.version", "3.11.4"),
        ("Python version: 3.11.4 | packaged by conda-forge |", "interpreter.vendor", "conda-forge"),
        ("Python: 3.13t", "interpreter.free_threaded", True),
        ("Python: 3.9 (x86_64)", "interpreter.machine", "x86_64"),
        ("python 版本: 3.10", "interpreter.version", "3.10"),
        ("Python implementation: PyPy 3.10", "interpreter.implementation", "pypy"),
        ("Python: PyPy 3.10.14", "interpreter.implementation", "pypy"),
        ("platform.machine(): x86_64", "interpreter.machine", "x86_64"),
        ("PyTorch version: 2.2.2", "torch.version", "2.2.2"),
        ("torch.__version__: 2.8.0", "torch.version", "2.8.0"),
        ("PyTorch version (GPU?): 2.4.1 (False)", "torch.version", "2.4.1"),
        ("MPS available: yes", "torch.available", True),
        ("MPS available: 不可用", "torch.available", False),
        ("torch.backends.mps.is_built(): True", "torch.built", True),
        ("platform : osx-64", "conda.tool_platform", "osx-64"),
        ("platform : osx-arm64", "host.arm64_capable", True),
        ("Using conda: yes", "conda.present", True),
    ],
)
def test_a_label_is_read(line: str, name: str, expected: object) -> None:
    found = facts(f"A report\n\n{line}\n")
    assert value(found, name) == expected
    if expected is not None:
        sources = getattr(found, name.partition(".")[0]).sources
        assert sources[name.partition(".")[2]].startswith("line 3")


@pytest.mark.parametrize(
    "line",
    ["python=3.10", "Chip:", "note: the chip is unknown", "os.environ: x", "Time: 14:30", "GPU: NVIDIA RTX 3090"],
)
def test_what_only_looks_like_a_label_says_nothing_of_a_mac(line: str) -> None:
    found = facts(line)
    assert found.host.chip is None or not found.host.is_apple_silicon
    assert found.host.macos_version is None
    assert found.interpreter.version is None


def test_every_spelling_has_one_reader_and_finds_itself() -> None:
    spelled = [name.strip() for names in SPELLINGS.values() for name in names.split("|")]
    for name in spelled:
        assert name == name.lower()
        assert label(name.title()) in READERS or label(name) in READERS


@pytest.mark.parametrize(("text", "said"), [("Yes", True), ("ja, klar", True), ("否", False), ("No (see below)", False),
                                            ("❌", False), ("maybe", None), ("", None), ("nothing", None)])  # fmt: skip
def test_yes_and_no(text: str, said: bool | None) -> None:
    assert yes(text) is said


def test_a_row_of_conda_list() -> None:
    row = conda_package("pytorch 2.5.1 py3.11_0 pytorch/osx-64")
    assert row is not None
    assert (row.name, row.version, row.build, row.channel, row.subdir) == (
        "pytorch", "2.5.1", "py3.11_0", "pytorch", "osx-64")  # fmt: skip
    assert conda_package("pytorch") is None
    assert conda_package("a sentence with many words in it 3") is None


PINS = {"torch": "2.8.0", "numpy": "2.1.0", "pillow": "11.0", "requests": "2.32.3", "filelock": "3.13.1"}
COLUMNS = "Package    Version\n---------- -------\n" + "\n".join(
    f"{name:10} {version}" for name, version in PINS.items()
)


@pytest.mark.parametrize(
    "listed",
    [
        "\n".join(f"{name}=={version}" for name, version in PINS.items()),
        "\n".join(f"[pip3] {name}=={version}" for name, version in PINS.items()),
        COLUMNS,
        COLUMNS.replace("\n", "\n> "),
        json.dumps([{"name": name, "version": version} for name, version in PINS.items()]),
        json.dumps({"installed": [{"metadata": {"name": n, "version": v}} for n, v in PINS.items()]}),
    ],
    ids=["freeze", "collect_env", "pip list", "quoted", "JSON list", "pip inspect"],
)
def test_a_list_of_packages(listed: str) -> None:
    found = facts(f"what I have:\n{listed}\n")
    assert {name: found.packages.version(name) for name in PINS} == PINS
    assert found.torch.version == "2.8.0"


def test_three_pins_are_requirements_and_no_list() -> None:
    assert facts("numpy==1.26\ntorch==2.1.0\npillow==9\n").packages.version("torch") is None


def test_a_conda_table() -> None:
    found = facts(
        "# Name   Version  Build  Channel\npytorch  2.5.1  py3.11_0  pytorch\nnumpy  1.26.4  py311_0  conda-forge\n"
    )
    assert found.conda.get("pytorch").version == "2.5.1"  # type: ignore[union-attr]
    assert found.packages.version("torch") == "2.5.1"
    assert found.conda.present is True


def test_a_banner_of_a_program() -> None:
    found = facts("Ultralytics 8.3.0 🚀 Python-3.11.9 torch-2.4.1 MPS (Apple M2 Pro)")
    assert (found.interpreter.version, found.torch.version, found.torch.available) == ("3.11.9", "2.4.1", True)
    assert found.host.chip == "Apple M2 Pro"


@pytest.mark.parametrize("text", ["", "\n", "{}", '{"conda_version": "24.1"}', '[{"name": "numpy"}]', "```\n```"])
def test_a_ticket_without_a_line_of_text_is_read(text: str) -> None:
    assert facts(text).messages.from_ticket


def test_json_of_tools() -> None:
    conda = facts(json.dumps({"conda_version": "24.1", "platform": "osx-64", "channels": ["defaults"]}, indent=1))
    assert conda.conda.tool_platform == "osx-64"
    profiler = facts(json.dumps({"SPHardwareDataType": [{"chip_type": "Apple M3", "physical_memory": "24 GB"}]}))
    assert (profiler.host.chip, profiler.host.memory_bytes) == ("Apple M3", 24 << 30)
    own = facts(json.dumps({"torch": "2.2.2", "python": "3.11.9", "app": "1.0"}))
    assert (own.torch.version, own.interpreter.version) == ("2.2.2", "3.11.9")


@pytest.mark.parametrize("broken", ['{"torch": "2.2.2"', "[" * 5_000, '{"a": ' * 5_000, "[1, 2", "{}", "[]", "[null]"])
def test_broken_json_is_text(broken: str) -> None:
    assert facts(f"{broken}\nChip: Apple M3\n").host.chip == "Apple M3"
