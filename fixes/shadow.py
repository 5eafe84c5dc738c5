"""A file that hides torch."""

import posixpath
import re

from mpsdoctor import Shadow
from mpsdoctor.repair import Manual, PlannedFix, Proposal, Situation, Step, fix
from mpsdoctor.repair.actions import Forget, Rename


@fix("shadow", causes=("local-file-shadows-torch", "source-shadows-package"), packages=False)
def shadow(situation: Situation) -> list[Proposal]:
    """Rename the file or folder that Python finds in place of the real package; nothing is deleted.

    Steps: `torch.py` becomes `my_torch.py`, and its compiled copy is forgotten.

    Keeps: the file with all that is in it.

    Undo: the old name comes back. What was written into the renamed file since stays there.
    """
    cause = situation.cause.cause
    found = [one for one in situation.facts.environment.shadows or () if one.kind in ("file", "folder")]
    guilty = [one for one in found if _is_named(one.path, situation.cause.summary)]
    if cause == "source-shadows-package" or not guilty:
        return [Manual(cause, situation.cause.remedy or situation.cause.summary)]
    steps = [step for one in guilty for step in _steps(one, situation.facts.interpreter.version_info)]
    names = ", ".join(posixpath.basename(one.path) for one in guilty)
    return [PlannedFix("shadow", cause, f"Rename {names}, so that the real package is found", tuple(steps))]


def _is_named(path: str, summary: str) -> bool:
    """True where the finding speaks of this very path: what else has a module's name may be innocent."""
    return re.search(rf"(?<!\S){re.escape(path)}(?=[\s,;:]|\.?$)", summary) is not None


def _steps(one: Shadow, version: tuple[int, ...] | None) -> list[Step]:
    folder, name = posixpath.split(one.path.rstrip("/"))
    stem, dot, ending = name.partition(".")
    to = posixpath.join(folder, f"my_{stem}{dot}{ending}")
    steps = [Step(f"rename {name} to {posixpath.basename(to)}", action=Rename(one.path, to), writes=(one.path, to))]
    if one.kind == "file" and version is not None:
        cache = posixpath.join(folder, "__pycache__", f"{stem}.cpython-{version[0]}{version[1]}.pyc")
        steps.append(Step("forget its compiled copy", action=Forget(cache), writes=(cache,)))
    return steps
