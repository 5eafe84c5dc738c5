"""Names and secrets go, everything that a diagnosis needs stays, and redacting twice changes nothing more."""

from __future__ import annotations

import json
import time
import unicodedata
from datetime import date
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mpsdoctor.facts import Facts
from mpsdoctor.facts.redaction import Redactor
from mpsdoctor.observe import observe
from mpsdoctor.probes.choice import Target
from mpsdoctor.probes.replay import ReplayRunner
from mpsdoctor.registry import load_registry
from mpsdoctor.report.model import make_report
from mpsdoctor.report.source import Source
from tests.conftest import RECORDINGS
from tests.strategies import json_values

ZERO = "00000000-0000-0000-0000-000000000000"


def jane() -> Redactor:
    return Redactor(home="/Users/jane", user="jane", host="Janes-MacBook-Pro.local")


NAMES = [
    ("/Users/jane/env/bin/python", "~/env/bin/python"),
    ("/users/Jane/env", "~/env"),  # macOS does not tell case apart
    ("/Users/jane", "~"),
    ("HOME=/Users/jane:/usr/bin", "HOME=~:/usr/bin"),
    ("file:///Users/jane/x", "file://~/x"),
    ("/Users/janet/x", "/Users/user/x"),
    ("/mnt/Users/jane/x", "/mnt/Users/user/x"),
    ("-I/Users/jane/include", "-I/Users/user/include"),
    ("/System/Volumes/Data/Users/jane/x", "/System/Volumes/Data/Users/user/x"),
    ("/home/bob/x and /Users/Bob Smith/y", "/home/user/x and /Users/user/y"),
    ("/Users/bob and /opt", "/Users/user and /opt"),
    ("/Users/o'neil/x", "/Users/user/x"),
    (r"C:\Users\bob\torch", r"C:\Users\user\torch"),
    ("/Users/runner/work and /home/conda/feedstock", "/Users/runner/work and /home/conda/feedstock"),
    ("/Volumes/jane/env", "/Volumes/volume/env"),
    ("/Volumes/Acme Backup 2/env and /Volumes/x", "/Volumes/volume/env and /Volumes/volume"),
    ("-I/Volumes/ACME/inc -L/Volumes/ACME/lib", "-I/Volumes/volume/inc -L/Volumes/volume/lib"),
    (r"\/Volumes\/ACME\/x and %2FVolumes%2FACME%2Fx", r"\/Volumes\/volume\/x and %2FVolumes%2Fvolume%2Fx"),
    (
        "/System/Volumes/Data/Volumes/ACME/x /private/volumes/ACME",
        "/System/Volumes/Data/Volumes/volume/x /private/volumes/volume",
    ),
    ("/Volumes/Macintosh HDBob/x", "/Volumes/volume/x"),
    ("/Volumes/My Very Own Big Disk/x", "/Volumes/volume/x"),
    ("'/Volumes/Jane's Disk/a':/Volumes/b", "'/Volumes/volume/a':/Volumes/volume"),
    ("/Volumes/Macintosh HD/usr /System/Volumes/Preboot/x", "/Volumes/Macintosh HD/usr /System/Volumes/Preboot/x"),
    ("/opt/janes/jane.py", "/opt/janes/jane.py"),
    ("/env/lib/python3.12/site-packages/jane/x.py", "/env/lib/python3.12/site-packages/jane/x.py"),
    ("jane@Janes-MacBook-Pro ~ % python", "user@host ~ % python"),
    ("Darwin Janes-MacBook-Pro.local 24.5.0 Darwin", "Darwin host 24.5.0 Darwin"),
    ("Darwin Somebodys-Mac 24.5.0 Darwin", "Darwin host 24.5.0 Darwin"),
    ("http://janes-macbook-pro:3141/simple", "http://host:3141/simple"),
    ("jane is a word", "jane is a word"),
]


@pytest.mark.parametrize(("text", "expected"), NAMES)
def test_names_go_where_names_stand(text: str, expected: str) -> None:
    assert jane().text(text) == expected


