"""GitHub's hosted macOS images: what was seen of torch on the GPU of each, and what to pin."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from . import _data, versions


@dataclass(frozen=True)
class Seen:
    """What was seen of some releases of torch on one image; `usable` None where reports contradict each other."""

    torch_from: str | None
    torch_until: str | None
    usable: bool | None
    what: str
    advice: str


@dataclass(frozen=True)
class RunnerImage:
    """One image: the runner's variable ImageOS, the label for runs-on, whether GitHub still hosts it."""

    image_os: str
    label: str
    hosted: str
    seen: tuple[Seen, ...]
    sources: tuple[str, ...]

    def of(self, torch: str | None) -> Seen | None:
        """What was seen of this torch; None for one that is not known or newer than every report."""
        version = versions.stable(torch or "")
        return next((one for one in self.seen if _within(version, one)), None)


@cache
def runner_images() -> tuple[RunnerImage, ...]:
    """Every image, oldest first."""
    return tuple(
        RunnerImage(
            row["image_os"],
            row["label"],
            row["hosted"],
            tuple(Seen(**one) for one in row["seen"]),
            tuple(row["sources"]),
        )
        for row in _data.rows("runner_images")
    )


def runner_image(ci_image: str | None) -> RunnerImage | None:
    """The image that `ImageOS ImageVersion` ("macos15 20260727.0256.1") names; None for any other."""
    name = (ci_image or "").split(" ")[0].lower()
    return next((one for one in runner_images() if one.image_os == name), None)


def _within(version: tuple[int, int, int] | None, seen: Seen) -> bool:
    first, last = versions.stable(seen.torch_from or ""), versions.stable(seen.torch_until or "")
    if first is None and last is None:
        return True
    return version is not None and (first is None or first <= version) and (last is None or version <= last)
