"""Drives the probes and gives Facts. Everything that is slow runs side by side; nothing here judges."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from pathlib import Path
from typing import Any, TypeVar

from mpsdoctor.facts import Binaries, Conda, Facts, Packages, Problems, Torch, decode, encode
from mpsdoctor.facts.host import Host
from mpsdoctor.facts.interpreter import Interpreter
from mpsdoctor.probes.apple import observe_host
from mpsdoctor.probes.choice import Target
from mpsdoctor.probes.interpreter import InterpreterAnswer, ask_interpreter, not_started
from mpsdoctor.probes.process import end_all_children
from mpsdoctor.probes.runner import Runner, home_folder
from mpsdoctor.probes.torch import DEFAULT_TIMEOUT, ask_torch

T = TypeVar("T")
Reader = Callable[[Runner, Interpreter, Problems], T]
_PATIENCE = 0.1  # seconds; a signal that comes just before an endless wait begins would not end that wait
_WORKERS = 16  # one for every command that can run at the same time: they wait, they do not compute


def observe(
    runner: Runner, target: Target, *, import_torch: bool = True, timeout: float = DEFAULT_TIMEOUT
) -> tuple[Facts, Problems]:
    """Observe the machine and one interpreter. Returns the facts and what could not be read, in words.

    import_torch: False leaves torch alone (its files are still read). timeout: seconds for the torch child.
    """
    problems: Problems = []
    pool = ThreadPoolExecutor(_WORKERS, thread_name_prefix="probe")
    try:
        facts = _observe(runner, target, pool, import_torch, timeout, problems)
    except BaseException:
        end_all_children()
        pool.shutdown(wait=False, cancel_futures=True)
        raise
    pool.shutdown()
    return facts, problems


def _observe(
    runner: Runner, target: Target, pool: ThreadPoolExecutor, import_torch: bool, timeout: float, problems: Problems
) -> Facts:
    host = pool.submit(observe_host, runner, pool)
    answer = _ask(runner, target, timeout)
    interpreter = answer.interpreter
    torch: Future[Torch] | None = None
    if import_torch and interpreter.end is None and target.dangling is None:
        # Only after it has proved to be Python: what is no Python must not be started twice with our arguments.
        torch = pool.submit(ask_torch, runner, target.executable, timeout)
    packages = pool.submit(_survive, Packages, _packages, runner, interpreter, problems)
    conda = pool.submit(_survive, Conda, _conda, runner, interpreter, problems)
    binaries = pool.submit(_survive, Binaries, _binaries, runner, interpreter, problems)
    asked: list[Future[Any]] = [future for future in (host, torch, packages, conda, binaries) if future is not None]
    while wait(asked, timeout=_PATIENCE).not_done:
        pass
    files = binaries.result()
    return Facts(
        host=_with_container(host.result(), answer),
        interpreter=_with_architectures(interpreter, files),
        torch=torch.result() if torch is not None else Torch(),
        packages=packages.result(),
        conda=conda.result(),
        environment=answer.environment,
        binaries=files,
    )


def _survive(subject: type[T], read: Reader[T], runner: Runner, interpreter: Interpreter, problems: Problems) -> T:
    """Whatever one reader meets, the other facts still give a diagnosis: what broke is told, and its facts unknown."""
    try:
        return read(runner, interpreter, problems)
    except Exception as error:
        words = " ".join(str(error).split())[:200]
        problems.append(f"{subject.__name__.lower()} could not be read: {type(error).__name__}: {words}")
        return subject()


def _ask(runner: Runner, target: Target, timeout: float) -> InterpreterAnswer:
    answer = None if target.dangling else ask_interpreter(runner, target.executable, target.chosen_by, timeout)
    if answer is not None:
        return answer
    from mpsdoctor.facts.environment import Environment

    interpreter = not_started(
        target.executable, target.chosen_by, "its link leads to nothing", real_path=target.dangling
    )
    return InterpreterAnswer(interpreter, Environment(), False)


def _with_container(host: Host, answer: InterpreterAnswer) -> Host:
    if not answer.dockerenv or host.container is not None:
        return host
    return dataclasses.replace(host, container="docker", sources={**host.sources, "container": "/.dockerenv"})


def _with_architectures(interpreter: Interpreter, files: Binaries) -> Interpreter:
    own = files.by_role("interpreter")
    if not own or not own[0].architectures:
        return interpreter
    sources = {**interpreter.sources, "binary_architectures": own[0].path}
    return dataclasses.replace(interpreter, binary_architectures=own[0].architectures, sources=sources)


def _paths(texts: Sequence[str] | None) -> list[Path]:
    return [Path(text) for text in texts or ()]


def _packages(runner: Runner, interpreter: Interpreter, problems: Problems) -> Packages:
    def read() -> object:
        from mpsdoctor.probes.packages import read_distributions

        found = read_distributions(_paths(interpreter.site_packages))
        return encode(Packages(distributions=found, sources={"*": "metadata in site-packages"}))

    if runner.live and interpreter.site_packages is None:
        return Packages()
    told = runner.probe("packages", read)
    return decode(Packages, told, problems, "packages") if told is not None else _recorded_packages(runner, problems)


def _recorded_packages(runner: Runner, problems: Problems) -> Packages:
    """Recordings made with pip's or uv's own commands instead of our reader."""
    from mpsdoctor.probes import packages

    for argv, parse in (
        (["pip", "inspect"], packages.parse_pip_inspect),
        (["uv", "pip", "list", "--format", "json"], packages.parse_uv_pip_list),
        (["pip", "list", "--format", "json"], packages.parse_pip_list_json),
    ):
        done = runner.run(argv, timeout=0) if not runner.live else None
        if done is not None and done.ok:
            try:
                return Packages(distributions=parse(done.text), sources={"*": " ".join(argv)})
            except ValueError as error:
                problems.append(f"the recorded output of {' '.join(argv)} cannot be read: {error}")
    return Packages()


def _conda(runner: Runner, interpreter: Interpreter, problems: Problems) -> Conda:
    def read() -> object:
        from mpsdoctor.probes.conda import read_conda

        prefix = interpreter.prefix or interpreter.venv_home
        return encode(read_conda(Path(prefix), home=home_folder())) if prefix else None

    told = runner.probe("conda", read)
    if told is not None:
        return decode(Conda, told, problems, "conda")
    return Conda() if runner.live else _recorded_conda(runner, interpreter)


def _recorded_conda(runner: Runner, interpreter: Interpreter) -> Conda:
    """Recordings made with conda's own commands: they speak of the active environment, which may be another."""
    from mpsdoctor.probes import conda

    parts = []
    for argv, parse in (
        (["conda", "info", "--json"], conda.parse_conda_info),
        (["conda", "config", "--show", "--json"], conda.parse_conda_config),
        (["conda", "list", "--json"], conda.parse_conda_list),
    ):
        done = runner.run(argv, timeout=0)
        if done.ok:
            parts.append(parse(done.text))
    merged = conda.merge_conda(*parts) if parts else Conda()
    if merged.prefix is None or merged.prefix != interpreter.prefix:
        return Conda()
    return dataclasses.replace(merged, present=True)


def _binaries(runner: Runner, interpreter: Interpreter, problems: Problems) -> Binaries:
    def read() -> object:
        from mpsdoctor.probes.binaries import find_binaries

        found = find_binaries(
            executable=Path(interpreter.executable) if interpreter.executable else None,
            site_packages=_paths(interpreter.site_packages),
            prefix=Path(interpreter.prefix) if interpreter.prefix else None,
        )
        return encode(found)

    told = runner.probe("binaries", read)
    return decode(Binaries, told, problems, "binaries") if told is not None else Binaries()