@pytest.mark.parametrize("user", ["home", "python", "lib", "m", "MACOS", "Users", "torch", "arm64", "local", "x86_64"])
def test_a_user_called_like_a_part_of_every_path_changes_no_other_path(user: str) -> None:
    redactor = Redactor(home=f"/Users/{user}", user=user, host=user)
    for kept in ("/usr/bin/python", "/opt/homebrew/lib/python3.12", "macOS 14.5 arm64", "/home", "m1", "torch 2.13.0",
                 "/usr/local/bin", "macosx_14_0_x86_64", "/opt/m/Users"):  # fmt: skip
        assert redactor.text(kept) == kept
    assert redactor.text(f"/Users/{user}/proj/lib") == "~/proj/lib"
    assert redactor.text(f"Darwin {user} 24.5.0") == "Darwin host 24.5.0"


@pytest.mark.parametrize("home", ["/", "", None, "/usr", "/tmp", "/nonexistent"])
def test_a_home_that_is_nobodys_is_no_home(home: str | None) -> None:
    assert Redactor(home=home).text("/usr/lib /tmp/x /nonexistent/y") == "/usr/lib /tmp/x /nonexistent/y"


SPELLINGS = {
    "composed": lambda name: unicodedata.normalize("NFC", name),
    "decomposed": lambda name: unicodedata.normalize("NFD", name),
    "upper case": str.upper,
    "in a URL": lambda name: name.replace(" ", "%20").replace("ü", "%C3%BC"),
    "in JSON": lambda name: json.dumps(name)[1:-1],
}


@pytest.mark.parametrize("spelling", sorted(SPELLINGS))
@pytest.mark.parametrize("home", ["/Users/jürgen", "/Users/Jürgen Müller", "/people/team/jürgen müller"])
def test_a_name_goes_in_every_spelling(home: str, spelling: str) -> None:
    redactor = Redactor(home=home, user=home.rsplit("/", 1)[1])
    assert redactor.text(f"{SPELLINGS[spelling](home)}/env") == "~/env"
    assert redactor.text(f"/srv/{SPELLINGS[spelling](home.rsplit('/', 1)[1])}/env") == "/srv/user/env"


SECRETS = [
    ("https://{0}@pypi.example.com/simple", "url-credentials"),
    ("https://user:{0}@pypi.example.com/simple", "url-credentials"),
    ("https://user:p@{0}@pypi.example.com/simple", "url-credentials"),
    ("git+https://{0}@github.com/org/repo", "url-credentials"),
    ("https://conda.example.com/t/{0}/channel/osx-arm64", "token"),
    ("https://example.com/simple?token={0}&x=1", "token"),
    ("https://example.com/simple?x=1&X-Amz-Signature={0}#sha256=ab", "token"),
    ("HF_TOKEN={0}", "secret"), ('export WANDB_API_KEY="{0}"', "secret"), ("password: {0}", "secret"),
    ("Authorization: Bearer {0}", "token"), ("Authorization: Basic {0}", "token"),
    ("hf_{0}", "token"), ("ghp_{0}", "token"), ("github_pat_{0}", "token"), ("sk-{0}", "token"),
    ("eyJ{0}.{0}.sig", "token"), ("npm_{0}", "token"),
    ("Serial Number (system): {0}", "serial-number"), ('"serial_number" : "{0}"', "serial-number"),
    ('"IOPlatformSerialNumber" = "{0}"', "serial-number"),
    ("mail {0}@example.org now", "e-mail"),
    ("/private/var/folders/ab/{0}/T/tmp", "temporary-folder"),
]  # fmt: skip


@settings(max_examples=15, deadline=None)
@pytest.mark.parametrize(("form", "kind"), SECRETS)
@given(secret=st.text(alphabet="abcdefghijkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ0123456789", min_size=36, max_size=40),
       before=st.sampled_from(["", " ", "x=1 ", "'", "(", "\n", "log: "]))  # fmt: skip
