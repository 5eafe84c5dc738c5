"""Lines of the form "label: value": issue forms, collect_env and the other dumps, system_profiler, sysctl."""

from __future__ import annotations

import re

from mpsdoctor.probes.intake.advice import is_advice
from mpsdoctor.probes.intake.collector import Collector
from mpsdoctor.probes.intake.readers import READERS, package
from mpsdoctor.probes.intake.text import Line

_SPLIT = re.compile(r"\s*(?::=|[:=|])(?!=)\s*|\s{2,}")
_TRIM = " \t`*_\"'<>,;?\\"
_SPECIFIED = frozenset({"python", "torch", "pytorch", "numpy", "torchvision", "torchaudio"})
_AROUND_VARIABLE = 24  # characters beside a variable that make a sentence of a line
_BRACKETS = re.compile(r"\s{0,8}\([^()]{0,30}\)\s{0,8}$")
_VARIABLE = re.compile(
    r"(?:^|[\s;`(])(?:export\s+|set(?:env)?\s+|os\.environ\[)?['\"]?"
    r"(?P<name>PYTORCH_\w{3,60}|KMP_\w{3,40}|OMP_NUM_THREADS|SYSTEM_VERSION_COMPAT|CONDA_SUBDIR|CONDA_PREFIX|VIRTUAL_ENV"
    r"|DYLD_\w{3,40}|PYTHONPATH|MTL_\w{3,40}|CODEX_SANDBOX\w{0,20})['\"]?\]?\s?[=:]\s?['\"]?(?P<value>[^\s'\"`,;)\\]{0,200})"
)

_PACKAGES = frozenset(
    [
        "torchvision",
        "torchaudio",
        "torchtext",
        "numpy",
        "transformers",
        "diffusers",
        "accelerate",
        "ultralytics",
        "xformers",
        "triton",
        "bitsandbytes",
        "pytorch-lightning",
        "lightning",
        "safetensors",
        "peft",
        "scipy",
        "scikit-learn",
        "pandas",
        "opencv-python",
        "cellpose",
        "timm",
        "datasets",
        "fastai",
        "sentence-transformers",
        "openai-whisper",
        "whisperx",
    ]
)


def read_line(into: Collector, line: Line, *, before: str = "", message_at: int | None = None) -> bool:
    """Read one line if it is a known label with a value; tell whether it was.

    `before`: the part of the logical line that stands on the lines above; `message_at`: where a recognised message
    begins in the logical line.
    """
    whole = before + line.text
    for variable in _VARIABLE.finditer(whole, max(0, len(before) - 1)) if "=" in line.text or ":" in line.text else ():
        alone = variable[0].strip() == line.text.strip()  # as `env` prints it, whatever stands above
        if is_advice(whole, variable.start("name"), variable.end(), None if alone else message_at):
            continue
        into.variable(variable["name"], variable["value"], line.number)
        # In the midst of a sentence it is told, and the sentence may tell more; a command begins with it.
        command = (line.fenced or line.prompt) and not whole[len(before) : variable.start()].strip()
        return command or line.prompt or _width(line.text) - len(variable[0]) < _AROUND_VARIABLE
    text = line.text
    split = _SPLIT.search(text)
    if split is None or split.start() > 60:
        return False
    key = label(text[: split.start()])
    if key in _SPECIFIED and split[0] == "=":
        return False  # python=3.10 stands in an environment file: what is wanted, not what is there
    value = text[split.end() :].strip(_TRIM + "|")
    reader = READERS.get(key)
    if reader is None and key in _PACKAGES:
        package(into, key, value, line.number)
        return True
    if reader is None or not value:
        return reader is not None
    reader(into, value, line.number)
    return True


def _width(text: str) -> int:
    """Columns on a screen: a Chinese or Japanese character, which says as much as two letters, counts twice."""
    return len(text) + sum(character > "\u2e80" for character in text)


def label(text: str) -> str:
    """Return the comparison form of a label: lower case, without markup and without a unit in brackets."""
    named = text.strip(_TRIM.replace("_", "")).lower()  # torch.__version__ ends with what else is markup
    if named in READERS:
        return named
    bare = text.strip(_TRIM).lower()
    short = _BRACKETS.sub("", bare).strip(_TRIM)
    return short if short and bare not in READERS else bare
