"""Virtual machines: hosted CI runners, UTM, tart."""

from mpsdoctor import Environment, Evidence, Host, Packages, Remedy, Torch, Verdict, check, fail, passed, unknown, warn
from mpsdoctor.knowledge.runner_images import runner_image

from ._torch import below_floor


@check("CI201", family="ci", cause="virtual-machine-gpu", needs=("HW101",))
def not_a_virtual_machine(host: Host, torch: Torch, packages: Packages, environment: Environment) -> Verdict:
    """The GPU is a real one, not a virtual machine's.

    Tested: hw.model VirtualMac, "(Virtual)" in the chip's name, kern.hv_vmm_present, a Paravirtual GPU; and what
    torch could really do with it.

    Why: macOS in a virtual machine has a paravirtual GPU. It says that it is available and may then fail at the first
    allocation (macos-14 images), compute linear layers wrongly (macOS 26 with torch up to 2.13) or not compile Metal 4
    kernels (macOS 26 with torch 2.14). GitHub documents MPS as unsupported on its runners.

    What to do: run GPU tests on a macos-15 runner, where it works in 2026, or on a real Mac; elsewhere use the CPU.

    Source: pytorch/pytorch issues 192934 and 196582; actions/runner-images issues 9918, 11899 and 14380; kornia issues
    4202 and 4207.
    """
    if host.is_virtual is None:
        return unknown("host.hypervisor_present", "host.model")
    names = ("model", "chip", "hypervisor_present", "gpu_name")
    evidence = [Evidence.of(host, name) for name in names if getattr(host, name) is not None]
    if not host.is_virtual:
        return passed(evidence=evidence)
    if environment.ci_image:
        evidence.append(Evidence.of(environment, "ci_image"))
    image, version = environment.ci_image, torch.version
    if _gpu_failed(host, torch, packages):
        evidence += [Evidence(f"torch.{trial.name}", trial.error or trial.outcome) for trial in torch.failed_trials[:2]]
        return fail(
            "This is a virtual machine, and its GPU cannot be used: " + _what_fails(torch),
            evidence,
            [Remedy(_advice(image, version))],
            gpu=False,
        )
    detail = "The GPU of this virtual machine works, with limits."
    if torch.usable is None:
        detail = "This is a virtual machine; whether its GPU can be used was not shown."
    return warn(detail, evidence, [Remedy(_keep(image, version))])


def _gpu_failed(host: Host, torch: Torch, packages: Packages) -> bool:
    """Did the virtual GPU itself fail? Not where torch does not import, has no MPS or is too new for this macOS."""
    if torch.imported is False or torch.built is False or below_floor(host, torch, packages):
        return False
    tried = [trial for trial in torch.failed_trials if "watermark ratio" not in (trial.error or "")]
    return torch.available is False or bool(tried)


def _what_fails(torch: Torch) -> str:
    if torch.available is False:
        return "no Metal device that torch accepts is visible."
    first = torch.failed_trials[0] if torch.failed_trials else None
    if first is None:
        return "torch does not work here."
    if first.name == "allocate":
        return "it says that it is available, and the first allocation fails."
    if first.outcome == "wrong":
        difference = first.max_abs_difference
        how = "gives NaN or infinity" if difference is None else f"differs from the CPU by {difference:g}"
        return f"it computes wrongly ({first.name} {how})."
    return f"{first.name} fails on it."


def _advice(image: str | None, version: str | None) -> str:
    known = runner_image(image)
    if known is None:
        return "Run GPU tests elsewhere than in this virtual machine: a real Mac; here use the CPU device."
    seen = known.of(version)
    if seen is None or seen.usable:  # it works for others: say where, and what to do meanwhile
        return (
            f"Use the CPU device in this job ({known.label}), or a newer torch: on macos-15 images torch 2.14 was seen "
            "to work."
        )
    return f"On {known.label} with this torch, {seen.what}. {seen.advice}"


def _keep(image: str | None, version: str | None) -> str:
    known = runner_image(image)
    seen = known and (known.of(version) or next((one for one in known.seen if one.usable), None))
    if seen:
        return seen.advice
    return "Let GPU tests compare with the CPU, and do not trust is_available() alone in a virtual machine."