def test_a_planted_secret_never_survives(form: str, kind: str, secret: str, before: str) -> None:
    redactor = Redactor()
    planted = before + form.format(f"{secret}7")
    for found in (redactor.text(planted), redactor.output(planted), json.dumps(redactor.value({"a": [planted]}))):
        assert secret not in found
    assert redactor.counts[kind] == 3
    again = redactor.text(planted)
    assert redactor.text(again) == again


def test_identifiers_go() -> None:
    redactor = Redactor()
    assert redactor.text("id 6F9619FF-8B86-D011-B42D-00C04FC964FF.") == f"id {ZERO}."
    assert redactor.text("UDID 00008103-001A2D3E4F5A001E") == "UDID ***"
    assert redactor.text("en0 a4:83:e7:12:34:56 up") == "en0 *** up"
    assert dict(redactor.counts) == {"uuid": 1, "serial-number": 1, "network-address": 1}


KEPT = """/opt/homebrew/Cellar/python@3.12/3.12.6/bin/python3.12
tokenizers==0.15.0
TOKENIZERS_PARALLELISM=false
Unexpected token: torch
torch @ git+https://github.com/pytorch/pytorch
git@github.com:pytorch/pytorch.git
https://download.pytorch.org/whl/cpu/torch-2.13.0-cp312-none-macosx_14_0_arm64.whl
https://repo.example.com/t/
Bearer authentication is needed
RuntimeError: MPS backend out of memory (MPS allocated: 8.50 GB, max allowed: 9.07 GB) on private pool
(mach-o file, but is an incompatible architecture (have 'x86_64', need 'arm64e' or 'arm64'))
sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0ba2a8dcaf5bea1f3f2a1c
12:30:45 2.13.0.dev20260101 scikit-learn disk-image task-force
serial number of cores"""


@pytest.mark.parametrize("text", KEPT.split("\n"))
def test_what_only_looks_like_a_secret_stays(text: str) -> None:
    redactor = jane()
    assert redactor.text(text) == text
    assert not redactor.counts


def test_keys_never_change_and_their_names_tell_a_secret() -> None:
    redactor = jane()
    given_ = {"/Users/jane": "/Users/jane", "serial_number": "C02XG2JHJGH5", "platform_UUID": "x1", "api_key": "k",
              "author": "A. Nonymous", "tokens": 7, "secretstorage": "3.3"}  # fmt: skip
    hidden = {"/Users/jane": "~", "serial_number": "***", "platform_UUID": "***", "api_key": "***"}
    assert redactor.value(given_) == {**given_, **hidden}


@pytest.mark.timeout(30)
@pytest.mark.parametrize(
    "piece", ["jane@", "/jane", "/Users/a ", "a@", "0-", "://", "?key=", "eyJ", "A_TOKEN", "Bearer 1"]
)
def test_a_long_text_is_redacted_in_time_that_grows_with_its_length(piece: str) -> None:
    jane().text(piece * 30_000)


def keys(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: keys(item) for key, item in value.items()}
    return [keys(item) for item in value] if isinstance(value, (list, tuple)) else None


PIECES = ["/Users/", "/home/", "jane", "Jane Doe", " ", "/", "@", "://", ":", "TOKEN=", "***", "~", "user", "host",
          "e-mail", "example.com", "-", "/t/", "?key=", "Darwin ", " 24.5", "ghp_" + "a" * 30,
          "/var/folders/", "\n", "'", "."]  # fmt: skip


@settings(max_examples=400, deadline=None)
@given(st.lists(st.sampled_from(PIECES) | st.text(max_size=3), max_size=14).map("".join))
def test_redacting_twice_is_redacting_once(text: str) -> None:
    once = jane().text(text)
    again = jane()
    assert again.text(once) == once
    assert not again.counts


@settings(max_examples=150, deadline=None)
@given(json_values())
def test_any_json_keeps_its_shape_and_its_keys(value: Any) -> None:
    assert keys(jane().value(value)) == keys(value)


