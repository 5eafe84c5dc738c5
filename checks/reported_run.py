"""What programs report of the devices they ask for, of compilation, of threads and of worker processes."""

from mpsdoctor import Facts, Messages, Verdict, check

from ._reported import CERTAIN, LIKELY, NOTHING, because_x86, blame, known, reported, runs_x86, torch_version


@check(
    "PR111",
    family="program",
    cause="cuda-call-on-mac",
    causes=("package-without-mac-wheel",),
    needs=("HW101",),
    explained_by=("OS103", "TO102", "MP101", "MP102", "PR113"),
)
def program_asks_for_the_macs_gpu(facts: Facts) -> Verdict:
    """The program asks for the GPU that a Mac has.

    Tested: "Torch not compiled with CUDA enabled", checkpoints that were saved on CUDA, kernels written for CUDA; and
    whether macOS is too old for MPS, so that the program fell through to CUDA.

    Why: the installation is nearly always right: the program or its settings name cuda.

    What to do: set the device to mps (or cpu) everywhere; load checkpoints with map_location.

    Source: pytorch/pytorch issue 96976; chatchat-space/Langchain-Chatchat issue 2990; Comfy-Org/ComfyUI issue 5723.
    """
    said = reported(facts.messages, "cuda-call-on-mac")
    if not said:
        return NOTHING
    sound = facts.torch.available or (facts.host.macos_version and torch_version(facts))
    evidence = known(facts, "torch.available", "host.macos_version", "torch.version")
    return blame("cuda-call-on-mac", said[0], confidence=CERTAIN if sound else LIKELY, evidence=evidence)


@check(
    "PR112",
    family="program",
    cause="app-device-check-bug",
    causes=("x86-python-under-rosetta", "metal-device-not-visible"),
    needs=("HW101",),
    explained_by=("OS103", "TO102", "MP101", "MP102", "PY101"),
)
def program_tests_the_device_rightly(facts: Facts) -> Verdict:
    """The program's own test of the device is right.

    Tested: messages of applications that find no GPU, against what torch says of it and what Mac it is.

    Why: applications test for CUDA alone, build a device name that does not exist, or ask for an NVIDIA driver.

    What to do: python -c "import torch; print(torch.ones(1, device='mps'))" in the same environment. Where that works,
    the application is to be updated or told the device.

    Source: MouseLand/cellpose issue 1455; 263 public tickets, sorted by cause.
    """
    said = reported(facts.messages, "app-device-check-bug")
    if not said:
        return NOTHING
    if runs_x86(facts) and facts.host.is_apple_silicon:
        return because_x86(facts, said[0])
    evidence = known(facts, "torch.available", "torch.version", "host.chip", "interpreter.machine")
    ask = [] if facts.torch.available else ["python -c \"import torch; print(torch.ones(1, device='mps'))\""]
    return blame(
        "app-device-check-bug",
        said[0],
        confidence=CERTAIN if facts.torch.available else LIKELY,
        evidence=evidence,
        ask=ask,
    )


@check("PR113", family="program", cause="torch-compile-unsupported", needs=("HW101",))
def compile_supports_mps(facts: Facts) -> Verdict:
    """torch.compile supports MPS in this release.

    Tested: messages of the compiler that refuse mps.

    Why: the compiler's Metal part is there from torch 2.7 and meant for use from 2.8.

    What to do: upgrade torch, or leave torch.compile out on the Mac (backend "aot_eager" works without it).

    Source: pytorch/pytorch issues 125254, 150121 and 157957.
    """
    said = reported(facts.messages, "torch-compile-unsupported")
    return (
        blame("torch-compile-unsupported", said[0], evidence=known(facts, "torch.version"), facts=facts)
        if said
        else NOTHING
    )


@check("PR114", family="program", cause="concurrent-mps-use", needs=("HW101",))
def one_thread_uses_mps(messages: Messages) -> Verdict:
    """One thread of one process uses MPS.

    Tested: assertions about command buffers, Objective-C's abort after fork, a GPU tensor sent to another process.

    Why: a command buffer that two threads share is committed twice, and Metal does not survive a fork.

    What to do: one queue or lock for everything on the GPU; start processes with spawn and before the GPU is used.

    Source: pytorch/pytorch issue 87688; huggingface/transformers pull request 38819.
    """
    said = reported(messages, "concurrent-mps-use")
    return blame("concurrent-mps-use", said[0]) if said else NOTHING


@check("PR115", family="program", cause="dataloader-spawn", explained_by=("PR114",))
def workers_start(messages: Messages) -> Verdict:
    """Worker processes start.

    Tested: the bootstrapping message of multiprocessing and objects that cannot be pickled.

    Why: macOS starts processes by spawn: each imports the program anew and is sent the dataset by pickle.

    What to do: put the start of the program under if __name__ == "__main__":, or set num_workers to 0.

    Source: the documentation of the standard module multiprocessing.
    """
    said = reported(messages, "dataloader-spawn")
    return blame("dataloader-spawn", said[0]) if said else NOTHING


@check("PR116", family="program", cause="mps-slower-than-cpu", needs=("HW101",))
def work_suits_the_gpu(messages: Messages) -> Verdict:
    """The work suits the GPU.

    Tested: the warning that operators fall back to the CPU; a speed for each device, where the ticket gives both.

    Why: each operation costs some microseconds to start on the GPU, and each fallback a copy both ways. Small or
    sequential work is faster on the CPU, and nothing is wrong with the installation.

    What to do: keep the CPU for this work; larger batches, or a newer torch with the missing operators, change it.

    Source: pytorch/pytorch issues 82707, 124056 and 148219; RVC-Boss/GPT-SoVITS issue 1988.
    """
    said = reported(messages, "mps-slower-than-cpu")
    if said:
        return blame("mps-slower-than-cpu", said[0])
    return NOTHING


@check("PR117", family="program", cause="pin-memory-warning")
def nothing_but_a_pin_memory_warning(messages: Messages) -> Verdict:
    """The program does not ask for pinned memory.

    Tested: the DataLoader's warning about pin_memory.

    Why: pinned memory speeds up copies to CUDA only. The warning does not say that MPS fails, nor that it is used.

    What to do: nothing; or pass pin_memory=False on a Mac.

    Source: torch/utils/data/dataloader.py in the wheels 2.7.0 to 2.15.0.
    """
    said = reported(messages, "pin-memory-warning")
    return blame("pin-memory-warning", said[0], confidence=CERTAIN) if said else NOTHING
