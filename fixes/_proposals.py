"""What several fixes propose alike: the wanted stack installed, or a new environment in place of the old one."""

from collections.abc import Sequence

from mpsdoctor.repair import Install, Manual, NoTorch, PlannedFix, Proposal, Refused, Situation, Stack, Step, prefix_of
from mpsdoctor.repair.names import pinned
from mpsdoctor.repair.sizes import wheel_mb


def install_stack(
    situation: Situation, fix: str, summary: str, *, again: Sequence[str] = (), extra: Sequence[str] = ()
) -> list[Proposal]:
    """Propose the wanted torch and what belongs to it, by the environment's own manager.

    again: names of the stack that must be installed again though their version may stay. extra: more requirements.
    """
    stack = situation.stack
    if isinstance(stack, NoTorch):
        return without_torch(situation, fix, stack)
    if is_externally_managed(situation):
        return new_venv(situation, fix, stack)
    manager = situation.manager
    requirements = (*stack_requirements(situation, stack), *extra)
    forced = tuple(r for r in requirements if bare_name(r) in again)
    install = Install(requirements, forced, stack.index, stack.pre)
    title = f"install {' '.join(requirements[:3])}"
    steps = manager.install(title, install)
    changes = _changes(situation, stack)
    torch_comes = any(line.startswith("torch ") for line in (*changes, *(f"{bare_name(r)} " for r in forced)))
    return [
        PlannedFix(
            fix,
            situation.cause.cause,
            summary or f"Install torch=={stack.torch}, {stack.why}",
            steps,
            downloads_mb=wheel_mb(stack.torch, situation.machine) if torch_comes else None,
            notes=changes,
            expects=(("torch", stack.torch), *stack.companions) if manager.name in ("pip", "uv") else (),
        )
    ]


def stack_requirements(situation: Situation, stack: Stack) -> tuple[str, ...]:
    """Return the requirements as the manager needs them: conda's solver finds what belongs to a torch by itself."""
    if situation.manager.name not in ("conda", "pixi"):
        return stack.requirements
    # conda-forge may not have the newest release yet: any up to it that runs on this macOS will do.
    names = [name for name, _ in stack.companions]
    return (f"torch<={stack.torch}", *names, *((stack.numpy,) if stack.numpy else ()))


def numpy_requirement(situation: Situation, stack: Stack) -> str:
    """Return NumPy as it is to be installed again: the installed version, where torch's ABI allows it."""
    found = situation.packages.get("numpy")
    if found is None or situation.manager.name in ("conda", "pixi"):
        return stack.numpy or "numpy"  # conda's solver looks after what depends on it
    same = pinned(found) or "numpy"
    return stack.numpy if stack.numpy and not same.startswith(("numpy==0.", "numpy==1.")) else same


def bare_name(requirement: str) -> str:
    """Return the name in a requirement.

    >>> bare_name("numpy<2"), bare_name("torch==2.8.0")
    ('numpy', 'torch')
    """
    return requirement.partition("==")[0].partition("<")[0]


def _changes(situation: Situation, stack: Stack) -> tuple[str, ...]:
    """Say which versions change: "torch 2.11.0 -> 2.8.0"."""
    pairs = [("torch", stack.torch), *stack.companions]
    lines = []
    for name, new in pairs:
        old = situation.packages.version(name) or (situation.facts.torch.version if name == "torch" else None)
        if old != new:
            lines.append(f"{name} {old or 'not installed'} -> {new}")
    numpy = situation.packages.version("numpy")
    if stack.numpy and numpy and not numpy.startswith(("0.", "1.")):
        lines.append(f"numpy {numpy} -> below 2, for which this torch was built")
    return tuple(lines)


def without_torch(situation: Situation, fix: str, found: NoTorch) -> list[Proposal]:
    """Propose an environment with another Python where that is the way; refuse where there is none."""
    if found.python is None or not _is_own_venv(situation):
        return [Refused(situation.cause.cause, found.because)]
    return replace_environment(situation, fix, minor=found.python, because=found.because)


def is_externally_managed(situation: Situation) -> bool:
    """True for a Python that belongs to Homebrew, uv or the system, and is no environment of the user's."""
    interpreter = situation.facts.interpreter
    managed = bool(interpreter.externally_managed) or interpreter.vendor == "apple"
    return managed and not interpreter.venv and not interpreter.conda


def _is_own_venv(situation: Situation) -> bool:
    return bool(situation.facts.interpreter.venv) and situation.manager.name in ("uv", "pip")


