"""Secrets and names as people paste them: options, prompts, plain words; and what only looks like one."""

from __future__ import annotations

import pytest

from mpsdoctor.facts.redaction import Redactor

HIDDEN = [
    ("DB_PASS=foo12345", "foo12345"),
    ("MY_CRED: zzzz1234", "zzzz1234"),
    ("twine upload --token abcdef123456 dist/x", "abcdef123456"),
    ("login --api-key=q1w2e3r4", "q1w2e3r4"),
    ("curl -u jane:Pa55word host", "Pa55word"),
    ("my password is swordfish9, really", "swordfish9"),
    ("passwd hunter3", "hunter3"),
    ("WANDB_API_KEY 0123456789abcdef0123456789abcdef", "0123456789abcdef"),
    ("anna@Annas-MacBook-Pro ~ % python x.py", "nna"),
    ("(base) tony_jack@tonysMac webui % ./webui.sh", "tony"),
    ("> anna@mbp:~/src$ pip list", "anna"),
    ("[anna@mini src]$ pip list", "anna"),
    ("host: Annas-MacBook-Pro.local", "Annas"),
    ("open?p=%2FUsers%2Fanna%2Fx", "anna"),
]
KEPT = [
    "git@github.com:org/repo.git",
    "torch @ https://download.pytorch.org/whl/cpu/torch-2.13.0-cp312-none-macosx_14_0_arm64.whl",
    "pip install --token-file x",
    "--api-key is required",
    "the password field is required",
    "~/.local/bin/mpsdoctor",
    "module.local_import",
    "numpy@2.1 x",
    "uname -u",
    "PYTORCH_MPS_HIGH_WATERMARK_RATIO 0.0",
    "RuntimeError: Expected one of cpu, cuda device type at start of device string: mps",
]


@pytest.mark.parametrize(("text", "secret"), HIDDEN)
def test_is_hidden_and_twice_is_once(text: str, secret: str) -> None:
    redactor = Redactor()
    once = redactor.text(text)
    assert secret not in once
    assert sum(redactor.counts.values()) == 1
    assert redactor.text(once) == once
    assert sum(redactor.counts.values()) == 1


@pytest.mark.parametrize("text", KEPT)
def test_stays_as_it_is(text: str) -> None:
    assert Redactor().text(text) == text


@pytest.mark.parametrize("key", ["hostname", "HOST_NAME", "userName", "LocalHostName", "computer_name", "MY_TOKEN"])
def test_the_name_of_a_fact_tells_that_its_value_is_personal(key: str) -> None:
    assert Redactor().value({"host": {key: "Annas-MBP"}}) == {"host": {key: "***"}}
