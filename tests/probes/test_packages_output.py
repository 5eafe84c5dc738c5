"""Installed distributions as pip and uv print them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from mpsdoctor.facts import Distribution, Packages
from mpsdoctor.probes.packages import parse_pip_inspect, parse_pip_list_json, parse_uv_pip_list

RECORDINGS = Path(__file__).parents[1] / "recordings"


def recorded(profile: str, file: str) -> str:
    return (RECORDINGS / profile / file).read_text()


@pytest.mark.parametrize(("profile", "torch"), [("03-m4max-macos26", "2.14.1"), ("04-m1-macos13-old", "2.11.0")])
def test_recorded_pip_inspect(profile: str, torch: str):
    found = Packages(distributions=parse_pip_inspect(recorded(profile, "pip_inspect.json")))
    assert found.version("torch") == torch
    own = found.get("torch")
    assert own is not None
    assert (own.installer, own.editable) == ("pip", None)
    assert (own.location or "").endswith("site-packages")
    assert own.requires
    assert all(d.requires is None for d in found.distributions or () if d.name == "Jinja2")


def test_recorded_uv_pip_list():
    found = Packages(
        distributions=parse_uv_pip_list(recorded("01-m1-air-8gb-macos14-uv", "uv_pip_list_--format_json.json"))
    )
    assert found.version("torch") == "2.14.1"
    assert len(found.distributions or ()) == 11


def test_pip_inspect_with_an_origin():
    item = {
        "metadata": {"name": "tool", "version": "1"},
        "metadata_location": "/env/lib/python3.12/site-packages/tool-1.dist-info",
        "direct_url": {"url": "https://u:p@host/tool", "dir_info": {"editable": True}},
        "requested": True,
    }
    bare = {"metadata": {"name": "torch", "version": "2.9.1"}}
    text = json.dumps({"version": "1", "installed": [item, bare, {"metadata": 3}, {"metadata": {"name": ""}}, "x"]})
    assert parse_pip_inspect("WARNING: a newer pip is available\n" + text) == (
        Distribution(
            name="tool",
            version="1",
            location="/env/lib/python3.12/site-packages",
            direct_url="https://host/tool",
            editable=True,
            requested=True,
        ),
        Distribution(name="torch", version="2.9.1", requires=()),
    )


def test_pip_list():
    text = json.dumps(
        [
            {"name": "torch", "version": "2.9.1", "location": "/env", "installer": "pip"},
            {"name": "mine", "version": "0", "editable_project_location": "/src"},
            {"version": "1"},
            None,
        ]
    )
    assert parse_pip_list_json(text) == (
        Distribution(name="torch", version="2.9.1", location="/env", installer="pip"),
        Distribution(name="mine", version="0", location="/src", editable=True),
    )


@pytest.mark.parametrize("parse", [parse_pip_inspect, parse_uv_pip_list, parse_pip_list_json])
@pytest.mark.parametrize(
    "text", ["", "null", '{"installed": 3}', '[{"name": "to', "ERROR: unknown command", "[" * 9999]
)
def test_output_that_is_none_is_not_taken_for_an_empty_environment(parse, text: str):
    with pytest.raises(ValueError, match="This is no output of"):
        parse(text)
