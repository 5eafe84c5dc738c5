"""What programs report that ask something of MPS which it does not do: types, precision, sizes, devices."""

import re

from mpsdoctor import Facts, Messages, Verdict, check, skip
from mpsdoctor.knowledge import versions

from ._reported import (
    ASK_MACOS,
    ASK_PYTHON,
    ASK_TORCH,
    CERTAIN,
    LIKELY,
    NOTHING,
    because_x86,
    blame,
    known,
    part,
    reported,
    runs_x86,
    torch_version,
)

_ROSETTA, _BF16 = "x86-python-under-rosetta", "bf16-unsupported"


@check("PR101", family="program", cause="float64-on-mps", needs=("HW101",))
def no_float64_reaches_mps(facts: Facts) -> Verdict:
    """No float64 reaches MPS.

    Tested: torch's messages about float64.

    Why: Metal has no 64-bit floating point, on any Mac. NumPy arrays and Python's own numbers are float64 unless told
    otherwise. In torch 2.3 to 2.7 the gradient scaler asks for it by itself.

    What to do: convert before the copy: tensor.float(), array.astype("float32"); in a library, upgrade it.

    Source: strings of all wheels; huggingface/transformers issue 31060; ultralytics/ultralytics issue 246;
    pytorch/pytorch issue 142397.
    """
    said = reported(facts.messages, "float64-on-mps")
    if not said:
        return NOTHING
    if facts.messages.get("gradscaler-double"):
        return skip("torch's gradient scaler asks for float64 itself, not the program; see PR103")
    sure = CERTAIN if "float64" in said[0].message.text and not _scaler_may_ask(facts) else LIKELY
    return blame("float64-on-mps", said[0], confidence=sure, evidence=known(facts, "torch.version"))


def _scaler_may_ask(facts: Facts) -> bool:
    """May torch's own gradient scaler be what asks for float64? In the releases that have one for MPS and convert."""
    version = torch_version(facts)
    has, mended = versions.at_least(version, "2.3.0"), versions.at_least(version, "2.8.0")
    return has is not False and mended is not True


@check(
    "PR102",
    family="program",
    cause=_BF16,
    causes=(_ROSETTA, "intel-mac", "x86-python-hardware-unknown", "macos-version-misreported", "op-needs-newer-macos"),
    needs=("HW101",),
)
def bfloat16_is_supported(facts: Facts) -> Verdict:
    """bfloat16 is supported by this torch on this macOS.

    Tested: the two messages, which differ: "is not supported on MPS" is torch before 2.3, "only supported on MacOS 14"
    a test of macOS that an x86_64 Python fails on any macOS.

    Why: torch 2.2.2 is the last release for x86_64, so that on such a Python no upgrade helps.

    What to do: upgrade torch and macOS; on Apple silicon with an x86_64 Python make a native environment; else use
    float16 or float32.

    Source: pytorch/pytorch issues 141864 and 146236; strings of the wheels 2.1.0 to 2.9.0.
    """
    said = reported(facts.messages, _BF16)
    if not said:
        return NOTHING
    first, x86 = said[0], runs_x86(facts)
    if x86:
        return because_x86(facts, first)
    evidence = known(
        facts, "torch.version", "host.macos_version", "interpreter.machine", "interpreter.macos_version_seen"
    )
    if (facts.interpreter.macos_version_seen or "").startswith("10.16"):
        return blame("macos-version-misreported", first, evidence=evidence)
    old_torch = first.row.id == "bf16-not-supported"
    if facts.host.is_apple_silicon and x86 is None and _hidden_rosetta(facts, old_torch):
        return blame(
            _ROSETTA, first, confidence=LIKELY, evidence=[*evidence, *known(facts, "host.chip")], ask=[ASK_PYTHON]
        )
    sure = CERTAIN if x86 is False else LIKELY
    ask = [] if x86 is False else [ASK_PYTHON, ASK_TORCH if old_torch else ASK_MACOS]
    return blame(_BF16, first, confidence=sure, evidence=evidence, facts=facts, ask=ask)


def _hidden_rosetta(facts: Facts, old_torch: bool) -> bool:
    """Apple silicon with the last torch of x86_64, or with a macOS that is new enough and is said not to be."""
    if old_torch:
        return torch_version(facts) == "2.2.2"
    running = versions.macos(facts.host.macos_version)
    return running is not None and running >= (14,)


@check("PR103", family="program", cause="mixed-precision-unsupported", needs=("HW101",), explained_by=("PR101",))
def mixed_precision_is_supported(facts: Facts) -> Verdict:
    """Autocast, gradient scaler and fp16 options exist on MPS in this release.

    Tested: the messages of autocast, of the gradient scalers, of frameworks that want CUDA for fp16.

    Why: autocast("mps") came with torch 2.5 for float16 and 2.6 for bfloat16, torch.amp.GradScaler("mps") works from
    2.8. torch.cuda.amp.GradScaler switches itself off on a Mac.

    What to do: upgrade torch, or switch fp16 off; the wording of the option is the framework's.

    Source: torch/amp in the wheels 1.12.0 to 2.15.0; pytorch/pytorch issues 99272, 139386 and 142397.
    """
    said = reported(facts.messages, "mixed-precision-unsupported")
    return (
        blame("mixed-precision-unsupported", said[0], evidence=known(facts, "torch.version"), facts=facts)
        if said
        else NOTHING
    )


