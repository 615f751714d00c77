"""What the commands of a run printed, as far as it was kept."""

from __future__ import annotations

from collections.abc import Iterable

from treescribe.events import CommandStarted, Event, Output
from treescribe.frozen import frozen
from treescribe.result import Result


@frozen
class Printed(Result):
    """One stream of one command (or of a suite). ``text`` says where bytes were left out."""

    source: str
    stream: str
    text: str


def printed(events: Iterable[Event]) -> tuple[Printed, ...]:
    """Gather what each command printed, in the order the commands were started."""
    lines: dict[int, str] = {}
    texts: dict[tuple[object, str, str], list[str]] = {}
    for event in events:
        if isinstance(event, CommandStarted):
            lines[event.command] = event.line
        elif isinstance(event, Output):
            source = lines.get(event.command, "") if event.command is not None else event.suite or event.project
            cut = f"\n… {event.omitted_bytes:,} bytes left out …\n" if event.omitted_bytes else ""
            texts.setdefault((event.command, source, event.stream), []).append(cut + event.text)
    return tuple(
        Printed(source=source, stream=stream, text="".join(parts)) for (_, source, stream), parts in texts.items()
    )
