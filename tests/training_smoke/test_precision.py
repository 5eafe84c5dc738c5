"""Mixed precision by release, and the stand-ins for what a release lacks."""

from __future__ import annotations

import pytest
import torch
from mpsdoctor.training_smoke import apis, devices, loop, networks, precision, scalers

RELEASES = [
    "1.12.0", "1.12.1", "1.13.0", "1.13.1", "2.0.0", "2.0.1", "2.1.0", "2.1.2", "2.2.0", "2.2.2", "2.3.0", "2.3.1",
    "2.4.0", "2.4.1", "2.5.0", "2.5.1", "2.6.0", "2.7.0", "2.7.1", "2.8.0", "2.9.1", "2.10.0", "2.11.0", "2.12.1",
    "2.13.0", "2.14.1", "2.15.0",
]  # fmt: skip


@pytest.mark.parametrize("release", RELEASES)
def test_float16_on_mps_by_release(release: str) -> None:
    version = apis.version_of(release)
    plan = precision.plan(version, "mps", "float16")
    assert plan.mode == ("autocast" if version >= (2, 5, 0) else "half-copy")
    assert plan.scaler == ("amp" if version >= (2, 8, 0) else "hand-made")
    assert bool(plan.note) == (plan.scaler == "hand-made")  # what is not torch's own is said


@pytest.mark.parametrize("release", RELEASES)
def test_bfloat16_on_mps_by_release(release: str) -> None:
    version = apis.version_of(release)
    plan = precision.plan(version, "mps", "bfloat16")
    if version < (2, 3, 0):
        assert (plan.mode, plan.cause) == ("none", "bf16-unsupported")
    else:
        assert plan.mode == ("autocast" if version >= (2, 6, 0) else "half-copy")
        assert (plan.scaler, plan.cause) == ("none", None)


@pytest.mark.parametrize("release", RELEASES)
@pytest.mark.parametrize("device", ["cuda", "cpu", "mps"])
def test_float32_needs_nothing(release: str, device: str) -> None:
    plan = precision.plan(apis.version_of(release), device, "float32")
    assert (plan.mode, plan.scaler, plan.cause) == ("float32", "none", None)


def test_scalers_elsewhere() -> None:
    assert precision.plan((2, 2, 2), "cuda", "float16").scaler == "cuda.amp"
    assert precision.plan((2, 3, 0), "cuda", "float16").scaler == "amp"
    assert precision.plan((2, 2, 2), "cpu", "float16").scaler == "hand-made"
    assert precision.plan((2, 13, 0), "cuda", "bfloat16").scaler == "none"


def test_autocast_is_tried_and_not_believed() -> None:
    cpu = torch.device("cpu")
    assert precision.autocast_works(cpu, precision.plan((2, 13, 0), "cpu", "float16"))
    never = precision.Precision("cpu", "float16", "float32", "none")
    assert not precision.autocast_works(cpu, never)


def parameter_with(gradient: float) -> tuple[torch.nn.Parameter, torch.optim.Optimizer]:
    parameter = torch.nn.Parameter(torch.ones(3))
    parameter.grad = torch.full((3,), gradient)
    return parameter, torch.optim.SGD([parameter], lr=1.0)


def test_the_hand_made_scaler_steps_with_unscaled_gradients() -> None:
    scaler = scalers.HandMadeScaler(1024.0)
    parameter, optimizer = parameter_with(512.0)
    scaler.step(optimizer)
    scaler.update()
    assert parameter.tolist() == [0.5] * 3
    assert scaler.get_scale() == 1024.0


@pytest.mark.parametrize("bad", [float("inf"), float("nan")])
def test_the_hand_made_scaler_leaves_a_step_out_and_halves(bad: float) -> None:
    scaler = scalers.HandMadeScaler(1024.0)
    parameter, optimizer = parameter_with(bad)
    scaler.step(optimizer)
    scaler.update()
    assert parameter.tolist() == [1.0] * 3
    assert scaler.get_scale() == 512.0


def test_the_hand_made_scaler_grows_after_good_steps() -> None:
    scaler = scalers.HandMadeScaler(4.0, growth_interval=3)
    for _ in range(3):
        _, optimizer = parameter_with(1.0)
        scaler.step(optimizer)
        scaler.update()
    assert scaler.get_scale() == 8.0


def test_the_hand_made_scaler_agrees_with_torchs_own() -> None:
    def run(make: object) -> list[float]:
        shape = networks.LmShape(vocabulary=16, width=32, layers=1, length=8)
        plan = precision.Precision("cpu", "float16", "autocast", "amp" if make == "amp" else "hand-made")
        trainer = loop.Trainer(networks.build(shape, 3), devices.CpuDevice(), plan, 1e-3, 2.0**12)
        source = networks.batches(shape, 4, 3)
        return loop.train(trainer, [next(source) for _ in range(6)], 3).losses

    assert run("hand-made") == pytest.approx(run("amp"), rel=1e-3)


@pytest.mark.parametrize("shape", [networks.CnnShape(), networks.LmShape(vocabulary=16, width=32, layers=1, length=8)])
def test_a_half_copy_trains_like_autocast(shape: networks.Shape) -> None:
    """What releases without autocast on MPS get: float32 parameters learn from a half-precision copy's gradients."""

    def run(mode: str) -> tuple[list[float], loop.Trainer]:
        plan = precision.Precision("cpu", "float16", mode, "hand-made")
        trainer = loop.Trainer(networks.build(shape, 1), devices.CpuDevice(), plan, 1e-3, 2.0**10)
        source = networks.batches(shape, 8, 1)
        return loop.train(trainer, [next(source) for _ in range(8)], 4).losses, trainer

    half, trainer = run("half-copy")
    assert {parameter.dtype for parameter in trainer.compute.parameters()} == {torch.float16}
    assert {parameter.dtype for parameter in trainer.model.parameters()} == {torch.float32}
    assert half == pytest.approx(run("autocast")[0], rel=0.02)
    assert half[-1] < half[0]
