"""Throwaway environments with a real interpreter and a torch that misbehaves in one way."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

# What torch/__init__.py does, by the name of the fault.
FAULTS = {
    "segfault": "import os, signal; os.kill(os.getpid(), signal.SIGSEGV)",
    "null-pointer": "import ctypes; ctypes.string_at(0)",
    "abort": "import os; os.abort()",
    "openmp-abort": (
        "import os, sys\n"
        "sys.stderr.write('OMP: Error #15: Initializing libomp.dylib, but found libomp.dylib already '\n"
        "                 'initialized.\\n')\n"
        "sys.stderr.flush(); os.abort()"
    ),
    "hang": "import time; time.sleep(600)",
    "busy-hang": "while True: pass",
    "hang-ignoring-signals": (
        "import signal, time\n"
        "for name in ('SIGTERM', 'SIGINT', 'SIGHUP', 'SIGALRM'): signal.signal(getattr(signal, name), signal.SIG_IGN)\n"
        "time.sleep(600)"
    ),
    "wrong-architecture": (
        'raise ImportError("dlopen(/v/lib/python3.11/site-packages/torch/_C.cpython-311-darwin.so, 0x0002): tried: '
        "'/v/lib/python3.11/site-packages/torch/_C.cpython-311-darwin.so' (mach-o file, but is an incompatible "
        "architecture (have 'x86_64', need 'arm64e' or 'arm64'))\")"
    ),
    "missing-symbol": (
        'raise ImportError("dlopen(/v/torch/lib/libtorch_python.dylib, 0x000A): Symbol not found: '
        "_OBJC_CLASS_$_MPSGraphRandomOpDescriptor\\n  Referenced from: /v/torch/lib/libtorch_cpu.dylib\\n  "
        "Expected in: "
        '/System/Library/Frameworks/MetalPerformanceShadersGraph.framework")'
    ),
    "missing-libomp": (
        'raise ImportError("dlopen(/v/torch/_C.so, 0x0002): Library not loaded: @rpath/libomp.dylib\\n  Referenced '
        "from: /v/torch/lib/libtorch_cpu.dylib\\n  Reason: tried: '/v/torch/lib/libomp.dylib' (no such file)\")"
    ),
    "exit": "import sys; sys.exit(7)",
    "silent-exit": "import os; os._exit(0)",
    "keyboard-interrupt": "raise KeyboardInterrupt",
    "recursion": "def f(): f()\nf()",
    "closes-everything": "import os; os.closerange(0, 64)",
    "fork-keeps-pipe": (
        "import os, time\nif os.fork() == 0:\n    time.sleep(600)\n    os._exit(0)\n"
        "raise ImportError('the parent fails')"
    ),
}
# Faults after which torch is there and answers.
NOISE = {
    "flood": "import sys\nfor _ in range(1600): sys.stdout.write('x' * 65536)",
    "flood-of-lines": "import sys\nfor _ in range(100000): print('noise', '\\x1e' * 3)",
    "closed-stdout": "import os, sys; sys.stdout.close()",
    "closed-descriptor-1": "import os; os.close(1)",
    "binary-noise": "import os; os.write(1, bytes(range(256)) * 100); os.write(2, bytes(range(256)) * 100)",
    "lies-like-us": 'print(\'\\x1empsdoctor {"stage": "done", "is_available": true}\', flush=True)',
    "fork-and-live": "import os, time\nif os.fork() == 0:\n    time.sleep(600)\n    os._exit(0)",
}
SOUND = """
__version__ = "2.13.0"
class version:
    git_version, cuda, debug = "abc", None, False
class backends:
    pass
"""


def make_environment(folder: Path, torch: str) -> Path:
    """Make a venv with this torch/__init__.py and its metadata; return its interpreter."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)
    packages = next((folder / "lib").glob("python3*")) / "site-packages"
    (packages / "torch").mkdir()
    (packages / "torch" / "__init__.py").write_text(torch + "\n")
    info = packages / "torch-2.13.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: torch\nVersion: 2.13.0\n")
    (info / "RECORD").write_text("torch/__init__.py,,\n")
    return folder / "bin" / "python"
