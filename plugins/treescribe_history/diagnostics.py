"""The diagnostics of a run in short: how many there are, and the first few."""

from __future__ import annotations

from treescribe.events import Diagnostic
from treescribe.frozen import Frozen, frozen
from treescribe.reduce import Verdict

from treescribe_history.verdict_text import one_line


@frozen
class Diagnostics(Frozen):
    """How many diagnostics a run has, and the first few: ``path:line:column code message``."""

    errors: int = 0
    warnings: int = 0
    top: tuple[str, ...] = ()


def diagnostics_of(verdict: Verdict, root: str) -> Diagnostics | None:
    """The diagnostics of a run; None where there are none."""
    if not (verdict.errors or verdict.warnings):
        return None
    top = tuple(diagnostic_line(diagnostic, root) for diagnostic in verdict.top)
    return Diagnostics(errors=verdict.errors, warnings=verdict.warnings, top=top)


def diagnostic_line(diagnostic: Diagnostic, root: str) -> str:
    """``path:line:column code message``, as far as they are known; the path as seen from the worktree's root."""
    path = diagnostic.path.removeprefix(root.rstrip("/") + "/")
    place = (
        ":".join([path, *(str(number) for number in (diagnostic.line, diagnostic.column) if number)]) if path else ""
    )
    return " ".join(part for part in (place, diagnostic.code, one_line(diagnostic.message)) if part)
