"""The environment variables that may be read: those that change what Python, pip, conda or torch do.

Used inside the target (Python 3.7 syntax, standard library only) and by the parent.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

ALLOWED_PREFIXES = ("PYTORCH_", "KMP_", "OMP_", "DYLD_", "MTL_", "TORCH_", "MKL_", "VECLIB_", "OPENBLAS_")
ALLOWED = frozenset(
    """
    PYTHONPATH PYTHONHOME PYTHONSTARTUP PYTHONNOUSERSITE PYTHONSAFEPATH PYTHONDONTWRITEBYTECODE PYTHONMALLOC
    PYTHONFAULTHANDLER PYTHONPLATLIBDIR PYTHONUSERBASE PYTHONEXECUTABLE PYTHON_GIL
    VIRTUAL_ENV CONDA_PREFIX CONDA_DEFAULT_ENV CONDA_SHLVL CONDA_EXE CONDA_SUBDIR CONDA_OVERRIDE_OSX CONDA_CHANNELS
    MAMBA_EXE MAMBA_ROOT_PREFIX PIXI_PROJECT_ROOT PIXI_ENVIRONMENT_NAME UV_PYTHON UV_INDEX_URL UV_EXTRA_INDEX_URL
    UV_DEFAULT_INDEX UV_INDEX UV_TORCH_BACKEND PIP_INDEX_URL PIP_EXTRA_INDEX_URL PIP_FIND_LINKS PIP_NO_BINARY
    PIP_ONLY_BINARY PIP_PLATFORM PYENV_ROOT PYENV_VERSION ARCHPREFERENCE ARCHFLAGS
    SYSTEM_VERSION_COMPAT MACOSX_DEPLOYMENT_TARGET CUDA_VISIBLE_DEVICES ACCELERATE_USE_MPS_DEVICE
    CODEX_SANDBOX CODEX_SANDBOX_NETWORK_DISABLED SANDBOX_RUNTIME APP_SANDBOX_CONTAINER_ID CLAUDECODE
    CI GITHUB_ACTIONS RUNNER_OS RUNNER_ARCH RUNNER_ENVIRONMENT ImageOS ImageVersion
    TERM_PROGRAM VSCODE_PID PYCHARM_HOSTED JPY_PARENT_PID COLAB_RELEASE_TAG
    """.split()
)
SECRET = ("TOKEN", "SECRET", "PASSW", "CREDENTIAL", "KEY", "COOKIE", "AUTH")


def keep(environ: Mapping[str, str]) -> dict[str, str]:
    """Return the allowed variables of a mapping; never one whose name looks like a secret's."""
    kept = {}
    for name, value in environ.items():
        allowed = name in ALLOWED or name.startswith(ALLOWED_PREFIXES)
        if allowed and not any(word in name.upper() for word in SECRET):
            kept[name] = value.encode("utf-8", "replace").decode("utf-8", "replace")[:4096]
    return kept
