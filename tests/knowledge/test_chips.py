"""Chip names as macOS prints them, and names that are not Apple's."""

import pytest

from mpsdoctor.knowledge import chips

UNAME = "Darwin Mac.local 25.6.0 Darwin Kernel Version 25.6.0: Fri Jul 31 19:17:26 PDT 2026; root:xnu-12377~5/RELEASE_"


@pytest.mark.parametrize(
    ("name", "generation"),
    [
        ("Apple M1", 1),
        ("Apple M1 Pro", 1),
        ("Apple M1 (Virtual)", 1),
        ("Apple M4 Max (Virtual)", 4),
        ("Apple M3 Ultra", 3),
        ("M2 pro", 2),
        ("Apple M5 Max", 5),
        ("Apple M12", 12),
        ("VirtualApple @ 2.50GHz", None),
        ("Intel(R) Core(TM) i7-8850H CPU @ 2.60GHz", None),
        ("Intel(R) Core(TM) M3-7Y32", None),
        ("ARM Cortex-M4", None),
        ("Apple Paravirtual device", None),
        ("", None),
        (None, None),
    ],
)
def test_generation(name, generation):
    assert chips.generation(name) == generation


@pytest.mark.parametrize("name", [one.name for one in chips.chips()])
def test_every_chip_is_found_by_its_name(name):
    found = chips.chip(name)
    assert found.name == name
    assert found.generation == chips.generation(name)
    assert found == chips.chip(f"{name} (Virtual)") == chips.chip(name.removeprefix("Apple ").lower())


def test_a_chip_newer_than_the_table_has_a_generation_and_no_row():
    assert chips.chip("Apple M9 Ultra") is None
    assert chips.generation("Apple M9 Ultra") == 9


@pytest.mark.parametrize(
    "text",
    ["Apple M1", "Apple M4 Pro", "M3", "VirtualApple @ 2.50GHz", "Apple processor", "Apple A18 Pro"],
)
def test_apple_chips(text):
    assert chips.is_apple_chip(text)


@pytest.mark.parametrize(
    "text", ["Intel(R) Xeon(R) W-2140B", "AMD Ryzen 7 3700X", "Neoverse-N1", "Core M3", "Apple MacBook", "", None]
)
def test_other_chips(text):
    assert not chips.is_apple_chip(text)


@pytest.mark.parametrize(
    ("kernel", "soc", "generation"),
    [
        ("ARM64_T8103 arm64", "T8103", 1),
        ("ARM64_T6000 x86_64", "T6000", 1),
        ("ARM64_T6020 arm64", "T6020", 2),
        ("ARM64_T8122 arm64", "T8122", 3),
        ("ARM64_T6041 arm64", "T6041", 4),
        ("ARM64_VMAPPLE arm64", "VMAPPLE", None),
        ("ARM64_T9999 arm64", "T9999", None),
        ("X86_64 x86_64", None, None),
    ],
)
def test_the_kernel_names_the_hardware(kernel, soc, generation):
    assert chips.soc(UNAME + kernel) == soc
    assert chips.generation_of_soc(soc) == generation


def test_a_soc_belongs_to_one_generation():
    for one in chips.chips():
        assert one.soc is None or chips.generation_of_soc(one.soc) == one.generation


def test_metal_families_never_fall_with_the_generation():
    families = [int(one.metal_family.removeprefix("apple")) for one in chips.chips()]
    assert families == sorted(families)
    assert chips.chip("Apple M1").metal_family == "apple7"  # what torch 2.15 asks for


@pytest.mark.parametrize(
    ("model", "name"), [("Mac14,9", "Apple M2 Pro"), ("MacBookAir10,1", "Apple M1"), ("Mac99,9", None), (None, None)]
)
def test_recorded_models(model, name):
    found = chips.chip_of_model(model)
    assert (found and found.name) == name


@pytest.mark.parametrize(
    ("names", "virtual"),
    [
        ({"model": "VirtualMac2,1"}, True),
        ({"chip_name": "Apple M1 (Virtual)"}, True),
        ({"model": "Mac14,9", "uname": UNAME + "ARM64_VMAPPLE arm64"}, True),
        ({"model": "Mac14,9", "chip_name": "Apple M2 Pro"}, False),
        ({}, None),
    ],
)
def test_is_virtual(names, virtual):
    assert chips.is_virtual(**names) is virtual
