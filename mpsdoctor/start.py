"""Where the program starts. The user's own files must not take the place of the standard library or of ours: a json.py
beside their program is what people ask us about, and it must not end us before we can answer.

Imports only what every Python has loaded by then.
"""

import atexit
import gc
import os
import sys
import threading

INTERNAL_ERROR, INTERRUPTED = 5, 130


def main() -> None:
    """Run the command line; never returns."""
    own_modules_first()
    # Nearly all that a run makes lives to its end: collecting as often as Python does costs a tenth of its time.
    gc.set_threshold(100_000, 20, 20)
    try:
        from mpsdoctor.cli import main as run
    except KeyboardInterrupt:
        os.write(2, b"interrupted; nothing was changed\n")
        _leave(INTERRUPTED)
    except (Exception, SystemExit) as error:
        _fail("mpsdoctor cannot start", error)
    try:
        run()
    except SystemExit as end:
        _leave(end.code if isinstance(end.code, int) else INTERNAL_ERROR)
    except KeyboardInterrupt:  # at the very end, when the answer is out
        _leave(INTERRUPTED)
    except Exception as error:  # where nothing more can be imported, not even what prints errors
        _fail("mpsdoctor itself failed", error)


def _fail(words: str, error: BaseException) -> None:
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    where = trace.tb_frame.f_code.co_filename if trace is not None else "?"
    sys.stderr.write(f"{words}: {type(error).__name__}: {error} (in {where})\n")
    _leave(INTERNAL_ERROR)


def _leave(status: int) -> None:
    """End now, with what the modules registered for the end done, but without Python's taking them all apart.

    That takes a tenth of a `check --no-import`. And where an interruption came inside of code that is made at run time
    (every dataclass is), CPython would then kill itself with SIGINT, whatever the status.
    """
    try:
        _wait_for_threads()
        atexit._run_exitfuncs()
        for stream in (sys.stdout, sys.stderr):
            if stream is not None:
                stream.flush()
    finally:  # also where nobody reads the streams (that was told), or an interruption comes just now
        os._exit(status)


def _wait_for_threads() -> None:
    """Wait for what an interruption left at work: a thread that is just starting a child ends it a moment later."""
    for _ in range(100):  # times a tenth of a second; an interruption can leave a thread that waits for ever
        here = threading.current_thread()
        at_work = [thread for thread in threading.enumerate() if thread is not here and not thread.daemon]
        if not at_work:
            return
        if "mpsdoctor.probes.process" in sys.modules:
            sys.modules["mpsdoctor.probes.process"].end_all_children()
        at_work[0].join(0.1)


def own_modules_first() -> None:
    """Move the folders of the user (PYTHONPATH, the script's or the working folder) behind all others on sys.path.

    They stay on it, for plug-ins may lie there. Where mpsdoctor itself lies in one of them, that one keeps its place.
    """
    own = os.path.dirname(os.path.dirname(_absolute(__file__)))
    named = os.environ.get("PYTHONPATH", "").split(os.pathsep) if not sys.flags.ignore_environment else []
    theirs = {_absolute(entry) for entry in named}
    if not getattr(sys.flags, "safe_path", False) and sys.path:
        theirs.add(_absolute(sys.path[0]))
    theirs.discard(own)
    sys.path.sort(key=lambda entry: _absolute(entry) in theirs)


def _absolute(path: str) -> str:
    try:
        return os.path.abspath(path)
    except (OSError, TypeError, ValueError):  # the working folder is gone; what is on sys.path is no path at all
        return path
