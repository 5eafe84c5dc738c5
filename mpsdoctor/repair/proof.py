"""The proof of a repair: the environment examined anew, as a new shell would find it."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from mpsdoctor.facts import Facts, normalize
from mpsdoctor.repair.actions import Rename
from mpsdoctor.repair.plan import Plan
from mpsdoctor.report.model import Report, make_report
from mpsdoctor.report.source import Source


@dataclass(frozen=True)
class Examination:
    """How an environment is examined: its variables, the seconds for torch, and the files of the project."""

    environ: Mapping[str, str]
    timeout: float = 60.0
    folder: Path | None = None

    def report(self, python: str, unsets: Collection[str] = (), *, train: bool = False) -> Report:
        """Observe and judge. `unsets` are variables that a new shell will not have; `train` where a GPU is claimed."""
        from mpsdoctor.observe import observe
        from mpsdoctor.probes.choice import NoSuchInterpreter, choose_target
        from mpsdoctor.probes.runner import LiveRunner
        from mpsdoctor.registry import load_registry

        runner = LiveRunner({name: value for name, value in self.environ.items() if name not in unsets})
        try:
            target = choose_target(python, runner.environ)
        except NoSuchInterpreter as error:
            return make_report(Facts(), Source("live", python), load_registry(), problems=(str(error),))
        facts, problems = observe(runner, target, timeout=self.timeout)
        facts = as_on_the_mac(facts, self.environ)
        if train and facts.torch.usable:
            from mpsdoctor.smoke import SmokeRequest, run_smoke

            facts = replace(facts, smoke=run_smoke(runner, target.executable, SmokeRequest(quick=True)))
        return make_report(facts, Source("live", target.executable), load_registry(), problems=tuple(problems))

    @property
    def stands_in(self) -> bool:
        """True where this machine stands in for a recorded Mac."""
        from mpsdoctor.probes.demonstration import VARIABLE

        return bool(self.environ.get(VARIABLE))

    def causes(self, report: Report) -> tuple[str, ...]:
        """Return the causes of a report, and those that the project's files have."""
        from mpsdoctor.repair.look import project_pins

        found = [cause.cause for cause in report.diagnosis.causes]
        if self.folder is not None and project_pins(self.folder):
            found.append("non-mac-wheel-pin")
        return tuple(dict.fromkeys(found))


def as_on_the_mac(facts: Facts, environ: Mapping[str, str]) -> Facts:
    """Return the facts as on the recorded Mac, where a demonstration asks for one (MPSDOCTOR_HOST_RECORDING)."""
    from mpsdoctor.probes.demonstration import VARIABLE, as_if_on

    recording = environ.get(VARIABLE)
    if not recording:
        return facts
    from mpsdoctor.observe import observe
    from mpsdoctor.probes.choice import Target
    from mpsdoctor.probes.replay import ReplayRunner

    recorded, _ = observe(ReplayRunner(Path(recording)), Target("python", "the recording"), import_torch=False)
    return as_if_on(recorded, facts)


def changed_packages(before: Facts, after: Facts) -> tuple[str, ...]:
    """Say what changed: "torch 2.11.0 -> 2.8.0", "+ sympy 1.14.0", "- old 1.0"."""
    old, new = _versions(before), _versions(after)
    lines = []
    for name in sorted({*old, *new}):
        if old.get(name) == new.get(name):
            continue
        if name not in old:
            lines.append(f"+ {name} {new[name]}")
        elif name not in new:
            lines.append(f"- {name} {old[name]}")
        else:
            lines.append(f"{name} {old[name]} -> {new[name]}")
    return tuple(lines)


def _versions(facts: Facts) -> dict[str, str]:
    found: dict[str, list[str]] = {}
    for one in facts.packages.distributions or ():
        found.setdefault(normalize(one.name), []).append(one.version or "?")
    return {name: " and ".join(sorted(set(versions))) for name, versions in found.items()}


def unexpected(facts: Facts, expected: Sequence[tuple[str, str]]) -> tuple[str, ...]:
    """Say which packages have not the version that the plan named."""
    found = ((name, version, facts.packages.version(name)) for name, version in dict(expected).items())
    return tuple(f"{name} is {now or 'missing'}, not {version}" for name, version, now in found if now != version)


def doubts(before: Report, after: Report, *, torch: bool, stands_in: bool = False) -> tuple[str, ...]:
    """Return why a repair is not proved, or nothing where it is: what was not observed proves nothing.

    torch: the environment is meant to have a torch that works. stands_in: this machine stands in for a recorded Mac,
    whose GPU cannot be tried here.
    """
    facts = after.facts
    if facts.interpreter.version is None or facts.interpreter.end is not None:
        return (*after.problems[:1], "the interpreter does not answer")
    found = [problem for problem in after.problems if problem not in before.problems]
    found += [f"new: {cause}" for cause in sorted(_failed(after) - _named(before))]
    if torch and facts.torch.imported is not True:
        found.append(
            "torch cannot be imported" if facts.torch.imported is False else "the import of torch is not known"
        )
    elif torch and not stands_in:
        found += _gpu_doubts(facts)
    return tuple(found)


def _failed(report: Report) -> set[str]:
    return {f.cause for f in report.findings if f.outcome == "fail" and f.is_root and f.cause is not None}


def _named(report: Report) -> set[str]:
    return {cause.cause for cause in report.diagnosis.causes} | _failed(report)


def _gpu_doubts(facts: Facts) -> list[str]:
    if facts.smoke.usable is True or not (facts.torch.usable is True or claims_gpu(facts)):
        return []
    if facts.smoke.outcome is None:
        return ["torch does not find the GPU" if facts.torch.usable is False else "the GPU was not tried"]
    return [f"the GPU did not train ({facts.smoke.outcome} on {facts.smoke.device})"]


def claims_gpu(facts: Facts) -> bool:
    """True where this Mac, this Python and this release of torch together promise Apple's GPU."""
    from mpsdoctor.knowledge import releases, versions

    host, floor = facts.host, releases.floor_for(facts.torch.version or "")
    running = versions.macos(host.macos_version)
    if host.is_apple_silicon is not True or host.is_virtual or facts.interpreter.is_x86_64:
        return False
    return floor is not None and running is not None and versions.macos_in(running, floor.version, None)


def means_torch(plan: Plan, before: Facts, after: Facts) -> bool:
    """True where torch must work after a plan: it did before, the plan names it, or packages around it change."""
    words = [word for step in plan.steps for word in step.argv or ()]
    named = any(re.match(r"(?:py)?torch(?:$|[<>=!~])", word) for word in words)
    renamed = any(isinstance(step.action, Rename) for step in plan.steps)
    around = "install" in words and after.packages.get("torch") is not None
    return bool(before.torch.imported or named or renamed or around or any(fix.python for fix in plan.fixes))


def proof_words(facts: Facts, *, stands_in: bool = False) -> str:
    """Say what the proof rests on."""
    if facts.interpreter.version is None:
        return "none: the environment could not be observed anew"
    if stands_in:
        return "observed anew; the GPU is not proved on this machine, which stands in for a recorded Mac"
    if facts.smoke.outcome is not None:
        return f"observed anew, and trained on {facts.smoke.device}: {facts.smoke.outcome}"
    return "observed anew; no GPU is claimed here, so that nothing was trained on it"


def aimed(causes: Sequence[str], left: Sequence[str]) -> tuple[str, ...]:
    """Return the causes that were aimed at and are still there."""
    return tuple(cause for cause in dict.fromkeys(causes) if cause in left)
