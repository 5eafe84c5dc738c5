"""Environment variables that change what torch does on a Mac, and what a value does in which release."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from . import versions
from ._variable import Variable, nearest, variable, variables

__all__ = ["OUTCOMES", "Judgement", "Variable", "judge", "nearest", "variable", "variables"]

OUTCOMES = ("ok", "ineffective", "harmful", "invalid")
HIGH, LOW = "PYTORCH_MPS_HIGH_WATERMARK_RATIO", "PYTORCH_MPS_LOW_WATERMARK_RATIO"
# Defaults and bounds of the ratios: disassembly of setHighWatermarkRatio and setLowWatermarkRatio.
DEFAULT_HIGH, DEFAULT_LOW, MOST_RATIO = 1.7, 1.4, 2.0
_INT_MAX = 2**31 - 1
_MEANT_OFF = {"", "0", "false", "off", "no", "n", "f"}
# What LLVM's OpenMP runtime takes for true.
_OPENMP_TRUE = {"1", "t", "true", "on", "y", "yes", ".t.", ".true."}


@dataclass(frozen=True)
class Judgement:
    """``ok``, ``ineffective`` (changes nothing), ``harmful`` (works, at a price), or ``invalid`` (torch refuses it).

    ``cause`` is a slug of the vocabulary, and None where nothing is wrong.
    """

    outcome: str
    why: str
    remedy: str = ""
    cause: str | None = None


def judge(name: str, value: str, torch_version: str | None, others: Mapping[str, str]) -> Judgement:
    """What ``name=value`` does in torch ``torch_version``; ``others`` is the rest of the environment.

    Where the version is not known, or is a nightly on a turning point, only what holds either way is said.
    """
    known = variable(name)
    if known is None:
        return _unknown(name)
    if known.read_by == "nobody":
        return _idle(f"No release of torch reads {name}.", f"unset {name}")
    if known.read_by == "torch" and known.since and versions.at_least(torch_version, known.since) is False:
        return _idle(f"torch {torch_version} does not read {name}; it came with {known.since}.", f"unset {name}")
    return _RULES[known.kind](known, value, torch_version, others)


def _unknown(name: str) -> Judgement:
    if "PYTORCH" not in name or "MPS" not in name:
        return Judgement("ok", f"Nothing is known of {name}.")
    meant = nearest(name)
    remedy = f"Did you mean {meant.name}?" if meant else f"unset {name}"
    return _idle(f"No known release of torch reads {name}.", remedy)


def _idle(why: str, remedy: str) -> Judgement:
    return Judgement("ineffective", why, remedy, "env-var-ineffective")


def _contrary(one: Variable, value: str, off: str) -> Judgement:
    why = f"{one.name}={value} switches it on, though it reads like off."
    return Judgement("harmful", why, f"To switch it off: {off}", "env-var-ineffective")


def _fallback(one: Variable, value: str, torch: str | None, _: Mapping[str, str]) -> Judgement:
    newer = versions.at_least(torch, "2.8.0")
    number = re.match(r"\s*([+-]?\d+)", value)
    readable = number is not None and abs(int(number[1][:12])) <= _INT_MAX
    if newer is not True and not readable:
        stops = "torch up to 2.7.1 reads it as a number, and stops while it loads because this is none."
        return Judgement("invalid", stops, f"{one.name}=1, or unset it", "env-var-ineffective")
    if value == "0" or (newer is False and number is not None and int(number[1]) == 0):
        return Judgement("ok", "The fallback is off.")
    if value.strip().lower() in _MEANT_OFF:
        return _contrary(one, value, f"unset {one.name}")
    return Judgement("ok", "Operators without an MPS kernel run on the CPU: slower, with one warning a process.")


def _high_watermark(one: Variable, value: str, _: str | None, others: Mapping[str, str]) -> Judgement:
    ratio, low = _ratio(value), _ratio(others.get(LOW, ""))
    low = DEFAULT_LOW if low is None else low
    both = f"unset {HIGH}; or set {LOW} as well, not above it"
    if ratio is None or not 0 <= ratio <= MOST_RATIO:
        return Judgement("invalid", "It must be a number from 0 to 2.", f"unset {HIGH}", "watermark-env-var-invalid")
    if ratio == 0:
        gone = "It takes the limit away: one allocation too many can stop the whole Mac."
        return Judgement("harmful", gone, f"unset {HIGH}", "watermark-env-var-invalid")
    if ratio < low:
        refused = f"torch refuses it: 'invalid low watermark ratio {low:g}', because the low ratio is {low:g}."
        return Judgement("invalid", refused, both, "watermark-env-var-invalid")
    return Judgement("ok", f"The allocator may use {ratio:g} times the recommended working set.")


def _low_watermark(one: Variable, value: str, _: str | None, others: Mapping[str, str]) -> Judgement:
    ratio, high = _ratio(value), _ratio(others.get(HIGH, ""))
    most = DEFAULT_HIGH if high is None else high or MOST_RATIO
    if ratio is None or not 0 <= ratio <= most:
        why = f"It must be a number from 0 to the high ratio, here {most:g}."
        return Judgement("invalid", why, f"unset {LOW}", "watermark-env-var-invalid")
    return Judgement("ok", f"The allocator collects garbage from {ratio:g} times the recommended working set on.")


_OFF = frozenset({"", "0"})


def _bitmask(one: Variable, value: str, torch: str | None, others: Mapping[str, str]) -> Judgement:
    if value.strip() in _OFF:
        return Judgement("ok", "It is switched off.")
    if not re.fullmatch(r"\d{1,9}", value.strip()) or int(value) & ~one.most:
        return Judgement("invalid", f"It is a number: {one.values}.", f"unset {one.name}", "env-var-ineffective")
    debug = one.name == "PYTORCH_DEBUG_MPS_ALLOCATOR"
    if (
        debug
        and versions.at_least(torch, "2.13.0")
        and others.get("TORCH_CPP_LOG_LEVEL", "").upper() not in {"INFO", "0"}
    ):
        return _idle(
            "From torch 2.13 on its output goes to torch's log, which does not show it.", "TORCH_CPP_LOG_LEVEL=INFO"
        )
    if one.name == "PYTORCH_MPS_TRACE_SIGNPOSTS" and int(value) & 4:
        return Judgement("harmful", "The bit 4 makes the GPU wait for each operation.", f"Leave the 4 out of {value}.")
    return Judgement("ok", f"{one.means} {one.hazard}")


def _presence(one: Variable, value: str, _: str | None, __: Mapping[str, str]) -> Judgement:
    if value.strip().lower() in _MEANT_OFF:
        return _contrary(one, value, f"unset {one.name}")
    return Judgement("ok", f"{one.means} {one.hazard}")


def _switch(one: Variable, value: str, _: str | None, __: Mapping[str, str]) -> Judgement:
    if value == "0":
        return Judgement("ok", "It is off.")
    if value.strip().lower() in _MEANT_OFF:
        return _contrary(one, value, f"unset {one.name}")
    if one.harmful_on:
        return Judgement("harmful", one.hazard, f"unset {one.name}", "fp16-numerics-nan")
    return Judgement("ok", f"{one.means} {one.hazard}")


def _choice(one: Variable, value: str, _: str | None, __: Mapping[str, str]) -> Judgement:
    if value in one.choices:
        return Judgement("ok", f"{one.means} {one.hazard}")
    return _idle(f"torch ignores it with a warning: the value is none of {one.values}.", f"{one.name}={one.choices[0]}")


def _capture(one: Variable, value: str, _: str | None, __: Mapping[str, str]) -> Judgement:
    if value.strip() in _OFF:
        return Judgement("ok", "It is switched off.")
    if value == "1":
        return Judgement("ok", f"{one.means} {one.hazard}")
    return _idle("It is asked for by the value 1.", f"{one.name}=1")


def _duplicate_openmp(one: Variable, value: str, _: str | None, __: Mapping[str, str]) -> Judgement:
    if value.strip().lower() not in _OPENMP_TRUE:
        return Judgement("ok", "A second OpenMP runtime ends the process, as it should.")
    return Judgement("harmful", one.hazard, "Take all packages from one source and unset it.", "duplicate-openmp")


def _threads(one: Variable, value: str, _: str | None, __: Mapping[str, str]) -> Judgement:
    if not value.strip():
        return Judgement("ok", "It is empty, which counts as not set.")
    if all(re.fullmatch(r"\s*\+?0*[1-9]\d{0,8}\s*", part) for part in value.split(",")):
        return Judgement("ok", f"{one.means} {one.hazard}" if value.strip() == "1" else one.means)
    return Judgement("invalid", f"It must be {one.values}.", f"unset {one.name}", "env-var-ineffective")


def _compat(one: Variable, value: str, _: str | None, __: Mapping[str, str]) -> Judgement:
    if value == "1":
        why = "Programs are told that macOS is 10.16, and installers and torch take it for too old."
        return Judgement("harmful", why, f"unset {one.name}", "macos-version-misreported")
    return Judgement("ok", "Programs are told the true version of macOS." if value == "0" else one.means)


def _ratio(value: str) -> float | None:
    try:
        found = float(value)
    except ValueError:
        return None
    return found if math.isfinite(found) else None


_Rule = Callable[[Variable, str, "str | None", Mapping[str, str]], Judgement]
_RULES: dict[str, _Rule] = {
    "fallback": _fallback,
    "high-watermark": _high_watermark,
    "low-watermark": _low_watermark,
    "bitmask": _bitmask,
    "presence": _presence,
    "switch": _switch,
    "choice": _choice,
    "capture": _capture,
    "duplicate-openmp": _duplicate_openmp,
    "threads": _threads,
    "compat": _compat,
}
