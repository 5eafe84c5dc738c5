"""`mpsdoctor explain`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from mpsdoctor.cli.output import print_lines, terminal_width

if TYPE_CHECKING:
    from rich.text import Text

STDIN_LIMIT = 4 * 1024 * 1024  # bytes; a traceback has some 10 kB


class _TextFirst(click.Command):
    """A command whose argument may begin with a dash: what holds a space is text and no option."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Put "--" before the first text that begins with a dash."""
        at = next((i for i, arg in enumerate(args) if arg.startswith("-") and any(map(str.isspace, arg))), None)
        if at is not None and "--" not in args[:at]:
            args = [*args[:at], "--", *args[at:]]
        return super().parse_args(ctx, args)


@click.command(cls=_TextFirst)
@click.argument("words", nargs=-1, metavar="[ID | CAUSE | ERROR TEXT | -]")
@click.option("--list", "list_", is_flag=True, help="List every cause that can be explained.")
def explain(words: tuple[str, ...], list_: bool) -> int:
    """Explain a check (PY101), a cause (float64-on-mps) or an error text, offline. "-" reads the text from stdin.

    Exit status 3 where the text is not known.
    """
    from mpsdoctor.report import explain_text
    from mpsdoctor.report.list_text import list_causes

    width = terminal_width()
    if list_:
        print_lines(list_causes(width), None)
        return 0
    if not words:
        raise click.UsageError("what is to be explained? An id, a cause, an error text, or - for stdin")
    text = " ".join(words)
    if words == ("-",):
        from mpsdoctor.cli.tickets import stdin_text

        text = stdin_text(STDIN_LIMIT)
    if not text.strip():
        raise click.UsageError(
            "nothing was given: stdin is empty" if words == ("-",) else "nothing was given to explain"
        )
    lines = _one_thing(text.strip(), width) or _error_text(text, width)
    if lines is None:
        print_lines(explain_text.unknown(text, width), None)
        return 3
    print_lines(lines, None)
    return 0


def _one_thing(name: str, width: int) -> list[Text] | None:
    """Explain what has a name: a check, a cause, a row of the tables."""
    from mpsdoctor.knowledge import causes, messages
    from mpsdoctor.registry import load_registry
    from mpsdoctor.report import explain_text

    if not name or len(name) > 60 or any(character.isspace() for character in name):
        return None
    found = load_registry().get(name)
    if found is not None:
        return explain_text.explain_check(found, width)
    cause = causes.cause(name.lower())
    if cause is not None:
        return explain_text.explain_cause(cause, load_registry().checks, width)
    row = messages.message(name.lower())
    return explain_text.explain_messages([row], width) if row is not None else None


def _error_text(text: str, width: int) -> list[Text] | None:
    """Explain an error text by the messages in it, and by what its other lines tell of the machine."""
    from datetime import date

    from mpsdoctor.diagnosis import diagnose
    from mpsdoctor.knowledge import messages
    from mpsdoctor.probes.intake import read_ticket
    from mpsdoctor.registry import judge, load_registry
    from mpsdoctor.report import explain_text

    facts, _ = read_ticket(text.encode("utf-8", "replace"))
    findings = judge(facts, load_registry(), today=date.today())
    diagnosis = diagnose(findings, facts)
    rows = [row for item in facts.messages.items or () if (row := messages.message(item.id)) is not None]
    first = diagnosis.causes[0] if diagnosis.causes else None
    if not rows and (first is None or first.cause == "insufficient-information"):
        return None
    remedies = next((f.verdict.remedies for f in findings if first is not None and f.id == first.checks[0]), ())
    return explain_text.explain_ticket(facts, diagnosis, list(dict.fromkeys(rows)), width, remedies)
