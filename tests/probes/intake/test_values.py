"""Versions, chips, sizes and platform names are found in running text, and needs are told from what is there."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mpsdoctor.probes.intake import values


@pytest.mark.parametrize(
    ("text", "version"),
    [
        ("macOS 14.3", "14.3"),
        ("MacOS: 15.1.1", "15.1.1"),
        ("Mac OS X 10.15.7", "10.15.7"),
        ("macOS Sonoma 14.5", "14.5"),
        ("Sequoia", "15"),
        ("on Ventura", "13"),
        ("macOS Tahoe (26.1)", "26.1"),
        ("macOS 版本 14.2", "14.2"),
        ("OSX 12.6", "12.6"),
        ("macos-13.6", "13.6"),
    ],
)
def test_a_macos_is_found(text: str, version: str) -> None:
    assert next(values.macos_versions(text))[1] == version


@pytest.mark.parametrize(
    "text",
    [
        "needs macOS 14.0",
        "requires macOS 13.3 or newer",
        "supported on MacOS 14.0+",
        "macOS 12.3 or later",
        "upgrade to macOS 15",
        "macOS >= 14",
        "before Sonoma",
        "macOS 99.1",
        "macOS 17.2",
        "macOS 需要 14",
        "macOS 14.0 以上",
    ],
)
def test_a_need_is_no_version_of_this_mac(text: str) -> None:
    assert list(values.macos_versions(text)) == []


@pytest.mark.parametrize(
    ("text", "chip"),
    [
        ("Apple M1", "Apple M1"),
        ("an M2 Pro MacBook", "Apple M2 Pro"),
        ("m3max", "Apple M3 Max"),
        ("M4 芯片", "Apple M4"),
        ("Apple M1 (Virtual)", "Apple M1 (Virtual)"),
        ("MacBook Air M2, 8GB", "Apple M2"),
        ("Mac Studio M2-Ultra", "Apple M2 Ultra"),
    ],
)
def test_a_chip_is_found(text: str, chip: str) -> None:
    assert values.chip(text) == chip


@pytest.mark.parametrize("text", ["M1 = 3", "model.m2.weight", "M10", "AM2", "/m1/x", "m3(x)", "M1_0", "pytorch-m1"])
def test_a_name_like_a_chip_is_none(text: str) -> None:
    assert values.chip(text) is None


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("16GB", 16),
        ("36 GB RAM", 36),
        ("16384 MB", None),
        ("8 GiB", 8),
        ("7.5 GB", 8),
        ("2 GB", None),
        ("100 GB/s", None),
        ("64G", 64),
        ("0.5 GB of 32 GB", 32),
    ],
)
def test_a_memory_is_a_macs(text: str, size: int | None) -> None:
    assert values.memory_bytes(text) == (size << 30 if size else None)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("3.12.4", ("3.12.4", False)),
        ("3.13t", ("3.13", True)),
        ("3.14.0rc2", ("3.14.0rc2", False)),
        ("3.13.1 experimental free-threading build", ("3.13.1", True)),
        ("2.7.18", None),
        ("3.5", None),
        ("13.10", None),
    ],
)
def test_a_python(text: str, found: tuple[str, bool] | None) -> None:
    assert values.python_version(text) == found


@pytest.mark.parametrize(
    ("text", "version"),
    [
        ("torch 2.8.0", "2.8.0"),
        ("PyTorch version: 2.2.2", "2.2.2"),
        ("torch==2.1.0+cu118", "2.1.0+cu118"),
        ("pytorch 2.6.0.dev20241120", "2.6.0.dev20241120"),
        ("torch 是 2.5", "2.5"),
        ("torch (2.4.1)", "2.4.1"),
    ],
)
def test_a_torch(text: str, version: str) -> None:
    found = values.TORCH.search(text)
    assert found is not None
    assert found["version"] == version


@pytest.mark.parametrize("text", ["torchvision 0.23.0", "torch 3.1", "torch/2.8.0", "torch 2.8.0.1.2", "mytorch 2.8.0"])
def test_no_torch(text: str) -> None:
    assert values.TORCH.search(text) is None


@pytest.mark.parametrize(
    ("text", "system", "machine"),
    [
        ("macOS-14.5-arm64-arm-64bit", "Darwin", "arm64"),
        ("macOS-10.16-x86_64-i386-64bit", "Darwin", "x86_64"),
        ("Linux-6.6.12-linuxkit-aarch64-with-glibc2.36", "Linux", "aarch64"),
        ("Windows-10-10.0.19045-SP0", "Windows", None),
    ],
)
def test_a_platform(text: str, system: str, machine: str | None) -> None:
    found = next(values.platforms(f"Platform: {text}, and more"))
    assert (found.system, found.machine) == (system, machine)


def test_a_runner_label_is_no_platform() -> None:
    assert list(values.platforms("macOS-latest-large and macOS-14-xlarge")) == []


@given(st.text(max_size=200))
def test_any_text_is_searched(text: str) -> None:
    for _, version in values.macos_versions(text):
        assert values.plausible_macos(version)
    size = values.memory_bytes(text)
    assert size is None or 4 << 30 <= size <= 1024 << 30
    values.chip(text), values.python_version(text), values.torch_version(text), list(values.platforms(text))
