"""Which checks count: what --select and --ignore, or [tool.mpsdoctor] in pyproject.toml, name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mpsdoctor.registry import Check


@dataclass(frozen=True)
class Selection:
    """Which checks count. A token is an id, an id's prefix (PY, PY1) or a family; `ignore` maps it to the reason."""

    select: tuple[str, ...] = ()
    ignore: Mapping[str, str] = field(default_factory=dict)

    def selected(self, check: Check) -> bool:
        """True where the check is wanted."""
        return not self.select or any(_token_matches(token, check) for token in self.select)

    def ignored(self, check: Check) -> str | None:
        """Return the reason for which the check is ignored, or None."""
        return next((reason for token, reason in self.ignore.items() if _token_matches(token, check)), None)


def _token_matches(token: str, check: Check) -> bool:
    return check.id.startswith(token.upper()) or check.family == token.lower()
