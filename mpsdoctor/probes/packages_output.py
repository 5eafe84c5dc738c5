"""Installed distributions as pip and uv print them: pure parsers of recorded output."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from mpsdoctor.facts import Distribution, normalize
from mpsdoctor.probes.files import load_json, without_credentials

# The distributions whose requirements and files checks look into.
DETAILED = frozenset({"torch", "torchvision", "torchaudio", "numpy"})


def parse_pip_inspect(text: str) -> tuple[Distribution, ...]:
    """Read the output of `pip inspect`. Raises `ValueError` where it is none: no answer is not "nothing installed"."""
    data = load_json(text)
    installed = data.get("installed") if isinstance(data, dict) else None
    if not isinstance(installed, list):
        raise ValueError("This is no output of pip inspect: it has no list named installed.")
    return tuple(made for item in _objects(installed) if (made := _inspected(item)))


def parse_uv_pip_list(text: str) -> tuple[Distribution, ...]:
    """Read the output of `uv pip list --format json`. Raises `ValueError` where it is none."""
    return _listed(text, "uv pip list --format json")


def parse_pip_list_json(text: str) -> tuple[Distribution, ...]:
    """Read the output of `pip list --format json`, also with -v. Raises `ValueError` where it is none."""
    return _listed(text, "pip list --format json")


def _listed(text: str, command: str) -> tuple[Distribution, ...]:
    data = load_json(text)
    if not isinstance(data, list):
        raise ValueError(f"This is no output of {command}: it is not a JSON list.")
    found = []
    for item in _objects(data):
        name = _text(item, "name")
        if name is None:
            continue
        project = _text(item, "editable_project_location")
        found.append(
            Distribution(
                name=name,
                version=_text(item, "version"),
                location=project or _text(item, "location"),
                installer=_text(item, "installer"),
                editable=True if project else None,
            )
        )
    return tuple(found)


def _inspected(item: dict[str, Any]) -> Distribution | None:
    metadata = item.get("metadata")
    if not isinstance(metadata, dict):
        return None
    name = _text(metadata, "name")
    if name is None:
        return None
    direct, requires = item.get("direct_url"), metadata.get("requires_dist")
    url = _text(direct, "url") if isinstance(direct, dict) else None
    folder = direct.get("dir_info") if isinstance(direct, dict) else None
    where = _text(item, "metadata_location")
    requested = item.get("requested")
    detailed = normalize(name) in DETAILED
    return Distribution(
        name=name,
        version=_text(metadata, "version"),
        location=where.replace("\\", "/").rpartition("/")[0] if where else None,
        installer=_text(item, "installer"),
        direct_url=without_credentials(url) if url else None,
        editable=isinstance(folder, dict) and folder.get("editable") is True if direct else None,
        requires=tuple(r for r in requires or () if isinstance(r, str)) if detailed and _lists(requires) else None,
        requested=requested if isinstance(requested, bool) else None,
    )


def _lists(value: object) -> bool:
    return value is None or isinstance(value, list)


def _objects(items: list[Any]) -> Iterator[dict[str, Any]]:
    return (item for item in items if isinstance(item, dict))


def _text(item: dict[str, Any], key: str) -> str | None:
    value = item.get(key)
    return value if isinstance(value, str) and value else None
