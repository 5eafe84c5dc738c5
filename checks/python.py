"""The interpreter: does it answer, is it native, is it CPython."""

from mpsdoctor import (
    Conda,
    Evidence,
    Host,
    Interpreter,
    Remedy,
    Verdict,
    check,
    fail,
    passed,
    skip,
    unknown,
    warn,
)
from mpsdoctor.knowledge.pythons import MINIFORGE

from .hardware import ASK_HARDWARE


@check("PY100", family="python", cause="broken-venv", needs=("HW101",))
def interpreter_answers(interpreter: Interpreter) -> Verdict:
    """The interpreter starts and its environment is whole.

    Tested: whether it answers at all, whether the base interpreter of a virtual environment still exists, and whether
    the environment's activate script still names its own folder.

    Why: a virtual environment is tied to the folder it was made in and to the Python it was made from. Moving or
    copying it, or removing that Python (an upgrade does), breaks it.

    What to do: make the environment anew from a Python that is there, and install the same packages.

    Source: the documentation of the standard module venv.
    """
    names = ("executable", "real_path", "venv_home", "base_prefix", "base_exists")
    evidence = [Evidence.of(interpreter, n) for n in names if getattr(interpreter, n) is not None]
    if interpreter.base_exists is False:
        return fail(
            "The Python that this environment was made from is gone, so the environment cannot work.",
            evidence,
            [Remedy("Make the environment anew from a Python that is there, and install the same packages.")],
            gpu=False,
        )
    if interpreter.end is not None and interpreter.end.how == "timeout":
        return unknown(
            "interpreter.version",
            detail=f"the interpreter {interpreter.end.describe()}",
            ask=["the same command once more: a first start can be slow where programs are scanned"],
        )
    if interpreter.end is not None:
        return fail(
            f"This interpreter {interpreter.end.describe()} when asked what it is.",
            [*evidence, Evidence("interpreter.end", interpreter.end.stderr_tail or interpreter.end.describe())],
            [Remedy("Choose another interpreter with --python, or make the environment anew.")],
            confidence="possible",
        )
    if interpreter.venv_prefix_moved:  # its interpreter works all the same: a warning, which stops nothing
        return warn(
            "This virtual environment was moved or copied; its scripts and its activate file name another folder.",
            evidence,
            [Remedy("Make the environment anew in this folder, and install the same packages.")],
        )
    if interpreter.executable is None and interpreter.prefix is None:
        return unknown("interpreter.executable", ask=["python3 -VV, and the path of that python3"])
    return passed(evidence=evidence[:2])


@check(
    "PY101",
    family="python",
    cause="x86-python-under-rosetta",
    causes=("x86-python-hardware-unknown",),
    needs=("HW101", "PY100"),
)
def native_interpreter(host: Host, interpreter: Interpreter, conda: Conda) -> Verdict:
    """The interpreter runs natively on Apple silicon.

    Tested: the architecture of the interpreter's own process, sysctl.proc_translated asked inside it, the
    architectures in its file, and hw.optional.arm64 of the machine.

    Why: an x86_64 Python runs on Apple silicon through Rosetta. It gets Intel packages only, and PyTorch's end at
    2.2.2; macOS is misread as 10.16, and bfloat16 and newer functions are refused.

    What to do: install an arm64 Python (Miniforge, uv or python.org) and make the environment anew with it.

    Source: pytorch/pytorch issues 131766 and 146236; lucadiliello/pytorch-apple-silicon-benchmarks on CONDA_SUBDIR.
    """
    x86 = interpreter.is_x86_64
    if x86 is None:
        return unknown("interpreter.machine", ask=['python -c "import platform; print(platform.machine())"'])
    names = ("machine", "translated", "binary_architectures", "platform_tag")
    evidence = [Evidence.of(interpreter, name) for name in names if getattr(interpreter, name) is not None]
    if not x86:
        return passed(evidence=evidence[:2])
    hardware = [Evidence.of(host, name) for name in ("arm64_capable", "chip") if getattr(host, name) is not None]
    silicon = True if interpreter.translated else host.is_apple_silicon
    if silicon is None:
        return fail(
            "This Python runs as x86_64, and nothing here tells an Intel Mac from Apple silicon.",
            evidence,
            [
                Remedy(
                    "Find out which Mac it is: on Apple silicon install an arm64 Python, on Intel stay on torch 2.2.2."
                )
            ],
            cause="x86-python-hardware-unknown",
            confidence="likely",
            ask=[ASK_HARDWARE],
        )
    if not silicon:
        return skip("an Intel Mac runs x86_64 natively")
    return fail(
        "This Python runs as x86_64 under Rosetta, so PyTorch cannot use the GPU.",
        [*hardware, *evidence],
        _native_remedies(interpreter, conda),
        gpu=False,
    )


def _native_remedies(interpreter: Interpreter, conda: Conda) -> list[Remedy]:
    if any(arch.startswith("arm64") for arch in interpreter.binary_architectures or ()):
        return [
            Remedy(
                "This Python holds arm64 code too, and was started as x86_64 by its shell: untick 'Open using Rosetta' "
                "in the information window of your terminal, then make the environment anew.",
                (("arch", "-arm64", "zsh"),),
            )
        ]
    minor = interpreter.minor or "3.12"
    info = interpreter.version_info or (3, 12)
    wanted = minor if info[:2] >= (3, 10) else "3.12"
    if conda.present or interpreter.conda:
        name = "torch" if conda.is_base or not conda.environment_name else conda.environment_name
        return [
            Remedy(
                "Install Miniforge for Apple silicon into a folder of its own beside the Intel conda, and make the "
                "environment anew with it.",
                (
                    ("curl", "-LO", MINIFORGE),
                    ("bash", MINIFORGE.rsplit("/", 1)[1], "-b", "-p", "~/miniforge3"),
                    ("~/miniforge3/bin/conda", "create", "-n", name, f"python={wanted}", "pytorch"),
                ),
            )
        ]
    return [
        Remedy(
            "Install an arm64 Python, by uv, Miniforge or python.org, and make the environment anew with it.",
            (("uv", "venv", "--python", f"cpython-{wanted}-macos-aarch64-none"),),
        )
    ]


@check("PY102", family="python", cause="python-implementation-unsupported", needs=("HW101", "PY100"))
def implementation_is_cpython(interpreter: Interpreter) -> Verdict:
    """The interpreter is CPython.

    Tested: sys.implementation.

    Why: PyTorch publishes builds for CPython only; PyPy, GraalPy and others find none.

    What to do: make the environment anew with CPython.

    Source: the package index (every torch wheel is tagged cp).
    """
    if interpreter.implementation is None:
        return unknown("interpreter.implementation")
    evidence = [Evidence.of(interpreter, "implementation")]
    if interpreter.implementation == "cpython":
        return passed(evidence=evidence)
    return fail(
        f"This interpreter is {interpreter.implementation}; PyTorch has builds for CPython only.",
        evidence,
        [Remedy("Make the environment anew with CPython.", (("uv", "venv", "--python", "cpython-3.12"),))],
        gpu=False,
    )
