"""Virtual machines."""

from __future__ import annotations

import pytest

from mpsdoctor import Environment, Host, Torch, Trial, run_check

VM = Host(system="Darwin", model="VirtualMac2,1", hypervisor_present=True)
ALLOCATED = Trial(name="allocate", outcome="pass")


def machine(torch: Torch | None = None, image: str | None = None, host: Host = VM):
    return run_check("CI201", host=host, torch=torch or Torch(), environment=Environment(ci_image=image))


@pytest.mark.parametrize(
    "host",
    [
        Host(hypervisor_present=True),
        Host(model="VirtualMac2,1"),
        Host(chip="Apple M1 (Virtual)"),
        Host(gpu_name="Apple Paravirtual device"),
    ],
)
def test_any_one_sign_shows_a_virtual_machine(host: Host) -> None:
    assert machine(host=host).outcome == "warn"


def test_a_real_mac_passes_and_without_a_sign_nothing_is_known() -> None:
    assert machine(host=Host(hypervisor_present=False, model="Mac14,9")).outcome == "pass"
    assert machine(host=Host()).outcome == "unknown"


def test_a_gpu_that_works_is_a_warning_with_the_limits() -> None:
    verdict = machine(Torch(imported=True, allocation=ALLOCATED), "macos15 20260101.1")
    assert verdict.outcome == "warn"
    assert "macos-26" in verdict.remedies[0].text
    assert "works" in verdict.detail


def test_a_gpu_that_was_not_tried_is_said_to_be_unknown() -> None:
    verdict = machine(Torch(imported=True, built=True))
    assert verdict.outcome == "warn"
    assert "not shown" in verdict.detail


@pytest.mark.parametrize(
    ("torch", "said"),
    [
        (
            Torch(available=True, allocation=Trial(name="allocate", outcome="error", error="out of memory")),
            "allocation",
        ),
        (Torch(available=False), "no Metal device"),
        (Torch(comparisons=(Trial(name="linear", outcome="wrong", max_abs_difference=3.8),)), "by 3.8"),
        (Torch(comparisons=(Trial(name="linear", outcome="wrong"),)), "NaN or infinity"),
        (Torch(comparisons=(Trial(name="cholesky", outcome="error", error="unsupported"),)), "cholesky fails"),
    ],
)
def test_a_gpu_that_cannot_be_used_is_a_failure_that_says_how(torch: Torch, said: str) -> None:
    verdict = machine(torch)
    assert (verdict.outcome, verdict.gpu) == ("fail", False)
    assert said in verdict.detail
    assert "CPU" in verdict.remedies[0].text


@pytest.mark.parametrize(
    ("torch", "macos"),
    [
        (Torch(imported=False), "15.5"),
        (Torch(imported=True, built=False, available=False), "15.5"),
        (Torch(imported=True, built=True, available=False, version="2.11.0"), "13.7"),
        (
            Torch(
                imported=True,
                built=True,
                available=True,
                allocation=Trial(
                    name="allocate", outcome="error", error="RuntimeError: invalid low watermark ratio 1.4"
                ),
            ),
            "15.5",
        ),
    ],
)
def test_what_would_fail_on_a_real_mac_too_is_not_blamed_on_the_virtual_machine(torch: Torch, macos: str) -> None:
    host = Host(system="Darwin", model="VirtualMac2,1", macos_version=macos)
    assert run_check("CI201", host=host, torch=torch).outcome == "warn"


@pytest.mark.parametrize(
    ("image", "advice"),
    [("macos14 20260101.1", "runs-on: macos-15"), ("macos15 20260101.1", "newer torch"), (None, "real Mac")],
)
def test_the_advice_suits_the_image(image: str | None, advice: str) -> None:
    assert advice in machine(Torch(available=False), image).remedies[0].text
