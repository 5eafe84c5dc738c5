"""Files, folders and source checkouts that Python finds before the real torch."""

import re

from mpsdoctor import (
    Environment,
    Evidence,
    Interpreter,
    Packages,
    Remedy,
    Shadow,
    Torch,
    Verdict,
    check,
    fail,
    passed,
    unknown,
    warn,
)

_PACKAGES = ("torch", "torchvision", "torchaudio", "numpy")
_WHERE = ("python", "-c", "import torch; print(torch.__file__)")


@check(
    "EN101",
    family="environment",
    cause="local-file-shadows-torch",
    causes=("source-shadows-package",),
    needs=("HW101", "PY100"),
)
def nothing_hides_torch(
    environment: Environment, interpreter: Interpreter, packages: Packages, torch: Torch
) -> Verdict:
    """No file or folder hides torch.

    Tested: whether a file or folder earlier on sys.path has the name of torch, torchvision, torchaudio, numpy or a
    standard module; from which file torch was really imported; and which file a failed import names.

    Why: Python takes the first file of a name. A torch.py of your own is then imported in place of the package, and a
    random.py in place of the standard module that torch needs. The source checkout of a library has the same effect.

    What to do: rename the file or folder and delete its __pycache__; run programs from outside a source checkout.

    Source: the documentation of sys.path; public tickets, sorted by cause.
    """
    found = [shadow for shadow in environment.shadows or () if not _installed_on_purpose(shadow, packages)]
    guilty = next((shadow for shadow in found if _hurts(shadow, interpreter, torch)), None)
    if guilty is not None:
        return _guilty(guilty, environment, packages, torch)
    stranger = _stranger(interpreter, packages, torch)
    if stranger is not None:
        return stranger
    if environment.shadows is None:
        return unknown("environment.shadows")
    latent = next((shadow for shadow in found if _hides_installed(shadow, packages)), None)
    if latent is not None:
        return warn(
            f"{latent.path} hides the installed {latent.name} for programs that run from its folder.",
            [_evidence(latent, environment)],
            [_remedy(latent)],
            cause=_cause(latent),
        )
    names = ", ".join(shadow.path for shadow in found[:3])
    return passed(f"named like other modules, without harm to torch: {names}" if names else "")


def _installed_on_purpose(shadow: Shadow, packages: Packages) -> bool:
    installed = packages.get(shadow.name)
    return installed is not None and installed.editable is True


def _hides_installed(shadow: Shadow, packages: Packages) -> bool:
    return shadow.name in _PACKAGES and (
        packages.get(shadow.name) is not None or packages.distributions is None or packages.partial is True
    )


def _inside(file: str | None, path: str) -> bool:
    return file is not None and (file == path or file.startswith(path.rstrip("/") + "/"))


def _import_failed(torch: Torch) -> bool:
    return torch.imported is False or (torch.imported is None and torch.end is not None)


def _is_real(torch: Torch) -> bool:
    """Only torch itself answers both questions."""
    return torch.version is not None and torch.built is not None


def _hurts(shadow: Shadow, interpreter: Interpreter, torch: Torch) -> bool:
    if torch.imported:
        return shadow.name == "torch" and _inside(torch.file, shadow.path)
    return _import_failed(torch) and _blamed(shadow, interpreter, torch)


def _blamed(shadow: Shadow, interpreter: Interpreter, torch: Torch) -> bool:
    """Does the failed import name this file, or speak of its module as a broken one?"""
    failure, end = torch.import_failure, torch.end
    files = [file for file in (failure.file, *failure.paths) if file] if failure else []
    if any(_inside(file, shadow.path) for file in files):
        return True
    text = (failure.message if failure else "") + (end.stderr_tail or "" if end else "")
    name, path = re.escape(shadow.name), re.escape(shadow.path)
    if re.search(rf"{path}(?![\w-])|module '{name}'|'{name}' is not a package|\({name}\.py, line", text):
        return True
    # A shadow of torch itself is what Python finds first, unless the failure lies in the installed one.
    sites = interpreter.site_packages or ()
    return shadow.name == "torch" and not any(_inside(file, site) for file in files for site in sites)


def _guilty(shadow: Shadow, environment: Environment, packages: Packages, torch: Torch) -> Verdict:
    evidence = [_evidence(shadow, environment)]
    if not torch.imported:
        message = torch.import_failure.message if torch.import_failure else ""
        evidence.append(Evidence("import torch", " ".join(message.split())[:200], torch.source("*")))
        what = (
            "your own file" if shadow.kind == "file" else "your own folder" if shadow.kind == "folder" else "a checkout"
        )
        detail = f"import torch fails because Python finds {what} {shadow.path} in place of the real {shadow.name}."
        return fail(detail, evidence, [_remedy(shadow)], cause=_cause(shadow), gpu=False)
    evidence.append(Evidence.of(torch, "file"))
    if not _is_real(torch):
        detail = f"import torch gives {shadow.path}, which is not PyTorch: it hides the real package."
        return fail(detail, evidence, [_remedy(shadow)], cause=_cause(shadow), gpu=False)
    if packages.get("torch") is None:
        return passed("torch is imported from a build of its own sources", evidence)
    detail = f"torch is imported from {shadow.path}, not from the installed package."
    return warn(detail, evidence, [_remedy(shadow)], cause=_cause(shadow))


def _stranger(interpreter: Interpreter, packages: Packages, torch: Torch) -> Verdict | None:
    """Judge an imported torch that is not torch, where no shadow was seen."""
    if not torch.imported or torch.version is not None:
        return None
    if torch.file is None:
        empty = torch.stage is not None and packages.distributions is not None and packages.get("torch") is None
        if not empty:
            return None
        return fail(
            "import torch finds only a folder called torch without code; torch itself is not installed.",
            [Evidence("packages.torch", "not found", packages.source("*"))],
            [Remedy("Rename that folder (it lies where the program is started), and install torch.", (_WHERE,))],
            gpu=False,
        )
    if not interpreter.site_packages or any(_inside(torch.file, site) for site in interpreter.site_packages):
        return None
    shadow = Shadow(name="torch", path=torch.file, kind="checkout" if "/torch/hub/" in torch.file else "file")
    detail = f"import torch gives {torch.file}, which is not PyTorch and lies outside site-packages."
    return fail(detail, [Evidence.of(torch, "file")], [_remedy(shadow)], cause=_cause(shadow), gpu=False)


def _cause(shadow: Shadow) -> str:
    return "source-shadows-package" if shadow.kind == "checkout" else "local-file-shadows-torch"


def _evidence(shadow: Shadow, environment: Environment) -> Evidence:
    return Evidence("environment.shadows", f"{shadow.kind} {shadow.path}", environment.source("shadows"))


def _remedy(shadow: Shadow) -> Remedy:
    if shadow.kind == "checkout":
        return Remedy(
            f"Run the program from a folder outside the checkout {shadow.path}, or install the checkout "
            "(pip install -e) once it is built.",
            (_WHERE,),
        )
    return Remedy(
        f"Rename {shadow.path} and delete the __pycache__ beside it; this must then name site-packages.", (_WHERE,)
    )
