"""The proof for people: one line a stage, the speed sweep as bars, one sentence. Pure."""

from __future__ import annotations

import textwrap

from rich.text import Text

from mpsdoctor.facts import Smoke, SmokeStage, SpeedCase
from mpsdoctor.report.words import printable

_SIGNS = {"pass": "✓", "fail": "✗", "crash": "✗", "stalled": "✗", "skip": "·"}
_STYLES = {"pass": "green", "skip": "dim"}
_LABEL = 11
_BAR = 20  # columns of the longest bar
_NAMES = {"mps": "This GPU", "cuda": "This CUDA GPU", "cpu": "This CPU"}


def format_smoke(smoke: Smoke, width: int = 80) -> list[Text]:
    """Return the lines for one smoke run."""
    lines: list[Text] = []
    for stage in smoke.stages or ():
        lines += _stage(stage, width)
        if stage.stage == "speed":
            lines += _speed(smoke)
    return [*lines, *_sentence(smoke, width)]


def _stage(stage: SmokeStage, width: int) -> list[Text]:
    sign, style = _SIGNS.get(stage.outcome, "?"), _STYLES.get(stage.outcome, "bold red")
    first = Text(f"  {stage.stage:<{_LABEL}}")
    first.append(f"{sign} ", style=style)
    words = stage.detail or stage.outcome
    if stage.outcome in ("crash", "stalled"):
        words = f"{'it died' if stage.outcome == 'crash' else 'it hung'}: {words}"
    parts = textwrap.wrap(printable(words), max(20, width - _LABEL - 4)) or [""]
    first.append(parts[0], style="none")
    return [first, *(Text(" " * (_LABEL + 4) + part) for part in parts[1:])]


def _speed(smoke: Smoke) -> list[Text]:
    cases = [case for case in (smoke.speed.cases if smoke.speed else None) or () if case.ratio is not None]
    if not cases:
        return []
    widest = max(len(_case_name(case)) for case in cases)
    largest = max(case.ratio or 0.0 for case in cases)
    lines = []
    for case in cases:
        ratio = case.ratio or 0.0
        line = Text(" " * (_LABEL + 4) + f"{_case_name(case):<{widest}}  {ratio:5.1f}x  ")
        line.append("▇" * max(1, round(_BAR * ratio / largest)), style="green" if ratio >= 1 else "yellow")
        lines.append(line)
    gain = smoke.speed.fp16_gain if smoke.speed else None
    if gain is not None:
        lines.append(Text(" " * (_LABEL + 4) + f"{smoke.dtype} is {gain:.1f}x as fast as float32", style="dim"))
    return lines


def _case_name(case: SpeedCase) -> str:
    return f"{case.name} (batch {case.batch})" if case.batch else case.name


def _sentence(smoke: Smoke, width: int) -> list[Text]:
    name = _NAMES.get(smoke.device or "", str(smoke.device))
    failed = [stage for stage in smoke.stages or () if stage.outcome in ("fail", "crash", "stalled")]
    if smoke.outcome == "pass":
        ratios = [case.ratio for case in (smoke.speed.cases if smoke.speed else None) or () if case.ratio is not None]
        fast = f", {max(ratios):.1f} times as fast as the CPU" if ratios else ""
        return _wrapped(f"✓ {name} trains in {smoke.dtype}{fast}.", "bold green", width)
    if smoke.outcome == "fail" and failed and "No module named 'torch'" in (failed[0].detail or ""):
        text = "? Nothing was proved: torch is not installed for this interpreter; choose another with --python."
        return _wrapped(text, "cyan", width)
    if smoke.outcome == "fail" and failed:
        cause = f" Cause: {failed[0].cause}." if failed[0].cause else ""
        return _wrapped(f"✗ {name} does not pass: the stage {failed[0].stage} failed.{cause}", "bold red", width)
    first = next(iter(smoke.stages or ()), None)
    why = (failed[0].detail if failed else first.detail if first else None) or "no stage could decide"
    return _wrapped(f"? Nothing was proved: {why}.", "cyan", width)


def _wrapped(text: str, style: str, width: int) -> list[Text]:
    parts = textwrap.wrap(printable(text), width, subsequent_indent="  ")
    return [Text(part, style=style) for part in parts]
