"""What programs report of their surroundings: shadowed packages, broken environments, interpreters, variables."""

from mpsdoctor import Evidence, Facts, Messages, Remedy, Verdict, check, fail

from ._pins import packages
from ._reported import (
    ASK_PYTHON,
    LIKELY,
    NOTHING,
    POSSIBLE,
    Said,
    because_x86,
    blame,
    known,
    reported,
    runs_x86,
    torch_version,
)

_SHADOW, _SOURCE = "local-file-shadows-torch", "source-shadows-package"


@check("EN301", family="environment", cause=_SHADOW, causes=(_SOURCE,), explained_by=("TO301",))
def nothing_shadows_torch(messages: Messages) -> Verdict:
    """No file or checkout hides the installed package.

    Tested: messages of a half imported torch, of attributes that every torch has, of a missing torch._C; a traceback
    that runs through a torch.py outside of the installed packages.

    Why: Python takes the first thing of that name on sys.path: a torch.py beside the program, or a source checkout.

    What to do: rename the file, or start the program from another folder.

    Source: CPython's import messages; 263 public tickets, sorted by cause.
    """
    said = reported(messages, _SHADOW, _SOURCE)
    if not said:
        return NOTHING
    frames = [one for one in said if one.row.id == "torch-own-frame"]
    first = next((one for one in said if one not in frames), said[0])
    ask = ['python -c "import torch; print(torch.__file__)"']
    if not frames:
        return blame(first.row.causes[0], first, ask=ask)
    # A package of the user's may hold a torch.py and be right: without a complaint about torch it is only a trace.
    complaint = first not in frames or bool(reported(messages, "torch-too-old", "companion-version-mismatch"))
    evidence = [one.evidence for one in frames[:1] if one is not first]
    return blame(_SHADOW, first, confidence=LIKELY if complaint else POSSIBLE, evidence=evidence, ask=ask)


@check("EN302", family="environment", cause="broken-venv")
def environment_is_whole(messages: Messages) -> Verdict:
    """The virtual environment is whole.

    Tested: "bad interpreter", a Python framework that the loader does not find, a venv whose first step aborts.

    Why: an environment is tied to its folder and to the Python it was made from. Moving it, or upgrading Homebrew's
    Python, breaks it.

    What to do: make the environment anew from a Python that is there.

    Source: the documentation of the standard module venv; 263 public tickets, sorted by cause.
    """
    said = reported(messages, "broken-venv")
    return blame("broken-venv", said[0]) if said else NOTHING


@check(
    "EN303",
    family="environment",
    cause="wrong-interpreter",
    causes=(
        "torch-not-installed",
        "app-device-check-bug",
        "x86-python-under-rosetta",
        "intel-mac",
        "x86-python-hardware-unknown",
    ),
    needs=("HW101",),
    explained_by=("OS103", "TO102", "MP101", "PY301", "OS301"),
)
def program_runs_the_right_python(facts: Facts) -> Verdict:
    """The program runs on the interpreter that was prepared for it.

    Tested: "No module named torch", a refused system Python, a framework that sees no MPS where the Mac has it.

    Why: a notebook kernel, an editor or a shim often runs another Python than the terminal. Lightning also refuses MPS
    where the process is not arm64.

    What to do: print sys.executable and platform.machine() inside the program and in the terminal, and compare.

    Source: Lightning-AI/pytorch-lightning issue 16124; 263 public tickets, sorted by cause.
    """
    said = reported(facts.messages, "wrong-interpreter")
    if not said:
        return NOTHING
    if said[0].row.id == "lightning-no-mps":
        if facts.torch.available and not runs_x86(facts):
            return blame("app-device-check-bug", said[0], confidence=LIKELY, evidence=known(facts, "torch.available"))
        if runs_x86(facts):
            return because_x86(facts, said[0])
    evidence = known(facts, "interpreter.prefix", "conda.present")
    refused = next((one for one in said if one.row.id == "externally-managed"), None)
    if refused is not None:
        return _refuses_installations(facts, refused)
    if said[0].row.id in _WITHOUT_TORCH and torch_version(facts) is None and not _elsewhere(facts):
        remedy = Remedy(
            "Install torch with the very Python that runs the program.",
            (("python", "-m", "pip", "install", *packages(facts)),),
        )
        return blame(
            "torch-not-installed", said[0], confidence=LIKELY, evidence=evidence, remedies=[remedy], ask=[ASK_PYTHON]
        )
    sure = None if torch_version(facts) else LIKELY
    return blame("wrong-interpreter", said[0], confidence=sure, evidence=evidence, ask=[ASK_PYTHON])


_WITHOUT_TORCH = ("torch-missing", "transformers-no-torch")


def _elsewhere(facts: Facts) -> bool:
    """Is it told that torch is installed, or that the program works in another place?"""
    return facts.messages.claim("torch-install-told", "terminal-notebook-differ") is not None


def _refuses_installations(facts: Facts, said: Said) -> Verdict:
    """A Python of Homebrew, uv or the system (PEP 668): nothing is broken, it is the wrong one to install into."""
    python = ".venv/bin/python"
    return blame(
        "wrong-interpreter",
        said,
        detail="This Python refuses installations, because Homebrew, uv or the system looks after it.",
        confidence=LIKELY,
        remedies=[
            Remedy(
                "Make an environment of its own, install there, and run the program with that environment's Python.",
                (("python3", "-m", "venv", ".venv"), (python, "-m", "pip", "install", *packages(facts))),
            )
        ],
    )


@check("EN304", family="environment", cause="watermark-env-var-invalid")
def watermarks_are_accepted(facts: Facts) -> Verdict:
    """torch accepts the memory limits that the environment sets.

    Tested: "invalid low watermark ratio" and "invalid high watermark ratio".

    Why: the low ratio is 1.4 unless it is set, so that a high ratio of 0.7 alone is refused.

    What to do: remove the variable, or set both, the low one not above the high one.

    Source: setLowWatermarkRatio, disassembled in the wheels 1.13.0 to 2.15.0; kohya-ss/sd-scripts issue 603.
    """
    said = reported(facts.messages, "watermark-env-var-invalid")
    return (
        blame("watermark-env-var-invalid", said[0], evidence=known(facts, "environment.variables")) if said else NOTHING
    )


@check("EN305", family="environment", cause="env-var-ineffective", needs=("HW101",))
def variables_are_read(messages: Messages) -> Verdict:
    """The variables that are set are read.

    Tested: torch's own message that it ignores a value; pasted code that sets a variable below `import torch`.

    Why: torch reads its variables while it loads, and only the names and values that it knows.

    What to do: set the variable before Python starts, with a value from the table.

    Source: strings in the wheels 1.12.0 to 2.15.0.
    """
    said = reported(messages, "env-var-ineffective")
    if said:
        return blame("env-var-ineffective", said[0])
    late = messages.claim("variable-after-import")
    if late is None:
        return NOTHING
    name = (late.values or {}).get("name", "the variable")
    return fail(
        f"The program sets {name} after it has imported torch, which reads it while it loads.",
        [Evidence("messages.claims.variable-after-import", late.text, f"line {late.line}")],
        [Remedy(f"Set {name} before Python starts, or above the first import of torch.", (("export", f"{name}=1"),))],
        confidence=LIKELY,
    )
