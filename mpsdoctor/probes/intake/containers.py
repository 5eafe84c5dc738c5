"""Whether a program runs inside of a container: Docker, Podman, Colima and their like."""

from __future__ import annotations

import re

from mpsdoctor.probes.intake.collector import Collector

_DOCKER = re.compile(r"\bdocker\b|\bdevcontainer\b|\bpodman\b|\bcolima\b|\borbstack\b|容器", re.IGNORECASE | re.ASCII)
_INSIDE = re.compile(
    r"\b(?:in|inside|within|using|use|via|with|run(?:s|ning)?)\s(?:an?\s|the\s|my\s)?(?:linux\s)?(?:docker|podman|colima|orbstack|container|devcontainer)\b"
    r"|\bdocker\b[^\n]{0,12}(?:里|中|内|容器|コンテナ|run|image|compose)|(?:im|mit|in) docker|docker ?(?:で|の中)",
    re.IGNORECASE | re.ASCII,
)
_OUTSIDE = re.compile(
    r"\b(?:not|without|outside|no)\b[^\n]{0,12}\bdocker\b|不(?:用|是)[^\n]{0,4}docker", re.IGNORECASE | re.ASCII
)


def named(text: str) -> bool:
    """Does the text name Docker or the like?"""
    return _DOCKER.search(text) is not None


def container(into: Collector, text: str, line: int, rank: int) -> None:
    """Read that the program runs in a container."""
    if _DOCKER.search(text) or "linuxkit" in text:
        into.put("host", "container", "docker", line, rank)


def told(into: Collector, text: str, line: int, rank: int) -> None:
    """Read a story that says that the program runs inside of a container."""
    if _INSIDE.search(text) and not _OUTSIDE.search(text):
        into.put("host", "container", "docker", line, rank)
