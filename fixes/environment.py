"""A new environment in the place of one that cannot be mended."""

from mpsdoctor.repair import Manual, Proposal, Refused, Situation, fix
from mpsdoctor.repair.wanted import best_release, fitting_python

from ._proposals import replace_environment

_CAUSES = ("broken-venv", "python-version-no-wheel", "python-implementation-unsupported", "macos-version-misreported")


@fix("environment", causes=_CAUSES)
def environment(situation: Situation) -> list[Proposal]:
    """Build a new environment beside the broken one, prove it, and let it take the old one's place.

    Steps: a venv beside the old one with a Python that is there (or that uv fetches); the user's packages into it;
    an examination; its scripts made to name the place they go to; two renames.

    Keeps: the old environment as a whole, under the name `.NAME.mpsdoctor-old`; the packages that were asked for by
    name, at their versions where the Python stays the same. What cannot be carried over is named in the plan.

    Undo: the two renames back. Work that was done in the new environment since stays, in a folder that carries the
    run's name.
    """
    cause, facts = situation.cause.cause, situation.facts
    minor = situation.minor or "3.12"
    if cause == "macos-version-misreported":
        told = (facts.environment.variables or {}).get("SYSTEM_VERSION_COMPAT") == "1"
        # Not a variable: this Python was built with an old SDK, and another one is told the truth.
        return [] if told or not _is_venv(situation) else replace_environment(situation, "environment")
    if cause != "broken-venv" or best_release(facts.host, minor, situation.machine) is None:
        other = fitting_python(facts.host, situation.machine)
        if other is None:
            return [Refused(cause, f"no torch can use the GPU on macOS {facts.host.macos_version}")]
        minor = other if cause != "python-implementation-unsupported" or not _suits(situation, minor) else minor
    if not _is_venv(situation):
        text = f"Make one with Python {minor}: uv venv --python {minor}, or conda create -n torch python={minor}"
        return [Manual(cause, text)]
    return replace_environment(situation, "environment", minor=minor)


def _suits(situation: Situation, minor: str) -> bool:
    return best_release(situation.facts.host, minor, situation.machine) is not None


def _is_venv(situation: Situation) -> bool:
    interpreter = situation.facts.interpreter
    # A dangling interpreter tells nothing of itself; pip and uv environments have bin/python in a folder of their own.
    return bool(interpreter.venv) or interpreter.base_exists is False
