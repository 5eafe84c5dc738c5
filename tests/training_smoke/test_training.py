"""The networks, their data and the loop: learnable, repeatable, and touching nothing of the process they run in."""

from __future__ import annotations

import sys
from itertools import islice
from typing import Any

import pytest
import torch
from mpsdoctor.training_smoke import (
    devices,
    loop,
    networks,
    numerics,
    operators,
    precision,
    probes,
    sizes,
    train_network,
)

CPU = devices.CpuDevice()
FLOAT32 = precision.plan((2, 13, 0), "cpu", "float32")
HALF = precision.plan((2, 13, 0), "cpu", "float16")
SHAPES = [networks.CnnShape(), networks.LmShape()]
ALL_RUNS = [*sizes.CPU_RUNS, *sizes.CPU_QUICK, *sizes.GPU_RUNS, *sizes.GPU_QUICK]


@pytest.mark.parametrize("run", ALL_RUNS, ids=lambda run: f"{run.shape.name}-{run.steps}")
def test_the_networks_have_0_3_to_2_million_parameters(run: sizes.Run) -> None:
    count = sum(parameter.numel() for parameter in networks.build(run.shape, 0).parameters())
    assert 0.3e6 <= count <= 2.0e6
    assert run.steps * run.batch >= train_network.UNSEEN


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.name)
def test_a_seed_gives_the_same_network_and_data_and_another_seed_others(shape: networks.Shape) -> None:
    def numbers(seed: int) -> list[torch.Tensor]:
        first = next(networks.batches(shape, 4, seed))
        return [*networks.build(shape, seed).parameters(), *first]

    assert all(torch.equal(ours, theirs) for ours, theirs in zip(numbers(1), numbers(1), strict=True))
    assert not all(torch.equal(ours, theirs) for ours, theirs in zip(numbers(1), numbers(2), strict=True))


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.name)
def test_every_parameter_gets_a_gradient_of_substance(shape: networks.Shape) -> None:
    trainer = loop.Trainer(networks.build(shape, 0), CPU, FLOAT32, 1e-3)
    gradients, _ = probes.gradients(trainer, next(networks.batches(shape, 8, 0)))
    assert min(float(value.norm()) for value in gradients.values() if value is not None) > 1e-4
    assert None not in gradients.values()


def test_tokens_can_only_be_told_by_attention() -> None:
    tokens, targets = next(networks.batches(networks.LmShape(vocabulary=8, length=200), 4, 0))
    assert (targets[:, 0] == networks.IGNORED).all()
    # The token before says nothing: given it, every next one occurs; given the one before that, exactly one.
    pairs = set(zip(tokens[:, 1:].flatten().tolist(), targets[:, 1:].flatten().tolist(), strict=True))
    skips = set(zip(tokens[:, :-1].flatten().tolist(), targets[:, 1:].flatten().tolist(), strict=True))
    assert len(skips) == 8
    assert len(pairs) > 16


def test_attention_spelled_out_is_attention(monkeypatch: pytest.MonkeyPatch) -> None:
    q, k, v = (torch.randn(2, 4, 10, 8, generator=torch.Generator().manual_seed(n)) for n in range(3))
    fused = networks.causal_attention(q, k, v)
    monkeypatch.delattr(torch.nn.functional, "scaled_dot_product_attention")  # as before torch 2.0
    assert torch.allclose(networks.causal_attention(q, k, v), fused, atol=1e-5)


def settings() -> list[Any]:
    return [
        torch.get_rng_state().tolist(),
        torch.get_default_dtype(),
        torch.get_num_threads(),
        torch.is_grad_enabled(),
        torch.are_deterministic_algorithms_enabled(),
        torch.is_autocast_enabled(),
        torch.backends.cudnn.allow_tf32,
        torch.backends.cuda.matmul.allow_tf32,
        torch.is_warn_always_enabled(),
    ]


def test_the_global_seed_and_settings_stay_as_they_are() -> None:
    before = settings()
    run = sizes.Run(networks.LmShape(vocabulary=16, width=32, layers=1, length=8), 10, 4, 1e-3, 9.0, 0.0)
    train_network.train_network(run, CPU, HALF, 5, lambda *a, **k: None)
    events: list[str] = []
    numerics.run(CPU, "float16", 0, ["linear", "softmax"], lambda event, **fields: events.append(event))
    assert events == ["table", "step", "measure", "step", "measure"]
    with devices.CudaDevice().exact_float32():
        assert not torch.backends.cudnn.allow_tf32
    assert settings() == before


def test_the_loop_reads_the_device_only_between_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """With float32, where no scaler looks at the gradients, a block of steps never asks for a number."""
    shape = networks.LmShape(vocabulary=16, width=32, layers=1, length=8)
    trainer = loop.Trainer(networks.build(shape, 0), CPU, FLOAT32, 1e-3)
    data = list(islice(networks.batches(shape, 4, 0), 8))
    reads: list[int] = []
    real = torch.Tensor.item

    def item(tensor: torch.Tensor) -> Any:
        # The optimiser counts its steps in tensors of the CPU, whatever the device is.
        if "optim" not in sys._getframe(1).f_code.co_filename:
            reads.append(1)
        return real(tensor)

    monkeypatch.setattr(torch.Tensor, "item", item)
    seen: list[int] = []
    record = loop.train(trainer, data, 4, lambda so_far: seen.append(len(so_far.losses)))
    assert reads == []
    torch.zeros(1).item()
    assert reads == [1]  # it would have been noticed
    assert seen == [4, 8]
    assert (len(record.losses), len(record.step_ms), len(record.memory), len(record.scales)) == (8, 2, 2, 2)


def test_the_loop_stops_when_it_is_told() -> None:
    shape = networks.LmShape(vocabulary=16, width=32, layers=1, length=8)
    trainer = loop.Trainer(networks.build(shape, 0), CPU, FLOAT32, 1e-3)
    data = list(islice(networks.batches(shape, 4, 0), 9))
    assert len(loop.train(trainer, data, 2, lambda so_far: len(so_far.losses) >= 4).losses) == 4


def test_gradients_that_overflow_are_taken_at_a_smaller_scale() -> None:
    shape = networks.LmShape(vocabulary=16, width=32, layers=1, length=8)
    batch = next(networks.batches(shape, 4, 0))
    small, scale = probes.gradients(loop.Trainer(networks.build(shape, 0), CPU, HALF, 1e-3, 2.0**30), batch)
    assert scale < 2.0**30
    plain, _ = probes.gradients(loop.Trainer(networks.build(shape, 0), CPU, FLOAT32, 1e-3), batch)
    for name, value in plain.items():
        assert value is not None
        assert torch.allclose(small[name], value, rtol=0.05, atol=float(value.abs().max()) * 0.02), name


def test_the_reference_of_an_operator_is_not_computed_on_the_device() -> None:
    case = operators.table()["conv2d"]
    assert numerics.evaluate(case, CPU, "float32", 7).outcome == "pass"
