"""A real, live environment judged as if it stood on a recorded Mac: for tests and demonstrations on other systems.

The variable MPSDOCTOR_HOST_RECORDING names the recording. What only the Mac can say (hardware, macOS, the
interpreter's architecture, the GPU) comes from the recording; packages, files and the import of torch are live.
"""

from __future__ import annotations

import dataclasses

from mpsdoctor.facts import Binaries, Facts, Torch

VARIABLE = "MPSDOCTOR_HOST_RECORDING"
_OF_THE_MAC = (
    "machine",
    "translated",
    "platform",
    "platform_tag",
    "platform_text",
    "macos_version_seen",
    "macos_version_true",
)


def as_if_on(recorded: Facts, live: Facts) -> Facts:
    """Return the live facts with those of the Mac from the recording."""
    interpreter = dataclasses.replace(
        live.interpreter,
        binary_architectures=None,
        sources={**live.interpreter.sources, **dict.fromkeys(_OF_THE_MAC, f"recording ({VARIABLE})")},
        **{name: getattr(recorded.interpreter, name) for name in _OF_THE_MAC},
    )
    python = live.conda.get("python")
    if python is not None and python.subdir == "osx-arm64" and recorded.host.arm64_capable:
        # conda's own record tells which architecture it brought: a repair may have made another environment.
        native = {**dict.fromkeys(_OF_THE_MAC), "machine": "arm64", "translated": False}
        interpreter = dataclasses.replace(interpreter, **native)  # type: ignore[arg-type]
    foreign = live.binaries.files or ()
    files = tuple(binary for binary in foreign if binary.is_macho)  # this system's own kind says nothing of a Mac
    return dataclasses.replace(
        live,
        host=dataclasses.replace(recorded.host, sources={**recorded.host.sources, "*": f"recording ({VARIABLE})"}),
        interpreter=interpreter,
        torch=_without_device(live.torch),
        binaries=Binaries(files=files, sources=live.binaries.sources),
    )


def _without_device(torch: Torch) -> Torch:
    """torch's own import is real; what this system's build says of MPS is not the Mac's answer."""
    unknown = dict.fromkeys(("built", "available", "device_count", "allocation", "comparisons", "macos_at_least"))
    return dataclasses.replace(torch, **unknown)  # type: ignore[arg-type]
