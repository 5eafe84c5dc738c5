"""The two networks, their sizes, and data that they can learn only if every part of them works.

Parameters and data come from generators of this program on the CPU, so every device starts from the same numbers and
the global seed is left alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Iterator, Tuple, Union

import torch
from torch import nn
from torch.nn import functional

Batch = Tuple[torch.Tensor, torch.Tensor]


@dataclass(frozen=True)
class CnnShape:
    """A convolutional classifier of 3-channel images of ``image`` x ``image`` pixels."""

    channels: tuple[int, int, int] = (16, 32, 64)
    hidden: int = 288
    image: int = 16
    classes: int = 10
    name = "cnn"


@dataclass(frozen=True)
class LmShape:
    """A causal transformer language model of sequences of ``length`` tokens."""

    vocabulary: int = 64
    width: int = 112
    layers: int = 2
    heads: int = 4
    length: int = 24
    name = "transformer"


Shape = Union[CnnShape, LmShape]


class ConvNet(nn.Module):
    """Three convolutions with batch norm, pooling to 4 x 4, two linear layers: (N, 3, S, S) -> (N, classes)."""

    def __init__(self, shape: CnnShape) -> None:
        super().__init__()
        layers: list[nn.Module] = []
        width = 3
        for index, channels in enumerate(shape.channels):
            # No bias before a norm: its gradient would be zero by construction, and gradients are checked for that.
            layers.append(nn.Conv2d(width, channels, 3, stride=1 if index == 0 else 2, padding=1, bias=False))
            layers += [nn.BatchNorm2d(channels), nn.ReLU()]
            width = channels
        self.features = nn.Sequential(*layers)
        self.pool = nn.AdaptiveAvgPool2d(4)
        self.hidden = nn.Linear(16 * width, shape.hidden)
        self.output = nn.Linear(shape.hidden, shape.classes)

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        """Class scores of a batch of images."""
        flat = self.pool(self.features(images)).flatten(1)
        return self.output(functional.relu(self.hidden(flat)))  # type: ignore[no-any-return]


class Attention(nn.Module):
    """Causal self-attention: (N, T, D) -> (N, T, D)."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        # No bias: the one of the keys has no effect on the output, so its gradient is rounding noise.
        self.project = nn.Linear(width, 3 * width, bias=False)
        self.attended = nn.Identity()  # a place for a forward hook to see what attention returned
        self.output = nn.Linear(width, width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Mix positions, each with those before it."""
        batch, length, width = x.shape
        split = self.project(x).view(batch, length, 3, self.heads, width // self.heads).permute(2, 0, 3, 1, 4)
        attended = self.attended(causal_attention(split[0], split[1], split[2]))
        return self.output(attended.transpose(1, 2).reshape(batch, length, width))  # type: ignore[no-any-return]


def causal_attention(query: torch.Tensor, key: torch.Tensor, value: torch.Tensor) -> torch.Tensor:
    """softmax(QK' / sqrt(d), masked) V over (N, heads, T, d): torch's own operator from 2.0 on, spelled out before."""
    fused = getattr(functional, "scaled_dot_product_attention", None)
    if fused is not None:
        result: torch.Tensor = fused(query, key, value, is_causal=True)
        return result
    scores = query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5
    steps = torch.arange(query.shape[-2], device=query.device)
    future = steps[None, :] > steps[:, None]
    weights: torch.Tensor = scores.masked_fill(future, float("-inf")).softmax(-1)
    return weights @ value


class Block(nn.Module):
    """A pre-norm transformer block."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.norm_attention = nn.LayerNorm(width)
        self.attention = Attention(width, heads)
        self.norm_mlp = nn.LayerNorm(width)
        self.expand = nn.Linear(width, 4 * width)
        self.contract = nn.Linear(4 * width, width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Attention, then a two-layer perceptron, each added to its input."""
        x = x + self.attention(self.norm_attention(x))
        return x + self.contract(functional.gelu(self.expand(self.norm_mlp(x))))  # type: ignore[no-any-return]


class LanguageModel(nn.Module):
    """A decoder-only transformer with learned positions: (N, T) tokens -> (N, T, vocabulary)."""

    def __init__(self, shape: LmShape) -> None:
        super().__init__()
        self.tokens = nn.Embedding(shape.vocabulary, shape.width)
        self.positions = nn.Parameter(torch.zeros(shape.length, shape.width))
        self.blocks = nn.ModuleList([Block(shape.width, shape.heads) for _ in range(shape.layers)])
        self.norm = nn.LayerNorm(shape.width)
        self.output = nn.Linear(shape.width, shape.vocabulary)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        """Scores of the next token at every position."""
        x = self.tokens(tokens) + self.positions
        for block in self.blocks:
            x = block(x)
        return self.output(self.norm(x))  # type: ignore[no-any-return]


def build(shape: Shape, seed: int) -> nn.Module:
    """A network of that shape on the CPU in float32, its parameters drawn from ``seed``."""
    with torch.random.fork_rng(devices=[]):  # torch's own initialisation draws from the global generator
        model: nn.Module = ConvNet(shape) if isinstance(shape, CnnShape) else LanguageModel(shape)
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if "norm" in name or (name.startswith("features") and parameter.dim() == 1):
                continue  # ones and zeros, as torch left them
            if name in ("tokens.weight", "positions"):
                deviation = 0.3  # large enough that attention finds positions within a few dozen steps
            elif parameter.dim() == 1:
                deviation = 0.1  # biases are not zero, so that a dropped one shows
            else:
                deviation = (2.0 if isinstance(shape, CnnShape) else 1.0) ** 0.5 / parameter[0].numel() ** 0.5
            parameter.copy_(torch.randn(parameter.shape, generator=generator) * deviation)
    return model


def batches(shape: Shape, size: int, seed: int) -> Iterator[Batch]:
    """Endless batches of ``size`` examples of the task that belongs to ``seed``, on the CPU."""
    generator = torch.Generator().manual_seed(seed)
    if isinstance(shape, CnnShape):
        return _image_batches(shape, size, generator)
    return _token_batches(shape, size, generator)


def _image_batches(shape: CnnShape, size: int, generator: torch.Generator) -> Iterator[Batch]:
    """Ten smooth random pictures, each shown shifted by up to two pixels under noise."""
    coarse = torch.randn(shape.classes, 3, shape.image // 4, shape.image // 4, generator=generator)
    pictures = functional.interpolate(coarse, scale_factor=4.0, mode="bilinear", align_corners=False)
    pictures = pictures / pictures.std()
    while True:
        labels = torch.randint(0, shape.classes, (size,), generator=generator)
        shift = torch.randint(-2, 3, (2,), generator=generator).tolist()
        images = torch.roll(pictures[labels], (int(shift[0]), int(shift[1])), (2, 3))
        yield images + 0.5 * torch.randn(images.shape, generator=generator), labels


def _token_batches(shape: LmShape, size: int, generator: torch.Generator) -> Iterator[Batch]:
    """Each token follows from the one two places back: only attention to another position can tell it."""
    successor = torch.randperm(shape.vocabulary, generator=generator)
    while True:
        tokens = torch.randint(0, shape.vocabulary, (size, shape.length + 1), generator=generator)
        for position in range(2, shape.length + 1):
            tokens[:, position] = successor[tokens[:, position - 2]]
        targets = tokens[:, 1:].clone()
        targets[:, 0] = IGNORED  # the second token is drawn at random
        yield tokens[:, :-1].contiguous(), targets


IGNORED = -100  # cross_entropy's own default for targets that do not count


def loss_of(scores: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
    """The mean cross entropy, computed in float32 from (..., classes) scores."""
    return functional.cross_entropy(scores.float().flatten(0, -2), targets.flatten(), ignore_index=IGNORED)


def correct_share(scores: torch.Tensor, targets: torch.Tensor) -> float:
    """The share of counting targets that the scores predict (reads from the device)."""
    counted = targets != IGNORED
    hits = (scores.argmax(-1) == targets) & counted
    return float(hits.sum().item()) / max(1, int(counted.sum().item()))
