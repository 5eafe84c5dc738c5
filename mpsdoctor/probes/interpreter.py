"""Asks the target interpreter what it is (by target/interpreter_probe.py) and what surrounds it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from mpsdoctor.facts.codec import decode
from mpsdoctor.facts.environment import Environment, Shadow
from mpsdoctor.facts.interpreter import Interpreter
from mpsdoctor.facts.process import ProcessEnd
from mpsdoctor.probes.answers import Answers, parse_answers
from mpsdoctor.probes.process import Completed
from mpsdoctor.probes.runner import Runner
from mpsdoctor.probes.target_child import INTERPRETER_TIMEOUT, run_interpreter_script

_SOURCE = "the interpreter"
_HOME_LINE = re.compile(r"^home\s*=\s*(.{1,1024})$", re.MULTILINE)


@dataclass(frozen=True)
class InterpreterAnswer:
    """The two subjects that one child gives, and whether the interpreter is inside a Linux container (recordings)."""

    interpreter: Interpreter
    environment: Environment
    dockerenv: bool


def ask_interpreter(
    runner: Runner, executable: str, chosen_by: str, timeout: float = INTERPRETER_TIMEOUT
) -> InterpreterAnswer:
    """Run the target with our script and return what it says; see `read_interpreter` and `run_interpreter_script`."""
    return read_interpreter(runner, executable, chosen_by, run_interpreter_script(runner, executable, timeout))


def read_interpreter(runner: Runner, executable: str, chosen_by: str, done: Completed) -> InterpreterAnswer:
    """Return what the target said of itself; its failure to answer is a fact, too."""
    if done.end.how == "refused":
        source = {"*": "xcode-select -p"}
        refused = Interpreter(executable=executable, chosen_by=chosen_by, end=done.end, sources=source)
        return InterpreterAnswer(refused, _environment({}, runner), False)
    values = parse_answers(done.stdout)
    if values is None:
        return InterpreterAnswer(_silent(done, executable, chosen_by), _environment({}, runner), False)
    answers = Answers(values)
    return InterpreterAnswer(
        _interpreter(answers, executable, chosen_by),
        _environment(values, runner),
        answers.flag("/.dockerenv") is True,
    )


def _silent(done: Completed, executable: str, chosen_by: str) -> Interpreter:
    missing = done.end.how == "not-started" and done.end.error == "not in the recording"
    return Interpreter(
        executable=executable if not missing else None,
        chosen_by=chosen_by,
        end=None if missing else done.end,
        sources={"*": _SOURCE},
    )


def _interpreter(answers: Answers, executable: str, chosen_by: str) -> Interpreter:
    from mpsdoctor.knowledge.pythons import vendor

    told = answers.text("sys.executable") or executable
    prefix, base = answers.text("sys.prefix"), answers.text("sys.base_prefix")
    conda = answers.flag("conda-meta present")
    version_text = " ".join((answers.text("sys.version") or "").split()) or None
    pyvenv = answers.text("pyvenv.cfg")
    home = _HOME_LINE.search(pyvenv) if pyvenv else None
    mac_ver = answers.values.get("platform.mac_ver")
    seen = mac_ver[0] if isinstance(mac_ver, list) and mac_ver and isinstance(mac_ver[0], str) else None
    version = answers.text("platform.python_version")
    return Interpreter(
        executable=told,
        real_path=answers.text("real_path"),
        chosen_by=chosen_by,
        version=version or (version_text.split()[0] if version_text else None),
        version_text=version_text,
        implementation=answers.text("sys.implementation.name") or _implementation(version_text),
        vendor=_vendor(answers, vendor, told, base, conda is True),
        free_threaded=answers.flag("free_threaded"),
        pre_release=_pre_release(answers),
        machine=answers.text("platform.machine"),
        translated=answers.flag("sysctl.proc_translated"),
        prefix=prefix,
        base_prefix=base,
        base_executable=answers.text("sys._base_executable"),
        base_exists=answers.flag("base_exists"),
        venv=None if prefix is None or base is None else prefix != base or pyvenv is not None,
        venv_home=home[1].strip() if home else None,
        venv_prefix_moved=answers.text("moved_from") is not None if "moved_from" in answers.values else None,
        conda=conda,
        platform=answers.text("sys.platform"),
        platform_tag=answers.text("sysconfig.get_platform"),
        platform_text=answers.text("platform.platform"),
        macos_version_seen=seen or None,
        macos_version_true=answers.text("mac_ver with SYSTEM_VERSION_COMPAT=0"),
        site_packages=answers.texts("site_packages"),
        user_site=answers.text("user_site"),
        user_site_enabled=answers.flag("user_site_enabled"),
        externally_managed=answers.flag("externally_managed"),
        sys_path=answers.texts("sys.path"),
        working_directory=answers.text("working_directory"),
        sources={"*": _SOURCE},
    )


def _vendor(answers: Answers, vendor: object, told: str, base: str | None, conda: bool) -> str | None:
    from collections.abc import Callable
    from typing import cast

    version_text = answers.text("sys.version")
    if version_text is None:
        return None
    rule = cast("Callable[..., str]", vendor)
    marker = answers.text("EXTERNALLY-MANAGED (base prefix)")
    return rule(version_text, told, base or "", conda, marker, answers.text("sys.platform") or "")


def _implementation(version_text: str | None) -> str | None:
    if version_text is None:
        return None
    return "pypy" if "PyPy" in version_text else "cpython"


def _pre_release(answers: Answers) -> bool | None:
    level = answers.text("sys.version_info.releaselevel")
    return None if level is None else level != "final"


def _environment(values: Mapping[str, object], runner: Runner) -> Environment:
    found = values.get("os.environ")
    inside = isinstance(found, dict)
    source = found if isinstance(found, dict) else runner.environ
    variables = {str(k): v for k, v in source.items() if isinstance(v, str)}
    if not inside:
        variables = allowed_variables(variables)
    shadows = values.get("shadows")
    image = " ".join(filter(None, (variables.get("ImageOS"), variables.get("ImageVersion"))))
    hosted = variables.get("RUNNER_ENVIRONMENT")
    return Environment(
        variables=variables,
        working_directory=values.get("working_directory") if isinstance(values.get("working_directory"), str) else None,  # type: ignore[arg-type]
        shadows=tuple(decode(Shadow, item) for item in shadows if _is_shadow(item))
        if isinstance(shadows, list)
        else None,
        sandbox=sandbox_sign(variables),
        ci="github-actions" if variables.get("GITHUB_ACTIONS") == "true" else "ci" if variables.get("CI") else None,
        ci_image=image or None,
        ci_hosted=None if hosted is None else hosted == "github-hosted",
        sources={"*": "environment of the interpreter" if inside else "environment"},
    )


def _is_shadow(item: object) -> bool:
    return isinstance(item, dict) and isinstance(item.get("name"), str) and isinstance(item.get("path"), str)


def allowed_variables(environ: Mapping[str, str]) -> dict[str, str]:
    """Return the variables that may be kept: the allow-list of the target's script."""
    from mpsdoctor.probes.target import allow_list

    return allow_list.keep(environ)


def sandbox_sign(variables: Mapping[str, str]) -> str | None:
    """Return the variable that shows a sandbox around us, as NAME=value."""
    for name in ("CODEX_SANDBOX", "APP_SANDBOX_CONTAINER_ID", "SANDBOX_RUNTIME"):
        if variables.get(name):
            return f"{name}={variables[name]}"
    return None


def not_started(executable: str, chosen_by: str, error: str, *, real_path: str | None = None) -> Interpreter:
    """Return the facts of an interpreter whose file is a link to nothing: a venv whose base is gone."""
    return Interpreter(
        executable=executable,
        real_path=real_path,
        chosen_by=chosen_by,
        base_exists=False,
        end=ProcessEnd(how="not-started", error=error),
        sources={"*": "the file itself"},
    )
