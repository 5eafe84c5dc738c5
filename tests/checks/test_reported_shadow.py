"""A torch.py of the user's own is named before any release of torch is suspected."""

from datetime import date

import pytest

from mpsdoctor.diagnosis import diagnose
from mpsdoctor.probes.intake import read_ticket
from mpsdoctor.registry import judge, load_registry

FRAME = 'Traceback (most recent call last):\n  File "/Users/me/work/torch.py", line 3, in <module>\n    main()\n'
OWN = [
    "AttributeError: partially initialized module 'torch' has no attribute 'compile' (most likely due to a circular "
    "import)",
    "AttributeError: partially initialized module 'torch' has no attribute 'Tensor' (most likely due to a circular "
    "import)",
    "ModuleNotFoundError: No module named 'torch.nn'; 'torch' is not a package",
    "ModuleNotFoundError: No module named 'torch.utils.data'; 'torch' is not a package",
    "AttributeError: module 'torch' has no attribute 'compile' (consider renaming '/Users/me/torch.py' since it has "
    "the same name as the library you intended to import)",
    "ImportError: cannot import name 'nn' from 'torch' (/Users/me/torch.py)",
    f"{FRAME}AttributeError: module 'torch' has no attribute 'compile'",
    f"{FRAME}ModuleNotFoundError: No module named 'torch.nn.attention'",
    f"{FRAME}AttributeError: module 'torch' has no attribute 'Tensor'",
]
OTHER = [
    "AttributeError: module 'torch' has no attribute 'compile'",
    "ModuleNotFoundError: No module named 'torch.nn.attention'",
    FRAME.replace("/work/", "/v/lib/python3.12/site-packages/lib/")
    + "AttributeError: module 'torch' has no attribute 'compile'",
    FRAME.replace("in <module>", "in forward") + "AttributeError: module 'torch' has no attribute 'compile'",
]


def first_cause(text):
    facts, _ = read_ticket(text.encode())
    found = diagnose(judge(facts, load_registry(), today=date(2026, 11, 30)), facts)
    return found.causes[0]


@pytest.mark.parametrize("text", OWN)
@pytest.mark.parametrize("before", ["", "MacBook Air M2, macOS 15.3, Python 3.12, torch 2.8.0\n\n"])
def test_an_own_file_comes_first(text, before):
    found = first_cause(before + text)
    assert found.cause == "local-file-shadows-torch"
    assert found.confidence in ("certain", "likely")


@pytest.mark.parametrize("text", OTHER)
def test_without_its_signs_the_release_is_suspected(text):
    assert first_cause(text).cause == "torch-too-old"


def test_a_lone_frame_is_a_trace_and_no_proof():
    found = first_cause(f"{FRAME}ValueError: three")
    assert (found.cause, found.confidence) == ("local-file-shadows-torch", "possible")