@check("PR104", family="program", cause="fp16-numerics-nan", needs=("HW101",))
def float16_is_wide_enough(messages: Messages) -> Verdict:
    """The numbers fit into float16.

    Tested: messages about NaN in images, in probabilities, in a cast.

    Why: float16 holds nothing above 65504. What overflows becomes infinity and then NaN, and an image black.

    What to do: run the part in question in float32 (options like --no-half, --vae-in-fp32), or in bfloat16.

    Source: the definition of float16; public tickets about black images.
    """
    said = reported(messages, "fp16-numerics-nan")
    return blame("fp16-numerics-nan", said[0]) if said else NOTHING


@check("PR106", family="program", cause="sparse-unsupported", needs=("HW101",))
def no_sparse_tensor_on_mps(messages: Messages) -> Verdict:
    """No sparse tensor goes to MPS.

    Tested: messages that name a sparse back-end.

    Why: sparse COO tensors exist on MPS from torch 2.9, compressed formats in part or not at all. The fallback
    variable does not cover a missing back-end.

    What to do: make the tensor dense, keep that part on the CPU, or upgrade torch.

    Source: pytorch/pytorch issues 87886, 129842 and 157238; jhj0517/Whisper-WebUI issue 276.
    """
    said = reported(messages, "sparse-unsupported")
    return blame("sparse-unsupported", said[0], confidence=CERTAIN) if said else NOTHING


@check("PR107", family="program", cause="tensor-too-large", needs=("HW101",))
def tensors_are_small_enough(messages: Messages) -> Verdict:
    """Every tensor is within Metal's limits.

    Tested: messages about 2**31 elements, 2**32 bytes, a buffer size, 64-bit indexing.

    Why: MPSGraph addresses at most 4 GiB in one array, Metal one buffer of a fixed size.

    What to do: split the work: fewer frames or a smaller batch in one call, attention slicing.

    Source: pytorch/pytorch issues 84039, 143859 and 149325; strings of the wheels.
    """
    said = reported(messages, "tensor-too-large")
    return blame("tensor-too-large", said[0]) if said else NOTHING


@check(
    "PR108",
    family="program",
    cause="mps-out-of-memory",
    causes=("virtual-machine-gpu",),
    needs=("HW101",),
    explained_by=("CI301", "PR107"),
)
def memory_suffices(facts: Facts) -> Verdict:
    """The Mac's memory suffices.

    Tested: torch's and Metal's memory errors, with the sizes in them, and a process that macOS killed.

    Why: the GPU shares the Mac's memory, and torch refuses beyond 1.7 times of what Metal recommends.

    What to do: a smaller batch or model, half precision, gradient checkpointing; lifting the limit can stop the Mac.

    Source: strings of the wheels; field reports in public tickets.
    """
    said = reported(facts.messages, "mps-out-of-memory")
    if not said:
        return NOTHING
    evidence = known(facts, "host.memory_bytes", "host.chip")
    if facts.host.is_virtual:
        return blame("virtual-machine-gpu", said[0], confidence=LIKELY, evidence=evidence)
    allocated = float(part(said, "allocated_bytes") or 0)
    return blame(
        "mps-out-of-memory",
        said[0],
        confidence=CERTAIN if allocated >= 1 << 30 and facts.host.chip else None,
        evidence=evidence,
    )


_HALF = re.compile(r"Half|BFloat16|bfloat|half|float16")


@check("PR109", family="program", cause="tensor-on-wrong-device", causes=("mixed-dtype-abort",), needs=("HW101",))
def tensors_are_on_one_device(messages: Messages) -> Verdict:
    """Model and data are on one device.

    Tested: "Placeholder storage has not been allocated", "Passed CPU tensor to MPS op", types that differ by device,
    and _slow_conv2d_forward, which is a CPU input that meets weights on MPS.

    Why: a tensor that is made inside of forward(), a buffer that was not registered or a generator stays on the CPU.

    What to do: one device everywhere: torch.zeros(..., device=x.device), register_buffer, model.to(device).

    Source: strings of the wheels; mrdbourke/pytorch-deep-learning issue 643.
    """
    said = reported(messages, "tensor-on-wrong-device")
    if not said:
        return NOTHING
    first = said[0]
    types = [first.part("input") or "", first.part("weight") or ""]
    same_device = all(types) and len({name.startswith("MPS") for name in types}) == 1
    if same_device and any(_HALF.search(name) for name in types):
        return blame("mixed-dtype-abort", first, confidence=LIKELY)
    return blame("tensor-on-wrong-device", first, confidence=CERTAIN)


@check("PR110", family="program", cause="mixed-dtype-abort", causes=("torch-too-old",), needs=("HW101",))
def operands_have_one_type(messages: Messages) -> Verdict:
    """The operands of one operation have one type.

    Tested: MPSGraph's messages about element types that differ, and LLVM's abort behind them.

    Why: MPSGraph ends the whole process where float16 meets float32. torch converts the types itself since then, one
    operator after the other.

    What to do: upgrade torch; make the types equal, or leave .half() out for the part in question.

    Source: pytorch/pytorch issue 78879; Comfy-Org/ComfyUI issue 1352.
    """
    said = [one for one in reported(messages, "mixed-dtype-abort") if one.row.id != "abort-trap"]
    return blame("mixed-dtype-abort", said[0], confidence=CERTAIN) if said else NOTHING
