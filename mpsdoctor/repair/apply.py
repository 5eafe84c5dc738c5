"""Does a plan: the state is saved first, each step is journalled, and any failure puts everything back."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timezone
from typing import Any

from mpsdoctor import __version__
from mpsdoctor.probes.process import run_child
from mpsdoctor.repair import journal as j
from mpsdoctor.repair import later, snapshot
from mpsdoctor.repair.actions import StepFailed, Switch, Work
from mpsdoctor.repair.commands import STEP_SECONDS, environment_of
from mpsdoctor.repair.inventory import inventory
from mpsdoctor.repair.paths import plainly
from mpsdoctor.repair.plan import Plan, Step
from mpsdoctor.repair.proof import Examination, aimed, changed_packages, doubts, means_torch, proof_words, unexpected
from mpsdoctor.repair.put_back import begun, keep_edits, put_back
from mpsdoctor.repair.store import FIXED, FORMAT, INTERRUPTED, REMAINS, UNDONE, Run, Store
from mpsdoctor.repair.verify import NotStarted, verify_target
from mpsdoctor.report.model import Report

_SAID = 600  # characters of a failed command's last words that are shown


@dataclass(frozen=True)
class Applied:
    """How a run went. `after` is None where it did not come to the proof; `changes` are those of packages."""

    run: str
    fixes: tuple[str, ...]
    outcome: str
    before: Report
    after: Report | None = None
    changes: tuple[str, ...] = ()
    why: str = ""
    proof: str = ""
    left: tuple[str, ...] = ()
    not_restored: tuple[str, ...] = ()

    @property
    def undo(self) -> tuple[str, ...]:
        """The command that takes it back."""
        return ("mpsdoctor", "undo", self.run)

    def to_json(self) -> dict[str, Any]:
        """Return the report's `applied`."""
        return {
            "run": self.run,
            "fixes": list(self.fixes),
            "outcome": self.outcome,
            "why": self.why,
            "proof": self.proof,
            "changes": list(self.changes),
            "left": list(self.left),
            "not_restored": list(self.not_restored),
            "before": self.before.to_json(),
            "after": None if self.after is None else self.after.to_json(),
            "undo": list(self.undo) if self.outcome in (FIXED, REMAINS) else [],
        }


