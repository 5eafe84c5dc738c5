"""What people tell in their own words, where nothing stronger decides; and what to ask where nothing does at all."""

from collections.abc import Callable, Mapping

from mpsdoctor import Claim, Evidence, Facts, Remedy, Verdict, check, fail, skip, unknown, warn
from mpsdoctor.knowledge import causes, known_bad, releases, symptoms, versions

from ._reported import (
    ASK_HARDWARE,
    ASK_MACOS,
    ASK_PYTHON,
    ASK_TORCH,
    NOTHING,
    POSSIBLE,
    known,
    runs_x86,
    torch_version,
    x86_cause,
)

_BAD = "known-bad-torch-release"
_COLLECT = "python -m torch.utils.collect_env, and the whole error or what was expected and what came instead"
_VAGUE = ("crash", "hang", "slow", "cpu-only", "nightly")


@check(
    "PR180",
    family="program",
    needs=("HW101",),
    explained_by=("HW102", "CI201", "PR117"),
    last_resort=True,
)
def symptoms_have_an_explanation(facts: Facts) -> Verdict:
    """The symptoms that are told in prose point to nothing.

    Tested: symptoms in the languages of the ticket (black images, NaN, slower than the CPU, CUDA asked for, a package
    that does not install), held against the versions, the macOS and the chip that are told.

    Why: many people send no message, but a description. It suggests a cause and proves none.

    What to do: see the remedy, and send what the ask names, which decides.

    Source: public tickets in English, Chinese, Japanese and German, read for how people name a symptom.
    """
    for claim in _telling_first(facts.messages.claims or ()):
        cause = _cause(facts, claim)
        if cause is not None:
            return _suspect(facts, claim, cause)
    return NOTHING


def _telling_first(claims: tuple[Claim, ...]) -> list[Claim]:
    order = {row.id: place for place, row in enumerate(symptoms.symptoms())}
    return sorted(claims, key=lambda claim: (claim.id in _VAGUE, order.get(claim.id, len(order))))


def _cause(facts: Facts, claim: Claim) -> str | None:
    decide = _DECIDE.get(claim.id)
    if decide is not None:
        return decide(facts)
    row = symptoms.symptom(claim.id)
    return row.causes[0] if row and row.causes else None


def _bad_pair(facts: Facts, *effects: str) -> known_bad.KnownBad | None:
    host = facts.host
    rows = known_bad.matching(torch_version(facts), host.macos_version, virtual=host.is_virtual, chip=host.chip)
    return next((row for row in rows if row.effect in effects), None)


def _wrong_image(facts: Facts) -> str | None:
    row = _bad_pair(facts, "wrong-results")
    return row.cause if row and row.severity != "note" else None


def _after_macos(facts: Facts) -> str:
    return _wrong_image(facts) or "macos-os-regression"


def _nan(facts: Facts) -> str:
    return _wrong_image(facts) or "fp16-numerics-nan"


def _black(facts: Facts) -> str:
    return _wrong_image(facts) or "fp16-numerics-nan"


def _garbled(facts: Facts) -> str:
    return _wrong_image(facts) or _BAD


def _crash(facts: Facts) -> str | None:
    row = _bad_pair(facts, "crash", "wrong-results")
    nightly = releases.nightly(torch_version(facts) or "") is not None or _has(facts, "nightly")
    return _BAD if (row and row.severity != "note") or nightly else None


def _cuda(facts: Facts) -> str:
    running, version = versions.macos(facts.host.macos_version), torch_version(facts)
    floor = releases.floor_for(version) if version else None
    if running and floor and not versions.macos_in(running, floor.version, None):
        return "macos-too-old-for-torch"
    return "cuda-call-on-mac"


def _no_build(facts: Facts) -> str:
    if runs_x86(facts):
        return x86_cause(facts)
    return "python-version-no-wheel"


def _cpu_only(facts: Facts) -> str | None:
    if runs_x86(facts):
        return x86_cause(facts)
    if facts.torch.available:
        return "app-device-check-bug"
    return "wrong-interpreter" if facts.torch.available is False else "app-device-check-bug"


def _bfloat(facts: Facts) -> str:
    return x86_cause(facts) if runs_x86(facts) else "bf16-unsupported"


def _hang(facts: Facts) -> str | None:
    memory = facts.host.memory_bytes
    return "mps-out-of-memory" if memory is not None and memory <= 16 << 30 else None


