"""What a fix sees: facts, diagnosis, survey, and the answers that fixes share (manager, wanted torch)."""

from __future__ import annotations

import datetime
import functools
from dataclasses import dataclass, field, replace

from mpsdoctor.diagnosis import Diagnosis, FoundCause
from mpsdoctor.facts import Facts, Packages
from mpsdoctor.repair.managers import Manager, manager_for
from mpsdoctor.repair.survey import Survey
from mpsdoctor.repair.wanted import NoTorch, Stack, choose_stack, machine_of


@dataclass(frozen=True)
class Request:
    """What the user asked for beyond the repair: a nightly, another index, a folder for its wheels."""

    nightly: str | None = None
    index_url: str | None = None
    save_wheels: str | None = None
    today: datetime.date = field(default_factory=datetime.date.today)


@dataclass(frozen=True)
class Situation:
    """One target, one cause. Pure data: a fix makes its proposal from this alone."""

    facts: Facts
    diagnosis: Diagnosis
    cause: FoundCause
    survey: Survey = field(default_factory=Survey)
    request: Request = field(default_factory=Request)

    @functools.cached_property
    def causes(self) -> frozenset[str]:
        """Every cause that was found."""
        return frozenset(cause.cause for cause in self.diagnosis.causes)

    @functools.cached_property
    def packages(self) -> Packages:
        """The installed packages; by the files of the environment where its interpreter does not answer."""
        files = self.survey.files
        return files.packages if files and self.facts.packages.distributions is None else self.facts.packages

    @property
    def minor(self) -> str | None:
        """The environment's Python ("3.12"); by its files where its interpreter does not answer."""
        files = self.survey.files
        return self.facts.interpreter.minor or (files.interpreter.minor if files else None)

    @property
    def machine(self) -> str:
        """The architecture that packages must have."""
        return machine_of(self.facts)

    @functools.cached_property
    def manager(self) -> Manager:
        """The environment's own package manager."""
        return manager_for(self.facts, self.packages, self.survey)

    @functools.cached_property
    def stack(self) -> Stack | NoTorch:
        """What to install into the environment as it is."""
        return self.stack_for(self.minor)

    def stack_for(self, python: str | None, *, fresh: bool = False) -> Stack | NoTorch:
        """What to install for another Python."""
        facts = replace(self.facts, packages=self.packages)
        return choose_stack(facts, self.causes, python=python, machine=self.machine, fresh=fresh)

    @property
    def python(self) -> str:
        """The interpreter of the target."""
        return self.facts.interpreter.executable or "python"
