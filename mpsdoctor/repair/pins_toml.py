"""Pins in pyproject.toml (PEP 621, uv, Poetry, pixi) and pixi.toml, rewritten so that all formatting stays."""

from __future__ import annotations

from typing import Any

from mpsdoctor.repair.pins import Change, is_foreign, split_requirement, without_local

_NOT_MAC, _MAC = "sys_platform != 'darwin'", "sys_platform == 'darwin'"
_STACK = ("torch", "torchvision", "torchaudio", "torchtext")
_LINUX = "linux-64"


def rewrite_pyproject(text: str) -> tuple[str, tuple[Change, ...]]:
    """Return the text of a pyproject.toml for all systems, Macs included. Text that is no TOML stays as it is."""
    document = _parse(text)
    if document is None:
        return text, ()
    changes: list[Change] = []
    project = _table(document, "project")
    _lists(project, ("dependencies",), changes)
    for group in (_table(project, "optional-dependencies"), _table(document, "dependency-groups")):
        _lists(group, tuple(group), changes)
    tool = _table(document, "tool")
    _uv_sources(_table(tool, "uv"), changes)
    poetry = _table(tool, "poetry")
    for dependencies in [_table(poetry, "dependencies"), *_groups(poetry)]:
        _poetry(dependencies, changes)
    _pixi(_table(tool, "pixi"), changes)
    return (_dump(document), tuple(changes)) if changes else (text, ())


def rewrite_pixi(text: str) -> tuple[str, tuple[Change, ...]]:
    """Return the text of a pixi.toml for all systems, Macs included."""
    document = _parse(text)
    changes: list[Change] = []
    if document is not None:
        _pixi(document, changes)
    return (_dump(document), tuple(changes)) if changes else (text, ())


def _parse(text: str) -> Any:
    import tomlkit
    from tomlkit.exceptions import TOMLKitError

    try:
        return tomlkit.parse(text)
    except (TOMLKitError, ValueError, RecursionError):
        return None


def _dump(document: Any) -> str:
    import tomlkit

    return tomlkit.dumps(document)


def _table(parent: Any, name: str) -> Any:
    value = parent.get(name) if hasattr(parent, "get") else None
    return value if hasattr(value, "items") else {}


def _groups(poetry: Any) -> list[Any]:
    return [_table(group, "dependencies") for group in _table(poetry, "group").values()]


def _lists(table: Any, names: tuple[str, ...], changes: list[Change]) -> None:
    for name in names:
        items = table.get(name)
        if not isinstance(items, list):
            continue
        for number in range(len(items) - 1, -1, -1):
            change = split_requirement(items[number]) if isinstance(items[number], str) else None
            if change is None:
                continue
            new = [part.replace('"', "'") for part in change.new]
            items[number] = new[0]
            for part in reversed(new[1:]):
                items.insert(number + 1, part)
            changes.append(Change(change.old, tuple(new)))


def _uv_sources(uv: Any, changes: list[Change]) -> None:
    """Limit a source of another platform's builds to the other platforms; on Macs the ordinary index serves."""
    urls = {i.get("name"): str(i.get("url", "")) for i in uv.get("index", ()) if hasattr(i, "get")}
    for name, source in _table(uv, "sources").items():
        for one in source if isinstance(source, list) else [source]:
            where = urls.get(one.get("index"), "") + str(one.get("url", "")) if hasattr(one, "get") else ""
            if name in _STACK and is_foreign(where) and "marker" not in one:
                one["marker"] = _NOT_MAC
                changes.append(Change(f"{name} from {where}", (f"{name} from {where} where {_NOT_MAC}",)))


def _poetry(dependencies: Any, changes: list[Change]) -> None:
    import tomlkit

    for name in list(dependencies):
        value = dependencies[name]
        texts = (
            [value] if isinstance(value, str) else [str(v) for v in value.values()] if hasattr(value, "values") else []
        )
        if name not in _STACK or not any(map(_foreign_source, texts)) or "markers" in value:
            continue
        others = tomlkit.inline_table()
        others.update({"version": str(value)} if isinstance(value, str) else dict(value))
        others["markers"] = _NOT_MAC
        mac = tomlkit.inline_table()
        mac.update({"version": without_local(str(others.get("version", "*"))), "markers": _MAC})
        both = tomlkit.array()
        both.append(others)
        both.append(mac)
        dependencies[name] = both
        changes.append(Change(f"{name} = {texts[0]}", (f"{name} for other systems", f"{name} for Macs")))


def _foreign_source(text: str) -> bool:
    """A Poetry source is named, and its name is all that the dependency tells: pytorch-cu121, torch_cu118."""
    return is_foreign(text) or any(mark in text.lower() for mark in ("cu11", "cu12", "cu13", "rocm"))


def _pixi(table: Any, changes: list[Change]) -> None:
    """Move what only Linux can have into its own table, leave Macs the ordinary build, and let pixi solve for Macs."""
    for kind in ("pypi-dependencies", "dependencies"):
        dependencies = _table(table, kind)
        for name in list(dependencies):
            value = dependencies[name]
            mac = _for_macs(kind, name, value)
            if mac is _FINE:
                continue
            linux = table.setdefault("target", {}).setdefault(_LINUX, {}).setdefault(kind, {})
            linux[name] = value
            if mac is None:
                dependencies.remove(name)
            else:
                dependencies[name] = mac
            changes.append(Change(f"{name} = {value}", (f"{name} for {_LINUX} alone",)))
    workspace = _table(table, "workspace") or _table(table, "project")
    platforms = workspace.get("platforms")
    if changes and isinstance(platforms, list) and "osx-arm64" not in platforms:
        platforms.append("osx-arm64")
        changes.append(Change("platforms", ("platforms with osx-arm64",)))


_FINE = object()


def _for_macs(kind: str, name: str, value: Any) -> Any:
    """Return what a Mac asks for in place of this: nothing (None), a version, or _FINE where it can stay."""
    if kind == "dependencies":
        if name in ("pytorch-cuda", "cudatoolkit", "cuda", "cuda-toolkit", "cuda-nvcc"):
            return None
        return _FINE
    texts = [value] if isinstance(value, str) else [str(v) for v in value.values()] if hasattr(value, "values") else []
    if name not in _STACK or not any(map(is_foreign, texts)):
        return _FINE
    return without_local(str(value if isinstance(value, str) else value.get("version", "*")))
