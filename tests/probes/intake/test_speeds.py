"""Speeds of the CPU and the GPU are compared in one kind, whatever their unit."""

from __future__ import annotations

import pytest

from mpsdoctor.probes.intake.speeds import beside, compare, names_a_device


@pytest.mark.parametrize(
    ("texts", "ratio"),
    [
        (["cpu 70 it/s, mps 20 it/s"], 20 / 70),
        (["CPU: 117 µs per loop", "MPS: 249 µs per loop"], 117 / 249),
        (["CPU: 117 us ± 3 us", "MPS: 249 us ± 4 us"], 117 / 249),
        (["on the cpu 2 minutes", "on the gpu 30 seconds"], 4.0),
        (["cpu 500 ms", "mps 1,5 s"], 1 / 3),
        (["cpu 1 hour", "mps 30 min"], 2.0),
        (["cpu 2 s/it", "mps 4 s/it"], 0.5),
        (["CPU 30 秒/张，MPS 10 秒/张"], 3.0),
        (["cpu 900 µs", "mps 1 ms"], 0.9),
    ],
)
def test_a_pair_is_found(texts: list[str], ratio: float) -> None:
    found = compare(texts)
    assert found is not None
    assert found.ratio == pytest.approx(ratio, rel=1e-6)


@pytest.mark.parametrize(
    "texts",
    [
        ["cpu 70 it/s, mps 3 s"],  # a rate and a time
        ["cpu 70 it/s"],
        ["mps 70 it/s and then 20 it/s"],
        ["cpu 0 s, mps 3 s"],
        ["cpu 8 cores, gpu 10 cores"],
        ["cpu" + " and so on" * 9 + " 70 it/s, mps 20 it/s"],  # too far from its device
        [],
    ],
)
def test_no_pair_is_made_up(texts: list[str]) -> None:
    assert compare(texts) is None


def test_a_line_counts_only_with_a_device_and_a_number() -> None:
    assert names_a_device("cpu: 3 s")
    assert names_a_device("Metal 20 fps")
    assert not names_a_device("it took 3 s")
    assert not names_a_device("the cpu is fast")
    assert not names_a_device("python3.11 on cpu")


def test_a_number_may_stand_below_its_device() -> None:
    lines = [
        "With Device::Cpu",
        "Time for 1000 iterations 415.461375ms",
        "With Device::Mps",
        "Time 467.140166ms",
        "end",
    ]
    found = compare([text for _, text in beside(list(enumerate(lines, 1)))])
    assert found is not None
    assert found.ratio == pytest.approx(415.461375 / 467.140166)
    assert beside([(1, "on the cpu"), (2, "nothing"), (3, "3 s")]) == []
    assert beside([]) == []