@dataclass
class Applier:
    """One application of a plan. `say` gets one line for each thing that is begun."""

    plan: Plan
    before: Report
    examination: Examination
    store: Store
    say: Callable[[str], None] = lambda _: None
    _lock: int = field(default=-1, init=False)

    def apply(self) -> Applied:
        """Do the plan. Raises NotStarted, with nothing changed, and Locked."""
        verify_target(self.plan)
        with self.store.lock(self.plan.target) as self._lock:
            try:
                run = self.store.new_run()
            except OSError as error:
                raise NotStarted(f"the state before cannot be kept ({plainly(error)}); nothing was changed") from error
            roots = self._save(run)
            return self._steps(run, roots)

    @property
    def _moves(self) -> dict[str, str]:
        return {s.action.path: s.action.aside for s in self.plan.steps if isinstance(s.action, Switch)}

    def _save(self, run: Run) -> list[snapshot.Entry]:
        self.say("saving the state before")
        moves = self._moves
        writes = snapshot.behind_links(self.plan.writes, moves)
        try:
            about = {
                "format": FORMAT,
                "mpsdoctor": __version__,
                "target": self.plan.target,
                "fixes": [fix.fix for fix in self.plan.fixes],
                "writes": list(writes),
                "created": datetime.now(timezone.utc).isoformat(timespec="seconds"),
            }
            run.save("about.json", about)
            run.save("plan.json", self.plan.to_json())
            run.save("before.json", self.before.to_json())
            run.save("packages.json", inventory(writes))
            roots = snapshot.save(writes, moves, run.folder / "saved")
            run.save("saved.json", roots)
            run.journal.write(j.BEGIN, target=self.plan.target)
            run.journal.write(j.SAVED, paths=len(roots))
        except (OSError, KeyboardInterrupt) as error:
            run.forget()
            why = plainly(error) if isinstance(error, OSError) else "interrupted"
            raise NotStarted(f"the state before cannot be kept ({why}); nothing was changed") from error
        return roots

    def _steps(self, run: Run, roots: list[snapshot.Entry]) -> Applied:
        try:
            for number, step in enumerate(self.plan.steps):
                self.say(f"step {number + 1} of {len(self.plan.steps)}: {step.title}")
                if step.action is not None:
                    step.action.verify()
                writes = snapshot.behind_links(step.writes, self._moves)
                run.journal.write(j.STEP, number=number, title=step.title, writes=writes)
                self._do(step)
                run.journal.write(j.STEP_DONE, number=number)
            return self._prove(run, roots)
        except (StepFailed, OSError) as error:
            return self._put_back(run, roots, UNDONE, plainly(error))
        except KeyboardInterrupt:
            return self._put_back(run, roots, INTERRUPTED, "interrupted")
        except Exception as error:  # a fault of our own must not leave half a repair behind
            return self._put_back(run, roots, UNDONE, f"mpsdoctor itself failed: {type(error).__name__}: {error}")

    def _do(self, step: Step) -> None:
        if step.action is not None:
            step.action.execute(Work(self._causes_of))
        if step.argv is None:
            return
        unsets = [name for fix in self.plan.fixes for name in fix.unsets]
        environ = environment_of(step, self.examination.environ, unsets)
        done = run_child(step.argv, timeout=STEP_SECONDS, env=environ, keep=(self._lock,))
        if not done.ok:
            said = " ".join((done.error_text.strip() or done.text.strip())[-_SAID:].split())
            raise StepFailed(f"{step.argv[0]} {done.end.describe()}: {said}" if said else done.end.describe())

    def _causes_of(self, python: str) -> tuple[str, ...]:
        return tuple(cause.cause for cause in self.examination.report(python).diagnosis.causes)

    def _prove(self, run: Run, roots: list[snapshot.Entry]) -> Applied:
        self.say("examining the environment anew")
        python = next((fix.python for fix in self.plan.fixes if fix.python), self.plan.target)
        unsets = [name for fix in self.plan.fixes for name in fix.unsets]
        after = self.examination.report(python, unsets, train=True)
        left = aimed([fix.cause for fix in self.plan.fixes], self.examination.causes(after))
        strangers = unexpected(after.facts, [pair for fix in self.plan.fixes for pair in fix.expects])
        torch, stands_in = means_torch(self.plan, self.before.facts, after.facts), self.examination.stands_in
        why = (*strangers, *doubts(self.before, after, torch=torch, stands_in=stands_in))
        outcome = REMAINS if left or why else FIXED
        run.journal.write(j.PROVED, left=list(left))
        run.save("after.json", after.to_json())
        run.save("left.json", later.record(roots))
        run.journal.write(j.END, outcome=outcome)
        return Applied(
            run.id,
            tuple(fix.fix for fix in self.plan.fixes),
            outcome,
            self.before,
            after,
            changed_packages(self.before.facts, after.facts),
            why="; ".join(why),
            proof=proof_words(after.facts, stands_in=stands_in),
            left=left,
        )

    def _put_back(self, run: Run, roots: list[snapshot.Entry], outcome: str, why: str) -> Applied:
        self.say("putting everything back")
        try:
            kept = keep_edits(run, self.plan.steps)
        except OSError as error:
            return Applied(run.id, (), outcome, self.before, why=why, not_restored=(plainly(error),))
        if kept:
            why = f"{why}; what was written meanwhile is kept in {', '.join(kept)}"
        not_restored = put_back(run, begun(run, roots))
        fixes = tuple(fix.fix for fix in self.plan.fixes)
        return Applied(run.id, fixes, outcome, self.before, why=why, not_restored=not_restored)


def with_plan(report: Report, plan: Plan, applied: Applied | None) -> Report:
    """Return the report with the plan and what became of it."""
    if applied is None:
        return dataclasses.replace(report, plan=plan.to_json())
    facts = report.facts
    if applied.after is not None:  # the training run of the proof is the report's own
        facts = dataclasses.replace(facts, smoke=applied.after.facts.smoke)
    return dataclasses.replace(report, facts=facts, plan=plan.to_json(), applied=applied.to_json())