def new_venv(situation: Situation, fix: str, stack: Stack) -> list[Proposal]:
    """Propose a venv in the project's folder: the Python itself belongs to its package manager."""
    project = (situation.survey.project_folder or ".").rstrip("/")
    names = [f"{project}/.venv{ending}" for ending in ("", "-torch", *(f"-torch{n}" for n in range(2, 100)))]
    folder = next(name for name in names if name not in situation.survey.existing)
    steps = situation.manager.create(folder, situation.python, stack.requirements)
    return [
        PlannedFix(
            fix,
            situation.cause.cause,
            f"Make a virtual environment in {folder}: this Python is managed by its package manager and stays as it is",
            steps,
            downloads_mb=wheel_mb(stack.torch, situation.machine),
            python=f"{folder}/bin/python",
        )
    ]


def replace_environment(
    situation: Situation, fix: str, *, minor: str | None = None, because: str = "", newest: bool = False
) -> list[Proposal]:
    """Propose a new environment built beside the old one, proved, and put in its place.

    minor: the Python that it shall have; else the old one's. newest: the old torch is no measure for the new one.
    """
    from ._carry import OTHER_PYTHON, carried

    prefix = situation.facts.interpreter.prefix or prefix_of(situation.facts.interpreter.executable)
    if prefix is None:
        return [Refused(situation.cause.cause, "the folder of the environment is not known")]
    wanted = minor or situation.minor or "3.12"
    stack = situation.stack_for(wanted, fresh=newest or situation.packages.get("torch") is None)
    if isinstance(stack, NoTorch):
        return [Refused(situation.cause.cause, stack.because)]
    python = find_python(situation, wanted)
    if python is None:
        text = (
            f"Install Python {wanted} for Apple silicon (uv python install {wanted}, or python.org) and run this again."
        )
        return [Manual(situation.cause.cause, text)]
    folder, name = prefix.rstrip("/").rsplit("/", 1)
    plain = name.lstrip(".")
    beside = f"{folder}/.{plain}.mpsdoctor-new"
    names = [f"{folder}/.{plain}.mpsdoctor-old{number}" for number in ("", *range(2, 100))]
    aside = next(name for name in names if name not in situation.survey.existing)
    requirements, left = carried(situation, stack, versions=wanted == situation.minor)
    kind = "an arm64 " if situation.facts.interpreter.is_x86_64 and situation.machine == "arm64" else ""
    steps = [
        *situation.manager.create(beside, python, requirements),
        *switch_steps(situation, prefix.rstrip("/"), beside, aside),
    ]
    return [
        PlannedFix(
            fix,
            situation.cause.cause,
            f"Make the environment anew with {kind}Python {wanted}, in place of the old one, which stays as {aside}",
            tuple(steps),
            downloads_mb=wheel_mb(stack.torch, situation.machine),
            notes=(
                *((because,) if because else ()),
                f"asked for again: {len(requirements)}",
                *((OTHER_PYTHON,) if wanted != situation.minor else ()),
                *(f"not carried over: {one}" for one in left),
            ),
            python=f"{prefix.rstrip('/')}/bin/python",
        )
    ]


def switch_steps(situation: Situation, prefix: str, beside: str, aside: str) -> tuple[Step, ...]:
    """Return the steps that prove a new environment and put it in the old one's place."""
    from mpsdoctor.repair.actions import Prove, Relocate, Switch

    cause = situation.cause.cause
    return (
        Step(
            "prove the new environment", action=Prove(f"{beside}/bin/python", cause), writes=(), undo="nothing to undo"
        ),
        Step("let its scripts name the place it goes to", action=Relocate(beside, prefix), writes=(beside,)),
        Step(
            "put it in the place of the old one",
            action=Switch(prefix, beside, aside),
            writes=(prefix, beside, aside),
            undo="the old one is put back",
        ),
    )


def find_python(situation: Situation, minor: str) -> str | None:
    """Return an interpreter of this version and the Mac's architecture; with uv its name, which uv may download."""
    misled = situation.cause.cause == "macos-version-misreported"
    for found in situation.survey.pythons:
        if misled and found.path == situation.facts.interpreter.base_executable:
            continue
        if found.minor == minor and found.machine == situation.machine:
            return found.path
    if situation.manager.name != "uv":
        return None if situation.survey.live else f"python{minor}"
    return f"cpython-{minor}-macos-aarch64-none" if situation.machine == "arm64" else minor
