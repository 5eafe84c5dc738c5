"""The program runs on another Python than the one that is looked after: a choice, told and not made."""

from mpsdoctor.repair import Manual, Proposal, Situation, fix


@fix("interpreter", causes=("wrong-interpreter",), packages=False)
def interpreter(situation: Situation) -> list[Proposal]:
    """Say which interpreter has torch, and how the program is made to run on it.

    Steps: none; which Python a program runs on is the user's choice.

    Keeps: everything.

    Undo: nothing to take back.
    """
    variables = situation.facts.environment.variables or {}
    prefix = next((variables[name] for name in ("VIRTUAL_ENV", "CONDA_PREFIX") if variables.get(name)), None)
    if prefix is None:
        return [Manual(situation.cause.cause, situation.cause.remedy or situation.cause.summary)]
    text = (
        f"Run the program with {prefix}/bin/python; in an editor choose it as the interpreter, in Jupyter run "
        f"{prefix}/bin/python -m ipykernel install --user and choose that kernel."
    )
    return [Manual(situation.cause.cause, text)]