def _lost(facts: Facts) -> str | None:
    """A raised floor between two releases takes MPS away from an older macOS."""
    claim = facts.messages.claim("mps-lost-by-upgrade")
    parts = (claim.values if claim else None) or {}
    running = versions.macos(facts.host.macos_version)
    floor = releases.floor_for(parts.get("newer") or torch_version(facts) or "")
    before = releases.floor_for(parts.get("older") or "")
    new_enough = floor is not None and running is not None and versions.macos_in(running, floor.version, None)
    equal = floor is not None and before is not None and floor.version == before.version
    return None if new_enough or equal or runs_x86(facts) else "macos-too-old-for-torch"


def _nothing(facts: Facts) -> None:
    return None


_DECIDE: Mapping[str, Callable[[Facts], str | None]] = {
    "x86-python-told": x86_cause,
    "after-macos-update": _after_macos,
    "nan": _nan,
    "black-image": _black,
    "garbled-image": _garbled,
    "wrong-results": _garbled,
    "gibberish": _black,
    "crash": _crash,
    "cuda-wanted": _cuda,
    "no-torch-build": _no_build,
    "cpu-only": _cpu_only,
    "bfloat-refused": _bfloat,
    "mps-lost-by-upgrade": _lost,
    "hang": _hang,
    "nightly": _nothing,
}


def _has(facts: Facts, *ids: str) -> bool:
    return facts.messages.claim(*ids) is not None


def _suspect(facts: Facts, claim: Claim, cause: str) -> Verdict:
    explained = causes.cause(cause)
    place = f"line {claim.line} (told)" if claim.line else ""
    evidence = [Evidence(f"messages.claims.{claim.id}", claim.text, place)]
    evidence += known(facts, "host.chip", "host.macos_version", "torch.version")
    remedies = [Remedy("  ".join(explained.what_to_do[:2]))] if explained else []
    detail = explained.means if explained else cause
    return fail(detail, evidence, remedies, cause=cause, confidence=POSSIBLE, ask=_missing(facts) or [_COLLECT])


def _missing(facts: Facts) -> list[str]:
    """The commands that show what the ticket does not tell of the chain, most fundamental first."""
    asks = []
    if facts.host.is_apple_silicon is None:
        asks.append(ASK_HARDWARE)
    if facts.host.macos_version is None:
        asks.append(ASK_MACOS)
    if facts.interpreter.version is None or facts.interpreter.is_x86_64 is None:
        asks.append(ASK_PYTHON)
    if torch_version(facts) is None:
        asks.append(ASK_TORCH)
    return asks


@check("PR190", family="program", cause="insufficient-information", last_resort=True)
def ticket_says_enough(facts: Facts) -> Verdict:
    """The ticket says enough to decide.

    Tested: whether anything in it fits a cause; else whether it tells the machine, the macOS, the Python and torch.

    Why: a guess sends people to reinstall what is right. The one missing fact is quicker.

    What to do: send what the ask names.

    Source: 263 public tickets, sorted by cause.
    """
    messages = facts.messages
    if not messages.from_ticket:
        return skip("no ticket was read")
    missing = _missing(facts)
    complains = bool(messages.errors or messages.claims or messages.items)
    described = torch_version(facts) and facts.interpreter.version and facts.host.macos_version
    if described and facts.host.is_apple_silicon is not None and not complains:
        return unknown("messages.items", detail="the ticket describes a machine and no fault", ask=[_COLLECT])
    what = (
        "It does not tell " + _listing(facts) + "." if missing else "It tells the machine, and no error that is known."
    )
    evidence = [Evidence("messages.errors", messages.errors[0])] if messages.errors else []
    return warn(
        f"Nothing in this ticket decides. {what}",
        evidence,
        [Remedy("Send what is asked for below; until then nothing should be reinstalled.")],
        confidence=POSSIBLE,
        ask=[_COLLECT, *missing] if complains else [*missing, _COLLECT],
    )


def _listing(facts: Facts) -> str:
    parts = {
        "the hardware": facts.host.is_apple_silicon is None,
        "the macOS": facts.host.macos_version is None,
        "the Python": facts.interpreter.version is None or facts.interpreter.is_x86_64 is None,
        "torch": torch_version(facts) is None,
    }
    return ", ".join(name for name, absent in parts.items() if absent)
