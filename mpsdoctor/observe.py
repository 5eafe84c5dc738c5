"""Drives the probes and gives Facts. Everything that is slow runs side by side; nothing here judges."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from mpsdoctor.probes.choice import Target
from mpsdoctor.probes.process import end_all_children
from mpsdoctor.probes.runner import Runner
from mpsdoctor.probes.target_child import TORCH_TIMEOUT, run_interpreter_script

if TYPE_CHECKING:
    from mpsdoctor.facts import Facts, Problems

_WORKERS = 16  # one for every command that can run at the same time: they wait, they do not compute


def observe(
    runner: Runner,
    target: Target,
    *,
    import_torch: bool = True,
    timeout: float = TORCH_TIMEOUT,
    meanwhile: Callable[[], None] = lambda: None,
) -> tuple[Facts, Problems]:
    """Observe the machine and one interpreter. Returns the facts and what could not be read, in words.

    import_torch: False leaves torch alone (its files are still read). timeout: seconds for the torch child.
    meanwhile: other work, called once while the first child runs.
    """
    pool = ThreadPoolExecutor(_WORKERS, thread_name_prefix="probe")
    try:
        asked = None
        if target.dangling is None:
            asked = pool.submit(run_interpreter_script, runner, target.executable, timeout)
        # The model of the facts and their readers take as long to load as the interpreter takes to answer.
        from mpsdoctor.probes.subjects import read_subjects

        torch_timeout = timeout if import_torch else None
        found = read_subjects(runner, target, asked, pool, torch_timeout=torch_timeout, meanwhile=meanwhile)
    except BaseException:
        pool.shutdown(wait=False, cancel_futures=True)  # first: a worker may be about to start the next child
        end_all_children()
        raise
    pool.shutdown()
    return found
