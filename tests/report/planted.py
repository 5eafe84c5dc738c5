"""Recorded Macs into which names and secrets are planted, as they stand on somebody's machine."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache

from hypothesis import strategies as st

from mpsdoctor.cli.target import gather
from mpsdoctor.facts import Facts
from mpsdoctor.facts.redaction import Redactor
from tests.conftest import RECORDINGS

NAMES = sorted(path.name for path in RECORDINGS.iterdir() if path.is_dir())
# A user can be called as a folder, a package, a system or another name is: only his own folder may change then.
COMMON = ("home", "python", "site", "m", "MACOS", "lib", "torch", "bin", "arm64", "conda")
UGLY = (*COMMON, "Jane Doe", "jürgen", "o'neil", "a.b-c", "studio-mac", "JANE")
HOSTS = ("studio-mac.local", "Janes-MacBook-Pro.local", "wks-0042.corp.acme-inc.com")
_LETTERS = "abcdefghijkmnopqrstuvwxyz"
_WORD = st.text(_LETTERS, min_size=6, max_size=10).map(lambda word: f"{word}qz")
_TOKENS = st.text("ABCDEFGHJKLMNPQRSTUVWXYZ23456789", min_size=36, max_size=36)


@dataclass(frozen=True)
class Planted:
    """Facts of one machine, whose they are, and the texts of which none may survive."""

    recording: str
    facts: Facts
    user: str
    home: str
    host: str
    secrets: tuple[str, ...]

    def redactor(self) -> Redactor:
        return Redactor(home=self.home, user=self.user, host=self.host)


@cache
def _recorded(name: str) -> str:
    return json.dumps(gather(python=None, env=None, from_=None, replay=str(RECORDINGS / name)).facts.to_json())


@st.composite
def planted(draw: st.DrawFn) -> Planted:
    """Draw a recording and put a person, a company and their secrets into it."""
    recording = draw(st.sampled_from(NAMES))
    user = draw(st.sampled_from(UGLY) | _WORD)
    host = draw(st.sampled_from(HOSTS)) if draw(st.booleans()) else f"{user.replace(' ', '-')}-mac.local"
    company, other, token = f"{draw(_WORD)}.corp", draw(_WORD), draw(_TOKENS)
    home = f"/Users/{user}"
    index = f"nexus.{company}.com"
    data = json.loads(_recorded(recording).replace("/Users/user", json.dumps(home)[1:-1]))
    interpreter = data["interpreter"]
    interpreter["executable"] = interpreter.get("executable") or f"{home}/.venv/bin/python"
    if not interpreter["executable"].startswith("/Library"):
        interpreter["sys_path"] = [f"{home}/work", f"{home}/.venv/lib/python3.12/site-packages"]
    interpreter["user_site"] = f"{home}/Library/Python/3.12/lib/python/site-packages"
    word, udid, address = draw(_WORD), "00008103-001A2B3C4D5E001E", "a4:83:e7:12:34:56"
    serial, uuid = f"C02{token[:9]}", "0F1E2D3C-4B5A-6978-8796-A5B4C3D2E1F0"
    environment = data["environment"]
    environment["variables"] = {
        **(environment.get("variables") or {}),
        "PIP_INDEX_URL": f"https://{other}:{token}@{index}/repository/pypi/simple",
        "PIP_EXTRA_INDEX_URL": f"https://{index}/t/{token}/simple https://download.pytorch.org/whl/cpu",
        "PYTHONSTARTUP": f"{home}/.startup.py:/Users/{other}/x:/var/folders/zz/{token.lower()}/T/x",
        "TORCH_HOME": f"{home.upper()}/cache",
        "UV_INDEX": f"internal=https://{index}:8443/simple?token={token}",
    }
    data["torch"]["warnings"] = [
        *(data["torch"].get("warnings") or []),
        f"mail {other}.smith@{company}.com from {host}: Serial Number (system): {serial}, UUID {uuid}",
        f"HF_TOKEN={token} and Authorization: Bearer {token}x1 and then ghp_{token}",
        f"password: {word} at https://{other}:{word}@nexus/simple, device {udid}, {address}",
        f"Darwin {word}-mac 24.5.0 Darwin Kernel Version 24.5.0",
        f"{index} did not answer; git@git.{company}.com:team/repo",
    ]
    distributions = data["packages"].get("distributions")
    if distributions:
        distributions[0]["direct_url"] = (
            f"git+https://{other}:{token}@git.{company}.com/team/{distributions[0]['name']}"
        )
        distributions[0]["location"] = f"{home}/src"
    secrets = [
        token,
        token.lower(),
        company,
        f"{other}.smith",
        f"/Users/{other}",
        f"{other}:",
        serial,
        uuid,
        f"/Users/{user}",
        word,
        udid,
        address,
    ]
    if user not in COMMON and len(user) > 2:
        secrets.append(user)
    if host in HOSTS:
        secrets.append(host.split(".")[0])
    return Planted(recording, Facts.from_json(data), user, home, host, tuple(secrets))
