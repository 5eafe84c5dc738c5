"""Environment variables, taken out where they are set."""

import posixpath
import re

from mpsdoctor.knowledge.variables import judge
from mpsdoctor.repair import Manual, PlannedFix, Proposal, Situation, Step, fix
from mpsdoctor.repair.actions import WriteText, digest
from mpsdoctor.repair.startup import set_otherwise, sets, without

_ELSEWHERE = re.compile(
    r"download\.pytorch\.org/whl/(?:(?:nightly|test)/)?(?:cu|rocm|xpu)|^(?:cu|rocm|xpu)|linux|win32|win_|windows"
)
_INSTALLERS = ("PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL", "PIP_FIND_LINKS", "UV_INDEX_URL", "UV_EXTRA_INDEX_URL",
               "UV_DEFAULT_INDEX", "UV_INDEX", "UV_FIND_LINKS", "UV_TORCH_BACKEND", "PIP_PLATFORM",
               "UV_PYTHON")  # fmt: skip
_CAUSES = (
    "watermark-env-var-invalid",
    "env-var-ineffective",
    "macos-version-misreported",
    "non-mac-wheel-pin",
    "duplicate-openmp",
    "x86-python-under-rosetta",
)


@fix("variables", causes=_CAUSES, packages=False)
def variables(situation: Situation) -> list[Proposal]:
    """Take the variable out of the file that sets it: shell profile, activate script or conda's list.

    Steps: the line becomes a comment in a marked block; in conda's own list the entry goes. A line that does more
    is told and left to the user.

    Keeps: every other line; a variable that is set elsewhere (an editor, launchd, CI) is told.

    Undo: the files are put back as they were, through links as well. What was written into them since is kept
    beside them, under the run's name.
    """
    names = _guilty(situation)
    if not names:
        return []
    by_hand = {
        name: file.path for file in situation.survey.startup for name in set_otherwise(file.text, names)
    }  # taken out of another line alone it would still be set
    steps, found = [], set()
    for file in situation.survey.startup:
        conda = posixpath.basename(file.path) == "state"
        here = sets(file.text, [name for name in names if name not in by_hand], conda=conda)
        if here:
            new = without(file.text, here, conda=conda)
            title = f"take {', '.join(here)} out of {file.path}"
            action = WriteText(file.path, new, digest(file.text.encode()))
            steps.append(Step(title, action=action, writes=(file.path,)))
            found |= set(here)
    proposals: list[Proposal] = []
    cause = situation.cause.cause
    if steps:
        note = "programs that run already, and this shell, keep the variable: open a new terminal window"
        names_out = tuple(sorted(found))
        summary = f"Unset {', '.join(names_out)} where it is set"
        proposals.append(PlannedFix("variables", cause, summary, tuple(steps), notes=(note,), unsets=names_out))
    for name in [name for name in names if name not in found]:
        text = f"Unset {name} in the shell, and remove it where it is set (shell profile, editor, launchd, CI)"
        if name in by_hand:
            text = f"Take {name} out of {by_hand[name]} by hand: it stands there in a line or block with more in it"
        proposals.append(Manual(cause, text))
    return proposals


def _guilty(situation: Situation) -> list[str]:
    """Return the variables that the cause speaks of."""
    cause, values = situation.cause.cause, situation.facts.environment.variables or {}
    if cause in ("watermark-env-var-invalid", "env-var-ineffective"):
        torch = situation.facts.torch.version or situation.packages.version("torch")
        return [
            n
            for n in sorted(values)
            if judge(n, values[n], torch, {k: v for k, v in values.items() if k != n}).cause == cause
        ]
    if cause == "macos-version-misreported":
        return ["SYSTEM_VERSION_COMPAT"] if values.get("SYSTEM_VERSION_COMPAT") == "1" else []
    if cause == "duplicate-openmp":
        return ["KMP_DUPLICATE_LIB_OK"] if "KMP_DUPLICATE_LIB_OK" in values else []
    if cause == "x86-python-under-rosetta":
        wrong = {"UV_PYTHON": "x86_64", "CONDA_SUBDIR": "osx-64"}
        return [name for name, text in wrong.items() if text in values.get(name, "")]
    return [name for name in _INSTALLERS if _ELSEWHERE.search(values.get(name, ""))]
