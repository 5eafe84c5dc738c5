"""The speed sweep as one SVG picture without anything remote. Pure."""

from __future__ import annotations

from xml.sax.saxutils import escape, quoteattr

from mpsdoctor.facts import Smoke, SpeedCase

_ROW, _TOP, _LEFT, _BAR, _RIGHT = 30, 64, 250, 420, 90  # pixels


def speed_svg(smoke: Smoke) -> str | None:
    """Return a bar for each size, CPU = 1; None where no size was compared with the CPU."""
    cases = [case for case in (smoke.speed.cases if smoke.speed else None) or () if case.ratio is not None]
    if not cases:
        return None
    largest = max(1.0, *(case.ratio or 0.0 for case in cases))
    height = _TOP + _ROW * len(cases) + 30
    width = _LEFT + _BAR + _RIGHT
    one = _LEFT + _BAR / largest
    title = f"Training steps on {smoke.device} beside the CPU, torch {smoke.torch}"
    rows = "\n".join(_row(case, index, largest) for index, case in enumerate(cases))
    return f"""<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}"
 font-family="ui-monospace, Menlo, Consolas, monospace" font-size="13" role="img" aria-label={quoteattr(title)}>
<rect width="{width}" height="{height}" fill="#ffffff"/>
<text x="16" y="28" font-size="15" font-weight="bold">{escape(title)}</text>
<text x="16" y="48" fill="#57606a">times as fast as the CPU; the line is 1x</text>
{rows}
<line x1="{one:.1f}" y1="{_TOP - 6}" x2="{one:.1f}" y2="{_TOP + _ROW * len(cases)}" stroke="#57606a"
 stroke-dasharray="4 3"/>
</svg>
"""


def _row(case: SpeedCase, index: int, largest: float) -> str:
    ratio = case.ratio or 0.0
    y = _TOP + _ROW * index
    length = max(1.0, _BAR * ratio / largest)
    colour = "#1a7f37" if ratio >= 1 else "#bf8700"
    name = escape(f"{case.name}, batch {case.batch}" if case.batch else case.name)
    return (
        f'<text x="{_LEFT - 10}" y="{y + 17}" text-anchor="end">{name}</text>'
        f'<rect x="{_LEFT}" y="{y + 4}" width="{length:.1f}" height="18" fill="{colour}"/>'
        f'<text x="{_LEFT + length + 8:.1f}" y="{y + 17}">{ratio:.1f}x</text>'
    )
