"""What timings mean, and that they are taken as said."""

from __future__ import annotations

import time
from typing import Any

import pytest
from mpsdoctor.training_smoke import sizes, speed, speed_verdict
from mpsdoctor.training_smoke.devices import CpuDevice
from mpsdoctor.training_smoke.networks import LmShape
from mpsdoctor.training_smoke.speed_verdict import Timing


def timing(
    name: str, cpu: float, device: float, half: float | None = None, should_win: bool = True, noise: float = 0.0
) -> Timing:
    wobble = (1.0 - noise, 1.0, 1.0 + noise)
    return Timing(
        name,
        32,
        should_win,
        cpu_ms=(cpu, cpu, cpu),
        device_ms=tuple(device * w for w in wobble),
        full_ms=tuple(device * w for w in wobble),
        half_ms=() if half is None else (half,) * 3,
        first_ms=device * 20,
    )


def test_ratios_and_spread() -> None:
    one = timing("cnn medium", 100.0, 25.0, half=20.0, noise=0.2)
    assert one.ratio == pytest.approx(4.0)
    assert one.spread == pytest.approx((4.0 / 0.8 - 4.0 / 1.2) / 2 / 4.0)
    assert one.half_gain == pytest.approx(1.25)
    assert one.as_json() == {
        "name": "cnn medium", "batch": 32, "cpu_ms": 100.0, "device_ms": 25.0, "ratio": 4.0, "spread": 0.2083,
        "half_ms": 20.0, "first_step_ms": 500.0,
    }  # fmt: skip


def test_where_the_device_is_the_cpu_there_is_no_ratio() -> None:
    own = Timing("cnn tiny", 8, False, full_ms=(5.0, 6.0, 5.5), half_ms=(50.0, 55.0, 52.0))
    told = own.as_json()
    assert (told["cpu_ms"], told["device_ms"], told["ratio"]) == (5.5, None, None)
    assert speed_verdict.verdict([own], "cpu") == "not compared"
    assert speed_verdict.crossover([own]) is None


def test_the_crossover_lies_between_the_last_loss_and_the_first_win() -> None:
    sweep = [timing("cnn a", 1.0, 2.0), timing("cnn b", 4.0, 2.0), timing("cnn c", 40.0, 4.0)]
    # The ratio goes from 0.5 to 2 while the time goes from 1 to 4: it is 1 half-way in logarithms, at 2 ms.
    assert speed_verdict.crossover(sweep) == pytest.approx(2.0)
    assert speed_verdict.crossover(sweep[1:]) is None  # it always wins
    assert speed_verdict.crossover([timing("cnn a", 1.0, 2.0)]) is None


def test_the_gain_of_half_precision_is_that_of_large_sizes() -> None:
    sweep = [
        timing("cnn a", 1.0, 1.0, half=4.0),
        timing("cnn b", 9.0, 3.0, half=2.0),
        timing("cnn c", 90.0, 10.0, half=5.0),
    ]
    assert speed_verdict.half_gain(sweep) == pytest.approx((1.5 + 2.0) / 2)
    assert speed_verdict.half_gain([timing("cnn a", 1.0, 1.0)]) is None


def problems(sweep: list[Timing], device: str = "mps", context: dict[str, Any] | None = None) -> list[Any]:
    return speed_verdict.speed_problems(sweep, device, context or {})


def test_a_device_that_wins_has_no_problem() -> None:
    sweep = [timing("cnn tiny", 1.0, 3.0, should_win=False), timing("cnn large", 300.0, 60.0)]
    assert problems(sweep) == []
    assert speed_verdict.verdict(sweep, "mps") == "up to 5.0 times as fast as the CPU (cnn large); in the usual range"
    assert speed_verdict.verdict(sweep, "cuda") == "up to 5.0 times as fast as the CPU (cnn large)"


def test_small_sizes_may_lose() -> None:
    assert problems([timing("cnn tiny", 1.0, 9.0, should_win=False), timing("cnn small", 5.0, 9.0)]) == []
    assert speed_verdict.verdict([timing("cnn small", 5.0, 9.0)], "mps").startswith("undecided")


def test_a_large_size_that_loses_is_a_problem() -> None:
    sweep = [timing("cnn large", 50.0, 500.0), timing("transformer large", 90.0, 30.0)]
    [problem] = problems(sweep)
    assert (problem.check, problem.subject, problem.cause) == ("slower-than-cpu", "cnn large", "mps-slower-than-cpu")
    assert "0.1 times" in problem.text
    assert "slower than the CPU" in speed_verdict.verdict(sweep, "mps")
    assert problems(sweep, device="cuda")[0].cause is None


def test_a_loss_within_the_spread_is_no_problem() -> None:
    assert problems([timing("cnn large", 50.0, 52.0, noise=0.1)]) == []
    assert problems([timing("cnn large", 50.0, 80.0, noise=0.1)]) != []


def test_below_the_usual_range_is_said_and_passes() -> None:
    sweep = [timing("cnn large", 100.0, 60.0)]
    assert problems(sweep) == []
    assert "below the usual range at cnn large" in speed_verdict.verdict(sweep, "mps")


@pytest.mark.parametrize(
    ("context", "words"),
    [
        ({"low_power_mode": True}, ["low-power mode is on"]),
        ({"thermal": "serious", "battery": True}, ["the Mac reports thermal pressure", "the Mac runs on battery"]),
        ({"swap": 12.5}, ["the Mac is swapping"]),
        ({"low_power_mode": False, "thermal": "Nominal", "battery": False, "swap": 0, "virtual_machine": True}, []),
        ({"low_power_mode": None}, []),
    ],
)
def test_a_slow_result_is_explained_by_what_the_caller_saw(context: dict[str, Any], words: list[str]) -> None:
    assert speed_verdict.explanations(context) == words
    [problem] = problems([timing("cnn large", 50.0, 500.0)], context=context)
    assert all(word in problem.text for word in words)


class Counted(CpuDevice):
    name = "mps"

    def __init__(self) -> None:
        self.synchronised = 0

    @property
    def torch_device(self) -> Any:
        return CpuDevice().torch_device

    def synchronise(self) -> None:
        self.synchronised += 1


TINY = sizes.SpeedSize("transformer tiny", LmShape(16, 32, 1, 2, 8), 4)


def test_measuring_interleaves_synchronises_and_keeps_to_its_budget() -> None:
    device = Counted()
    begun = time.perf_counter()
    taken = speed.measure(TINY, device, "float32", 0, 1.0)
    assert time.perf_counter() - begun < 8.0
    assert speed.LEAST_ROUNDS <= len(taken.cpu_ms) == len(taken.device_ms) <= speed.ROUNDS
    assert taken.half_ms == ()
    # Before and after the first step, the warm-up steps, and each turn with the steps before it.
    assert device.synchronised >= 2 * (2 + 2 * len(taken.device_ms))
    assert device.synchronised % 2 == 0
    assert taken.ratio is not None
    assert min(taken.cpu_ms + taken.device_ms) > 0.0


def test_the_sweep_has_sizes_that_a_gpu_must_win_and_one_it_need_not() -> None:
    for sweep in (sizes.SPEED_SIZES, sizes.SPEED_QUICK):
        assert {size.should_win for size in sweep} == {True, False}
        assert all(size.batch >= 16 for size in sweep if size.should_win)
        assert {size.name.split()[0] for size in sweep if size.should_win} == {"cnn", "transformer"}
        assert {size.name.split()[0] for size in sweep} == speed_verdict.USUAL.keys()
