"""Requirement files that ask for builds which no Mac has."""

import posixpath

from mpsdoctor.repair import Manual, PlannedFix, Proposal, Situation, Step, TextFile, fix
from mpsdoctor.repair.actions import WriteText, digest
from mpsdoctor.repair.pins import foreign_indexes, rewriter


@fix("pins", causes=("non-mac-wheel-pin", "package-without-mac-wheel"), packages=False)
def pins(situation: Situation) -> list[Proposal]:
    """Rewrite the pins that no Mac can meet, so that other systems get what they got.

    Steps: requirements files, pyproject.toml (uv, Poetry) and pixi.toml in the working folder are rewritten: a pin
    is split by an environment marker, never replaced. An index without any wheel for Macs is told and left alone.

    Keeps: comments, order, formatting and line ends; what Linux and Windows install.

    Undo: the files are put back as they were. What was written into them since is kept beside them, under the run's
    name.
    """
    steps, notes = [], []
    for file in (*situation.survey.requirements, *situation.survey.projects):
        found = _step(file)
        if found is not None:
            steps.append(found[0])
            notes += found[1]
    told: list[Proposal] = [
        Manual(situation.cause.cause, _split(file.path, line))
        for file in situation.survey.requirements
        for line in foreign_indexes(file.text)
    ]
    if not steps:
        return told
    names = ", ".join(posixpath.basename(step.writes[0]) for step in steps)
    summary = f"Let Macs have the ordinary build in {names}; other systems get what they got"
    return [PlannedFix("pins", situation.cause.cause, summary, tuple(steps), notes=tuple(notes)), *told]


def _split(path: str, line: str) -> str:
    name = posixpath.basename(path)
    return (
        f"Split {name}: its line {line!r} makes an index without any wheel for Macs the only one. Move that line into "
        f"a file for the other systems (with -r {name} in it), and install from {name} on Macs."
    )


def _step(file: TextFile) -> tuple[Step, list[str]] | None:
    rewrite = rewriter(posixpath.basename(file.path))
    if rewrite is None:
        return None
    new, changes = rewrite(file.text)
    if not changes:
        return None
    action = WriteText(file.path, new, digest(file.text.encode()))
    notes = [f"{change.old.strip()} -> {' and '.join(part.strip() for part in change.new)}" for change in changes]
    return Step(f"rewrite {posixpath.basename(file.path)}", action=action, writes=(file.path,)), notes
