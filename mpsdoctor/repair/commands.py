"""The environment that a plan's commands run in: settings that would lead them astray are left out."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from mpsdoctor.repair.plan import Step

STEP_SECONDS = 3600.0  # a download of torch over a slow line takes many minutes
# Settings that would send an installation elsewhere than into the target, ask for builds that no Mac has, or only play.
_MISLEADING = frozenset(
    {
        *("PIP_TARGET", "PIP_PREFIX", "PIP_USER", "PIP_ROOT", "PIP_PLATFORM", "PIP_DRY_RUN"),
        *("UV_SYSTEM_PYTHON", "UV_TARGET", "UV_PREFIX", "UV_TORCH_BACKEND", "UV_PYTHON"),
        *("PYTHONPATH", "PYTHONHOME", "CONDA_SUBDIR"),
    }
)
_STEADY = {
    "PIP_DISABLE_PIP_VERSION_CHECK": "1",
    "PYTHONDONTWRITEBYTECODE": "1",
    "SYSTEM_VERSION_COMPAT": "0",
    "CONDA_ALWAYS_YES": "1",
    "UV_NO_PROGRESS": "1",
}


def environment_of(step: Step, environ: Mapping[str, str], unsets: Collection[str] = ()) -> dict[str, str]:
    """Return the variables for a step's command. `unsets` are those that the same plan takes out."""
    kept = {name: value for name, value in environ.items() if name not in _MISLEADING and name not in unsets}
    return {**kept, **_STEADY, **step.env}
