"""Builds the documentation: reference pages from the registry and the knowledge tables, then the site, offline.

Usage: python -m scripts.build_docs [--folder build]

Writes FOLDER/docs (the sources with the generated pages) and FOLDER/site. A warning of mkdocs is an error.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

from mpsdoctor.facts.schema import write_schemas
from mpsdoctor.knowledge.causes import FAMILIES as CAUSE_FAMILIES
from mpsdoctor.knowledge.causes import causes
from mpsdoctor.knowledge.known_bad import known_bad
from mpsdoctor.knowledge.releases import releases
from mpsdoctor.knowledge.runner_images import runner_images
from mpsdoctor.registry import FAMILIES, SECTIONS, load_registry
from mpsdoctor.repair.registry import SECTIONS as FIX_SECTIONS
from mpsdoctor.repair.registry import load_fixes
from mpsdoctor.report.markdown import code, escape, fence
from scripts.manual import commands_page

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
_FAMILY_WORDS = {
    "environment": "The environment: there is something to repair",
    "platform": "The platform: this machine, this macOS or this torch cannot",
    "code": "The code: what a program asks for",
    "fine": "Nothing is wrong",
}


def pages() -> dict[str, str]:
    """Return the generated pages by their path."""
    return {
        "reference/commands.md": commands_page(),
        "reference/checks.md": _checks(),
        "reference/causes.md": _causes(),
        "reference/fixes.md": _fixes(),
        "reference/facts.md": _facts(),
    }


def _checks() -> str:
    registry = load_registry()
    assert not registry.broken, registry.broken
    lines = ["# Checks", "", "In the order of the chain: a fault in one family explains faults behind it.", ""]
    for family in FAMILIES:
        found = [check for check in registry.checks if check.family == family]
        if not found:
            continue
        lines += [f"## {family}", ""]
        for check in sorted(found, key=lambda check: check.id):
            lines += [f"### {check.id} {{ #{check.id.lower()} }}", "", escape(check.title), ""]
            lines += [f"**{name}**: {escape(check.sections[name])}\n" for name in SECTIONS if name in check.sections]
            named = dict.fromkeys(filter(None, (check.cause, *check.causes)))
            if named:
                lines += ["**Causes**: " + ", ".join(f"[{slug}](causes.md#{slug})" for slug in named), ""]
            if check.needs:
                lines += ["**Needs**: " + ", ".join(f"[{other}](#{other.lower()})" for other in check.needs), ""]
    return "\n".join(lines)


def _causes() -> str:
    checks, fixes = load_registry().checks, load_fixes()
    lines = ["# Causes", "", "The names never change their meaning.", ""]
    for family in CAUSE_FAMILIES:
        lines += [f"## {_FAMILY_WORDS[family]}", ""]
        for cause in (one for one in causes() if one.family == family):
            lines += [f"### {cause.slug} {{ #{cause.slug} }}", "", escape(cause.means), ""]
            lines += [f"**How to tell**: {escape(cause.how_to_tell)}", ""]
            lines += ["**What to do**", "", *fence("\n".join(cause.what_to_do), "text"), ""]
            finders = [c.id for c in checks if cause.slug in (c.cause, *c.causes)]
            if finders:
                lines += ["**Found by** " + ", ".join(f"[{i}](checks.md#{i.lower()})" for i in finders), ""]
            menders = [item.id for item in fixes.for_cause(cause.slug)]
            if menders:
                lines += ["**Repaired by** " + ", ".join(f"[{i}](fixes.md#{i})" for i in menders), ""]
            bounds = [
                f"since torch {cause.since}" if cause.since else "",
                f"until {cause.until}" if cause.until else "",
            ]
            lines += [f"*{', '.join(filter(None, bounds))}*", ""] if any(bounds) else []
            lines += [f"Sources: {escape('; '.join(cause.sources))}", ""]
    return "\n".join(lines)


def _fixes() -> str:
    fixes = load_fixes()
    assert not fixes.broken, fixes.broken
    lines = [
        "# Fixes",
        "",
        "`mpsdoctor fix` asks these for a plan. What none of them can do is told as a remedy by hand. Before the",
        "first step everything that a fix writes is copied, and the packages are listed. The last step of each is the",
        "proof: the environment is examined anew, and trains where a GPU is claimed.",
        "",
    ]
    for item in sorted(fixes.fixes, key=lambda item: item.id):
        lines += [f"## {item.id} {{ #{item.id} }}", "", escape(item.title), ""]
        known = {cause.slug for cause in causes()}
        links = (f"[{slug}](causes.md#{slug})" if slug in known else code(slug) for slug in item.causes)
        lines += [f"**Aims at**: {', '.join(links)}", ""]
        lines += [f"**{name}**: {_with_code(item.sections[name])}\n" for name in FIX_SECTIONS if name in item.sections]
    return "\n".join(lines)


def _with_code(text: str) -> str:
    """Escape a text for Markdown, but for what stands in backticks."""
    parts = text.split("`")
    return "".join(code(part) if number % 2 else _plain(part) for number, part in enumerate(parts))


def _plain(text: str) -> str:
    body = text.strip()
    before, _, after = text.partition(body) if body else (text, "", "")
    return f"{before}{escape(body)}{after}"


def _facts() -> str:
    lines = ["# Facts and their sources", "", "What the answers rest on, as of 1 December 2026.", ""]
    lines += ["## Releases of torch", ""]
    rows = (
        (
            one.version,
            str(one.date),
            one.mps_floor or "?",
            ", ".join(one.arm64_pythons),
            ", ".join(one.x86_64_pythons) or "none",
        )
        for one in reversed(releases())
    )
    lines += table(("torch", "date", "macOS for MPS", "Pythons, Apple silicon", "Pythons, Intel"), rows)
    lines += ["## Known to be bad", ""]
    bad = (
        (
            _range(one.torch_from, one.torch_until),
            _range(one.macos_from, one.macos_until),
            {True: "virtual", False: "real", None: "any"}[one.virtual],
            one.what,
            one.severity,
            "; ".join(one.sources),
        )
        for one in known_bad()
    )
    lines += table(("torch", "macOS", "machine", "what happens", "told as", "sources"), bad)
    lines += ["## Hosted runners", ""]
    seen = (
        (image.label, _range(one.torch_from, one.torch_until), one.what, one.advice, "; ".join(image.sources))
        for image in runner_images()
        for one in image.seen
    )
    lines += table(("image", "torch", "what was seen", "what to do", "sources"), seen)
    return "\n".join(lines)


def _range(first: str | None, last: str | None) -> str:
    if first is None and last is None:
        return "any"
    return f"{first or 'first'} to {last or 'newest'}"


def table(heads: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> list[str]:
    """Return the lines of a Markdown table and a blank one."""
    lines = [f"| {' | '.join(heads)} |", "|" + "---|" * len(heads)]
    return [*lines, *(f"| {' | '.join(escape(cell) for cell in row)} |" for row in rows), ""]


def build(folder: Path) -> Path:
    """Write sources and site into the folder; return the site. Exits with what mkdocs said where it complains."""
    sources, site = folder / "docs", folder / "site"
    for old in (sources, site):
        shutil.rmtree(old, ignore_errors=True)
    shutil.copytree(DOCS, sources)
    for name, text in pages().items():
        (sources / name).parent.mkdir(parents=True, exist_ok=True)
        (sources / name).write_text(text + "\n", encoding="utf-8")
    (sources / "schema").mkdir()
    write_schemas(sources / "schema")
    env = {**os.environ, "MPSDOCTOR_DOCS": str(sources), "MPSDOCTOR_SITE": str(site)}
    argv = [sys.executable, "-m", "mkdocs", "build", "--strict", "--config-file", str(ROOT / "mkdocs.yml")]
    done = subprocess.run(argv, env=env, capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False)
    if done.returncode:
        sys.exit(f"mkdocs: {done.stdout}{done.stderr}")
    return site


def main() -> None:
    """Build and say where it is."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--folder", type=Path, default=ROOT / "build", help="where to write docs and site")
    site = build(parser.parse_args().folder.absolute())
    print(f"{site}: {sum(1 for _ in site.rglob('*.html'))} pages")


if __name__ == "__main__":
    main()