@pytest.mark.parametrize("name", sorted(path.name for path in RECORDINGS.iterdir() if path.is_dir()))
@pytest.mark.parametrize("user", ["user", "python", "opt", "lib"])
def test_the_diagnosis_of_a_redacted_report_is_the_same(name: str, user: str) -> None:
    facts, _ = observe(ReplayRunner(RECORDINGS / name), Target("python", "the recording"))
    redactor = Redactor(home=f"/Users/{user}", user=user, host="Mac.local")
    again = Facts.from_json(json.loads(json.dumps(redactor.value(facts.to_json()))))

    def diagnosis(found: Facts) -> tuple[str, bool | None, list[str], list[tuple[str, str]]]:
        report = make_report(found, Source("replay", "x"), load_registry(), today=date(2026, 12, 1))
        outcomes = [(finding.id, finding.outcome) for finding in report.findings]
        answer = report.diagnosis
        return answer.verdict, answer.mps_usable, [cause.cause for cause in answer.causes], outcomes

    assert diagnosis(again) == diagnosis(facts)


PATHS = [
    ("https://nexus.acme.corp/repository/team-x/simple", "https://private-1.invalid/repository/***/simple"),
    ("https://nexus.acme.corp:8443/secret/whl/cu121", "https://private-1.invalid:8443/***/whl/cu121"),
    ("git@git.acme.corp:team/project.git", "git@private-1.invalid:***/***"),
    ("Pool(host='pkg.acme.corp', port=443): Max retries exceeded with url: /team/simple/torch/ (Caused",
     "Pool(host='private-1.invalid', port=443): Max retries exceeded with url: /***/simple/torch/ (Caused"),
    ("https://a.acme.corp/t and a.acme.corp/team/x", "https://private-1.invalid/t and private-1.invalid/***/***"),
    ("(see https://pkg.acme.corp/team/x).", "(see https://private-1.invalid/***/***)."),
    ("https://pkg.acme.corp/simple?team=blue", "https://private-1.invalid/simple?***"),
    (f"https://pkg.acme.corp/t-1.whl#sha256={'a' * 64}", f"https://private-1.invalid/t-1.whl#sha256={'a' * 64}"),
    ("https://pkg.acme.corp/a;b/team/", "https://private-1.invalid/***/***/"),
    ("https://pkg.acme.corp/" + "x" * 1990 + "/team/simple", "https://private-1.invalid/***/***/simple"),
    ("https://conda.acme.corp/pkgs/main/osx-arm64/repodata.json", "https://private-1.invalid/pkgs/main/osx-arm64/repodata.json"),
    ("HTTPSConnectionPool(host='pypi.org', port=443): Max retries exceeded with url: /simple/anything/",
     "HTTPSConnectionPool(host='pypi.org', port=443): Max retries exceeded with url: /simple/anything/"),
    ("git+ssh://git@git.acme.corp/team/project.git@main#egg=x", "git+ssh://***@private-1.invalid/***/***#***"),
    ("(https://a.acme.corp/x/torch-2.9.1-cp312-none-macosx_11_0_arm64.whl)",
     "(https://private-1.invalid/***/torch-2.9.1-cp312-none-macosx_11_0_arm64.whl)"),
    ("https://conda.acme.corp/conda-forge/osx-arm64/", "https://private-1.invalid/conda-forge/osx-arm64/"),
    ("https://download.pytorch.org/whl/cpu", "https://download.pytorch.org/whl/cpu"),
    ("https://github.com/somebody/torch-thing", "https://github.com/somebody/torch-thing"),
    ("http://nexus.acme.corp:8081", "http://private-1.invalid:8081"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "expected"), PATHS)
def test_the_path_on_a_private_host_names_no_team(text: str, expected: str) -> None:
    redactor = Redactor()
    assert redactor.text(text) == expected
    assert redactor.text(expected) == expected


def test_a_thousand_private_hosts_cost_no_minute() -> None:
    text = " ".join(f"https://h{number}.acme.corp/simple" for number in range(1000))
    started = time.monotonic()
    assert "acme" not in Redactor().text(text)
    assert time.monotonic() - started < 3
