"""Asks what an installation would change: the resolver by a dry run, and the metadata of what stays.

A resolver looks at what it is told to install; that another installed package asks for something else it does not
tell, so that is read from the metadata of each.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from mpsdoctor.facts import Facts, normalize
from mpsdoctor.probes.files import list_folder, read_head
from mpsdoctor.probes.process import Completed, run_child
from mpsdoctor.repair.commands import environment_of
from mpsdoctor.repair.names import one_line
from mpsdoctor.repair.plan import Plan, PlannedFix, Step

_SECONDS = 180.0
_METADATA_LIMIT = 256 * 1024  # bytes of a header; torch's has 6 kB
_UV_LINE = re.compile(r"^ (?P<sign>[-+~]) (?P<name>[A-Za-z0-9._-]+)==(?P<version>\S+)", re.MULTILINE)
_PINNED = re.compile(r"(?P<name>[A-Za-z0-9._-]+)==(?P<version>[^\s;]+)")
_SAID = 300
WHEELS = ("--only-binary", ":all:")  # a source package would be built, and its code run, before the yes


@dataclass(frozen=True)
class Resolution:
    """What an installation would bring: new versions by name, and why it cannot be done, if so."""

    versions: Mapping[str, str]
    problem: str = ""


def with_resolution(plan: Plan, facts: Facts, environ: Mapping[str, str]) -> Plan:
    """Return the plan with what the resolver says of it: what else changes, and which pins cannot be kept."""
    fixes, cannot_keep = [], list(plan.cannot_keep)
    for fix in plan.fixes:
        # A new environment is not there yet, and one without pip cannot be asked.
        later = fix.python is not None or any("ensurepip" in (step.argv or ()) for step in fix.steps)
        resolved = [] if later else [resolve(step, environ) for step in fix.steps if can_be_tried(step)]
        if not resolved:
            fixes.append(fix)
            continue
        versions = {name: version for one in resolved for name, version in one.versions.items()}
        cannot_keep += unsatisfied(facts, {**asked_for(fix), **versions})
        fixes.append(_with_notes(fix, facts, versions, [one.problem for one in resolved if one.problem]))
    return replace(plan, fixes=tuple(fixes), cannot_keep=tuple(dict.fromkeys(cannot_keep)))


def can_be_tried(step: Step) -> bool:
    """True for an installation by pip or uv into an environment that is there."""
    words = step.argv or ()
    return "pip" in words and "install" in words and "--no-deps" not in words


def resolve(step: Step, environ: Mapping[str, str]) -> Resolution:
    """Have the installer say what it would do. Nothing is changed."""
    argv, variables = step.argv or (), environment_of(step, environ)
    if argv[1:2] == ("pip",):
        done = run_child([*argv, "--dry-run", *WHEELS], timeout=_SECONDS, env=variables)
        found = {m["name"]: m["version"] for m in _UV_LINE.finditer(done.error_text) if m["sign"] != "-"}
    else:
        done = run_child([*argv, "--dry-run", *WHEELS, "--quiet", "--report", "-"], timeout=_SECONDS, env=variables)
        found = dict(_pip_report(done.text))
    return Resolution({normalize(name): version for name, version in found.items()}, "" if done.ok else why(done))


def _pip_report(text: str) -> Iterator[tuple[str, str]]:
    try:
        items = json.loads(text)["install"]
        yield from ((item["metadata"]["name"], item["metadata"]["version"]) for item in items)
    except (ValueError, KeyError, TypeError):
        return


def why(done: Completed) -> str:
    """Return the last words of an installer that failed, in one line."""
    lines = [line.strip() for line in (done.error_text or done.text).splitlines() if line.strip()]
    return one_line(" ".join(lines[-4:]))[:_SAID] if not lines else " ".join(" ".join(lines[-4:]).split())[:_SAID]


def asked_for(fix: PlannedFix) -> dict[str, str]:
    """Return the exact versions that the steps of a fix name."""
    words = [word for step in fix.steps for word in step.argv or ()]
    return {normalize(m["name"]): m["version"] for word in words if (m := _PINNED.fullmatch(word))}


def unsatisfied(facts: Facts, versions: Mapping[str, str]) -> list[str]:
    """Return what installed packages ask for and would not have any more: "helper 1.0 asks for torch<2.9"."""
    from packaging.requirements import InvalidRequirement, Requirement

    found = []
    for site in facts.interpreter.site_packages or ():
        for entry in list_folder(Path(site)):
            if not entry.name.endswith(".dist-info"):
                continue
            name, version, requires = _metadata(Path(entry.path) / "METADATA")
            if normalize(name) in versions:
                continue  # it gets a new version itself
            for text in requires:
                try:
                    wanted = Requirement(text)
                except InvalidRequirement:
                    continue
                new = versions.get(normalize(wanted.name))
                if new is None or wanted.marker is not None or wanted.specifier.contains(new, prereleases=True):
                    continue
                found.append(f"{one_line(name)} {one_line(version)} asks for {wanted.name}{wanted.specifier}")
    return found


def _metadata(path: Path) -> tuple[str, str, list[str]]:
    text = (read_head(path, _METADATA_LIMIT) or b"").decode("utf-8", "replace").split("\n\n", 1)[0]
    values: dict[str, list[str]] = {}
    for line in text.splitlines():
        key, _, value = line.partition(":")
        values.setdefault(key, []).append(value.strip())
    return values.get("Name", [""])[0], values.get("Version", [""])[0], values.get("Requires-Dist", [])


def _with_notes(fix: PlannedFix, facts: Facts, versions: Mapping[str, str], problems: list[str]) -> PlannedFix:
    asked = asked_for(fix)
    also = []
    for name, new in sorted(versions.items()):
        old = facts.packages.version(name)
        if name in asked or old == new or name in ("numpy",):
            continue
        also.append(f"{name} {old} -> {new}" if old else f"+ {name} {new}")
    notes = [*fix.notes]
    if also:
        notes.append(f"with it: {', '.join(also[:12])}" + (f" and {len(also) - 12} more" if len(also) > 12 else ""))
    notes += [f"the index does not give it: {problem}" for problem in problems]
    return replace(fix, notes=tuple(notes))
