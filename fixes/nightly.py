"""A dated nightly of torch, with the torchvision of the same day."""

import datetime
import re

from mpsdoctor.knowledge import releases, versions
from mpsdoctor.repair import Install, PlannedFix, Proposal, Refused, Situation, Step, fix

INDEX = "https://download.pytorch.org/whl/nightly/cpu"
_CUT_DAYS = 42  # a release branch is cut about six weeks before its release; nightlies then lead to the next one
_DATE = re.compile(r"\d{4}-?\d{2}-?\d{2}")


@fix("nightly", causes=("nightly",))
def nightly(situation: Situation) -> list[Proposal]:
    """Pin one dated nightly of torch and torchvision together, from PyTorch's nightly index.

    Steps: one command with both exact versions and the nightly index; with `--save-wheels DIR` their download
    before it.

    Keeps: every other package; saved wheels stay with the user. The plan says when the nightly leaves the index.

    Undo: the environment's folder is put back from its copy.
    """
    request, cause = situation.request, situation.cause.cause
    pair = _pair(request.nightly or "")
    if pair is None:
        return [
            Refused(cause, f"{request.nightly!r} is no nightly: give a version such as 2.16.0.dev20261120, or its date")
        ]
    torch, torchvision = pair
    made = releases.nightly(torch)
    assert made is not None
    gone = releases.nightly_left_index(made.date, request.today)
    if gone:
        return [
            Refused(cause, f"the nightly of {made.date} has left the nightly index, which keeps the newest 60 versions")
        ]
    floor = releases.floor_for(torch)
    running = versions.macos(situation.facts.host.macos_version)
    if floor is not None and running is not None and not versions.macos_in(running, floor.version, None):
        return [Refused(cause, f"this nightly needs macOS {floor.version} for the GPU, as the release before it does")]
    if situation.manager.name not in ("uv", "pip"):
        return [Refused(cause, "conda has no nightlies of torch any more; make a venv for it")]
    index = request.index_url or INDEX
    wanted = (f"torch=={torch}", f"torchvision=={torchvision}")
    steps: list[Step] = []
    if request.save_wheels and situation.survey.pip is not False:  # uv has no command that only downloads
        download = (situation.python, "-m", "pip", "download", "--pre", "--index-url", index)
        argv = (*download, "--dest", request.save_wheels, *wanted)
        title = "save the wheels, for the day when the index has them no more"
        steps.append(Step(title, argv, writes=(request.save_wheels,), undo="the wheels stay", stays=True))
    steps += situation.manager.install(f"install {' and '.join(wanted)}", Install(wanted, index=index, pre=True))
    saved = steps[0].stays
    leaves = made.date + datetime.timedelta(days=releases.NIGHTLY_KEPT)
    kept = f"the wheels are kept in {request.save_wheels}" if saved else "keep its wheels: --save-wheels DIR (with pip)"
    notes = (f"it leaves the nightly index about {leaves}; {kept}",)
    summary = f"Install the nightly of {made.date}: torch {torch}, torchvision {torchvision}"
    expects = (("torch", torch), ("torchvision", torchvision))
    return [PlannedFix("nightly", cause, summary, tuple(steps), notes=notes, expects=expects)]


def _pair(asked: str) -> tuple[str, str] | None:
    """Return the versions of torch and torchvision of one night, by torch's version or by the date alone."""
    found = releases.nightly(asked)
    if found is None and _DATE.fullmatch(asked):
        digits = asked.replace("-", "")
        try:
            day = datetime.date(int(digits[:4]), int(digits[4:6]), int(digits[6:]))
        except ValueError:
            return None
        found = releases.Nightly(day, f"2.{_minor_at(day)}.0")
    if found is None:
        return None
    minor = int(found.base.split(".")[1])
    stamp = f"{found.date:%Y%m%d}"
    # torchvision 0.(N+15) belongs to torch 2.N (table of releases, 2.0 to 2.14).
    return f"{found.base}.dev{stamp}", f"0.{minor + 15}.0.dev{stamp}"


def _minor_at(day: datetime.date) -> int:
    """Return the minor number that a day's nightlies lead to."""
    cut = datetime.timedelta(days=_CUT_DAYS)
    coming = [one for one in releases.releases() if one.key[2] == 0 and one.key[0] == 2 and one.date - cut > day]
    return coming[0].key[1] if coming else releases.newest().key[1] + 1
