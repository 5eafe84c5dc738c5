"""Ten megabytes of log take about a second to read, whatever stands in them, and lose nothing that decides."""

from __future__ import annotations

import random
import time

import pytest

from mpsdoctor.probes.intake import large, read_ticket
from mpsdoctor.probes.intake.text import LONGEST_LINE

SIZE = 10_000_000
SECONDS = 2.0
NOMINAL = 0.055  # seconds that `turns` takes on the machine that the limit was set for
MESSAGE = "RuntimeError: Placeholder storage has not been allocated on MPS device!"


def turns() -> float:
    """The time of a fixed piece of work: a slow or loaded machine gets a longer limit, in proportion."""
    taken = []
    for _ in range(3):
        started = time.thread_time()
        total = 0
        for number in range(1_000_000):
            total += number & 7
        taken.append(time.thread_time() - started)
    return min(taken)


def training(size: int) -> str:
    """Lines of a training run that all differ."""
    rng = random.Random(0)
    words = ("loss", "torch", "mps", "step", "epoch", "lr", "macOS", "grad", "cache")
    line = "2026-12-01 10:00:00 INFO {} {:.6f} /Users/me/run/{:016x}.pt\n"
    count = size // 90
    return "".join(
        line.format(" ".join(rng.choices(words, k=6)), rng.random(), rng.getrandbits(64)) for _ in range(count)
    )


LOGS = {
    "a training run": training(SIZE),
    "one message a hundred thousand times": f"{MESSAGE}\n" * (SIZE // len(MESSAGE)),
    "errors that all differ": "".join(f"ValueError: number {n} is none of mine\n" for n in range(SIZE // 40)),
    "one line": "epoch 12 loss 0.123 " * (SIZE // 20),
    "one word": "a" * SIZE,
    "Chinese": "第三轮训练，损失值零点一二三，设备是苹果芯片的显卡\n" * (SIZE // 75),
    "short lines": "x\n" * (SIZE // 4),
    "JSON that does not end": '[{"a": 1},\n' * (SIZE // 12),
    "brackets": "[" * (SIZE // 2),
}


@pytest.mark.parametrize("name", LOGS)
def test_a_long_log_is_read_soon(name: str) -> None:
    data = f"{LOGS[name]}\n{MESSAGE}\n".encode()
    allowed = SECONDS * max(1.0, turns() / NOMINAL)
    started = time.thread_time()
    facts, _ = read_ticket(data)
    taken = time.thread_time() - started
    assert taken < allowed, f"{taken:.2f} s of {allowed:.2f}"
    assert facts.messages.get("placeholder-storage") is not None


def test_the_last_line_keeps_its_number() -> None:
    whole = training(large.LARGE * 2) + MESSAGE
    facts, problems = read_ticket(whole.encode())
    found = facts.messages.get("placeholder-storage")
    assert found is not None
    assert found.line == whole.count("\n") + 1
    assert "this log is long" in problems[0]


def test_a_message_in_the_midst_of_much_else_is_kept_with_what_stands_around_it() -> None:
    lines = [f"step {number}" for number in range(90_000)]
    lines[45_000:45_000] = ["before it", MESSAGE, "behind it"]
    kept = dict(large.reduce(lines))
    assert [kept[number] for number in (45_001, 45_002, 45_003)] == ["before it", MESSAGE, "behind it"]
    assert len(kept) < 1_000
    assert all(lines[number - 1] == line for number, line in kept.items())


def test_both_ends_of_a_log_are_kept_and_equal_lines_once() -> None:
    lines = ["first", *["RuntimeError: the same"] * 50_000, "last"]
    kept = dict(large.reduce(lines))
    assert kept[1] == "first"
    assert kept[len(lines)] == "last"
    assert len(kept) < 1_000


def test_only_lines_longer_than_any_message_are_broken() -> None:
    assert large.split_large("short " * 100) == "short " * 100
    wide = "x" * (3 * LONGEST_LINE)
    assert large.split_large(wide).replace("\n", "") == wide
    assert max(map(len, large.split_large(wide).split("\n"))) <= LONGEST_LINE
    lined = f"a line\n{wide}"
    assert large.split_large(lined) == lined
