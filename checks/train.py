"""What the training run proved: these checks read its stages and are skipped where none was made."""

from mpsdoctor import Evidence, Host, Remedy, Smoke, Verdict, check, fail, passed, skip, unknown, warn
from mpsdoctor.knowledge import causes

_NEEDS = ("HW101", "PY100", "PY101", "TO101", "TO103", "MP101", "MP102")
_EXPLAINED = ("CI201", "TO104", "MP103", "MP104")
_BAD = ("fail", "crash", "stalled")


@check("TR101", family="train", cause="metal-device-not-visible", needs=_NEEDS, explained_by=_EXPLAINED)
def smoke_run_allocates(smoke: Smoke) -> Verdict:
    """The training run is given GPU memory.

    Tested: one element and then up to 64 MB on the device, freed again.

    Why: in virtual machines the device says that it is available and refuses the first bytes.

    What to do: see the cause that the message proves.

    Source: actions/runner-images issues 9918 and 11899.
    """
    return _judge(smoke, "allocate", "the GPU cannot be given memory")


@check("TR102", family="train", cause="known-bad-torch-release", needs=_NEEDS, explained_by=(*_EXPLAINED, "TR101"))
def operators_agree_with_the_cpu(smoke: Smoke) -> Verdict:
    """The operators that models use agree with the CPU, forward and backward.

    Tested: about 70 operators and layers in the dtype of the run, each against float32 or float64 on the CPU, with
    limits derived from the dtype and the number of summed terms.

    Why: some pairs of torch and macOS compute wrongly without any error.

    What to do: take another torch release; until then use the CPU device.

    Source: pytorch/pytorch issues 188619, 189495 and 192934.
    """
    return _judge(smoke, "numerics", "operators on the GPU do not agree with the CPU")


@check("TR103", family="train", cause="gpu-training-fails", needs=_NEEDS, explained_by=(*_EXPLAINED, "TR101", "TR102"))
def the_gpu_trains(smoke: Smoke) -> Verdict:
    """A small network and a small transformer learn on the GPU as they do on the CPU.

    Tested: activations in half precision on the device, finite and falling loss, gradients of every parameter against
    the CPU's, the gradient scaler, accuracy at the end, memory from step to step.

    Why: only training shows faults of the gradient scaler, of the backward pass and of memory.

    What to do: see the cause that the failure proves; without one, take another torch release or float32.

    Source: pytorch/pytorch issues 184286 (gradients of half-precision parameters) and 142397.
    """
    return _judge(smoke, "train", "training on the GPU fails")


@check("TR104", family="train", cause="op-not-implemented", needs=_NEEDS, explained_by=(*_EXPLAINED, "TR101"))
def nothing_falls_back_to_the_cpu(smoke: Smoke) -> Verdict:
    """No operator of the run left the GPU for the CPU.

    Tested: torch's warnings and its log of fallbacks during the run.

    Why: an operator without an MPS kernel runs on the CPU where PYTORCH_ENABLE_MPS_FALLBACK allows it, with two copies
    a call; training can then be slower than on the CPU alone.

    What to do: a newer torch has more operators; see which one it is.

    Source: torch's fallback warning, 1.12 to 2.15.
    """
    return _judge(smoke, "fallback", "operators leave the GPU for the CPU", soft=True)


@check("TR105", family="train", cause="mps-slower-than-cpu", needs=_NEEDS, explained_by=(*_EXPLAINED, "TR101", "TR104"))
def the_gpu_is_faster(smoke: Smoke, host: Host) -> Verdict:
    """The GPU trains faster than the CPU at sizes where it should.

    Tested: training steps of both networks over a sweep of sizes, CPU and GPU in turn.

    Why: below 1x at large sizes points to a CPU fallback, swap, Low Power Mode, heat or Rosetta.

    What to do: plug the Mac in, turn Low Power Mode off, close what fills the memory, and measure again.

    Source: the published pairs in the project's table of facts (CNN training 3 to 10 times, transformers 2 to 4.5).
    """
    return _judge(smoke, "speed", "the GPU is slower than the CPU", soft=True)


def _judge(smoke: Smoke, name: str, summary: str, *, soft: bool = False) -> Verdict:
    if smoke.outcome is None:
        return skip("no training run was made; mpsdoctor check --smoke makes one")
    if smoke.device != "mps":
        return skip(f"the training run was made on {smoke.device}")
    stage = smoke.stage(name)
    if stage is None:
        return unknown(f"smoke.{name}", ask=["mpsdoctor smoke --format json on the Mac itself"])
    evidence = [Evidence(f"smoke.{name}", stage.detail or stage.outcome, "training_smoke")]
    if stage.outcome == "skip":
        return skip(stage.detail or "left out")
    if stage.outcome == "pass":
        return passed(stage.detail or "", evidence)
    if stage.outcome not in _BAD:
        return unknown(f"smoke.{name}")
    known = causes.cause(stage.cause) if stage.cause else None
    steps = "  ".join(known.what_to_do[:2]) if known else "Take another torch release; until then use the CPU device."
    verb = {"crash": " (the process died)", "stalled": " (it hung)"}.get(stage.outcome, "")
    say = warn if soft and stage.outcome == "fail" else fail
    return say(
        f"In a real training run {summary}{verb}: {stage.detail or 'no detail'}",
        evidence,
        [Remedy(steps)],
        cause=stage.cause,
        confidence="certain" if stage.cause else "likely",
        gpu=None if soft else False,
        short=summary,
    )
