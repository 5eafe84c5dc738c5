"""Messages that prove more than their first reading says."""

from __future__ import annotations

from mpsdoctor import Facts, Host, Message, Messages
from mpsdoctor.registry import load_registry


def judged(check_id: str, facts: Facts) -> object:
    found = load_registry().get(check_id)
    assert found is not None
    return found.function(**{name: facts if name == "facts" else getattr(facts, name) for name in found.parameters})


def test_float64_of_torchs_own_gradient_scaler_is_not_the_programs() -> None:
    both = ("float64-convert-mps", "gradscaler-double")
    alone = Facts(messages=Messages(items=(Message(id=both[0], text="float64"),)))
    scaler = Facts(messages=Messages(items=tuple(Message(id=i, text="float64") for i in both)))
    assert judged("PR101", alone).outcome == "fail"  # type: ignore[attr-defined]
    assert judged("PR101", scaler).outcome == "skip"  # type: ignore[attr-defined]
    assert judged("PR103", scaler).outcome == "fail"  # type: ignore[attr-defined]


def test_an_x86_64_tag_on_a_known_mac_needs_no_question() -> None:
    message = Message(id="uv-tag-x86_64", text="no wheels with a matching platform tag (e.g., `macosx_15_0_x86_64`)")

    def cause(host: Host) -> str | None:
        return judged("PY301", Facts(host=host, messages=Messages(items=(message,)))).cause  # type: ignore[attr-defined]

    assert cause(Host(chip="Apple M3 Pro")) == "x86-python-under-rosetta"
    assert cause(Host(chip="Intel(R) Core(TM) i7")) == "intel-mac"
    assert cause(Host()) == "x86-python-hardware-unknown"


def test_a_container_whose_system_nobody_tells_is_linux() -> None:
    verdict = judged("HW101", Facts(host=Host(container="docker")))
    assert (verdict.cause, verdict.confidence) == ("linux-container-on-mac", "likely")  # type: ignore[attr-defined]
