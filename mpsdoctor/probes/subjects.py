"""Reads every subject of the facts from one machine, side by side; nothing here judges."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from concurrent.futures import Executor, Future, wait
from pathlib import Path
from typing import Any, TypeVar

from mpsdoctor.facts import Binaries, Conda, Facts, Packages, Problems, Torch, decode, encode
from mpsdoctor.facts.environment import Environment
from mpsdoctor.facts.host import Host
from mpsdoctor.facts.interpreter import Interpreter
from mpsdoctor.probes.apple import observe_host
from mpsdoctor.probes.choice import Target
from mpsdoctor.probes.interpreter import InterpreterAnswer, not_started, read_interpreter
from mpsdoctor.probes.process import Completed
from mpsdoctor.probes.runner import Runner, home_folder
from mpsdoctor.probes.torch import ask_torch

T = TypeVar("T")
Reader = Callable[[Runner, Interpreter, Problems], T]
_PATIENCE = 0.1  # seconds; a signal that comes just before an endless wait begins would not end that wait


def read_subjects(
    runner: Runner,
    target: Target,
    asked: Future[Completed] | None,
    pool: Executor,
    *,
    torch_timeout: float | None,
    meanwhile: Callable[[], None],
) -> tuple[Facts, Problems]:
    """Return the facts and, in words, what could not be read.

    asked: the child that runs the interpreter's script, already started; None where the target's file is a dangling
    link. pool: has room for every command that can run at the same time. torch_timeout: seconds for the torch child;
    None leaves torch alone. meanwhile: is called while the first child runs.

    What computes runs here, one after the other: threads of one Python would only take turns.
    """
    problems: Problems = []
    host = pool.submit(observe_host, runner, pool)
    answered = pool.submit(_answer, runner, target, asked, pool, torch_timeout)
    meanwhile()
    _wait(answered)
    answer, torch = answered.result()
    interpreter = answer.interpreter
    packages = _survive(Packages, _packages, runner, interpreter, problems)
    conda = _survive(Conda, _conda, runner, interpreter, problems)
    binaries = _survive(Binaries, _binaries, runner, interpreter, problems)
    _wait(host, *([torch] if torch is not None else []))
    facts = Facts(
        host=_with_container(host.result(), answer),
        interpreter=_with_architectures(interpreter, binaries),
        torch=torch.result() if torch is not None else Torch(),
        packages=packages,
        conda=conda,
        environment=answer.environment,
        binaries=binaries,
    )
    return facts, problems


def _wait(*futures: Future[Any]) -> None:
    while wait(futures, timeout=_PATIENCE).not_done:
        pass


def _answer(
    runner: Runner, target: Target, asked: Future[Completed] | None, pool: Executor, torch_timeout: float | None
) -> tuple[InterpreterAnswer, Future[Torch] | None]:
    """Read the interpreter's answer as soon as it is there, and start the torch child at once: it takes longest."""
    if asked is None:
        return _not_asked(target), None
    answer = read_interpreter(runner, target.executable, target.chosen_by, asked.result())
    # Only after it has proved to be Python: what is no Python must not be started twice with our arguments.
    if torch_timeout is None or answer.interpreter.end is not None:
        return answer, None
    return answer, pool.submit(ask_torch, runner, target.executable, torch_timeout)


def _not_asked(target: Target) -> InterpreterAnswer:
    end = "its link leads to nothing"
    interpreter = not_started(target.executable, target.chosen_by, end, real_path=target.dangling)
    return InterpreterAnswer(interpreter, Environment(), False)


def _survive(subject: type[T], read: Reader[T], runner: Runner, interpreter: Interpreter, problems: Problems) -> T:
    """Whatever one reader meets, the other facts still give a diagnosis: what broke is told, and its facts unknown."""
    try:
        return read(runner, interpreter, problems)
    except Exception as error:
        if isinstance(error.__cause__, KeyboardInterrupt):  # it came while a class was made
            raise
        words = " ".join(str(error).split())[:200]
        problems.append(f"{subject.__name__.lower()} could not be read: {type(error).__name__}: {words}")
        return subject()


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
