"""The private line to the parent: every answer is one marked JSON line on what was stdout at the start.

After `open_line` file descriptor 1 leads to stderr, so that whatever torch or sitecustomize prints cannot mix in.
Imported before every other module: while our own imports run, the folders of the user are off sys.path, for a file of
theirs called json.py or typing.py must not end the probe that is to find it.
Run by the target interpreter: standard library only, Python 3.7 syntax.
"""

from __future__ import annotations

import os
import sys

AT_START = frozenset(sys.modules)
HERE = os.path.dirname(os.path.abspath(__file__))


def callers_path() -> list[str]:
    """Return sys.path as the user's own program would see it: the working folder instead of this script's."""
    entries = [entry for entry in sys.path if os.path.abspath(entry or os.sep) != HERE]
    return entries if getattr(sys.flags, "safe_path", False) else ["", *entries]


def standard_path() -> list[str]:
    """Return the folders of the standard library."""
    library = os.path.dirname(os.path.abspath(os.__file__))
    archive = "python%d%d.zip" % sys.version_info[:2]
    standard = (library, os.path.join(library, "lib-dynload"))
    return [entry for entry in sys.path if entry in standard or os.path.basename(entry) == archive]


CALLERS_PATH = callers_path()
STANDARD = standard_path()
if sys.implementation.name == "cpython":  # others keep their standard library in more places
    sys.path[:] = [HERE, *STANDARD]

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

MARK = "\x1empsdoctor "


def open_line() -> Callable[[dict[str, Any]], None]:
    """Return a function that sends one dict as one line; it gives up silently when nobody listens any more."""
    try:
        descriptor = os.dup(1)
        os.dup2(2, 1)
    except OSError:
        descriptor = 1

    def send(values: dict[str, Any]) -> None:
        line = "\n" + MARK + json.dumps(values, sort_keys=True) + "\n"
        data = line.encode("ascii", "backslashreplace")
        try:
            while data:
                data = data[os.write(descriptor, data) :]
        except OSError:
            pass

    return send


def use_callers_path() -> None:
    """Give sys.path back to the user: what is imported from here on is what their own program would import.

    A module that we have loaded already is forgotten where a file of theirs hides it.
    """
    sys.path[:] = CALLERS_PATH
    for name in [name for name in sys.modules if name not in AT_START and name != __name__]:
        if is_hidden(name):
            del sys.modules[name]


def is_hidden(name: str) -> bool:
    """Return whether the user's folders hold a module or package of that name before the standard library."""
    for entry in CALLERS_PATH:
        if entry in STANDARD:
            return False
        path = os.path.join(entry or os.curdir, name)
        if os.path.isfile(path + ".py") or os.path.isfile(os.path.join(path, "__init__.py")):
            return True
    return False
