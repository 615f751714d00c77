"""Which reports a run has written: files that match the configured patterns and are not as they were at its start."""

from __future__ import annotations

import glob
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from typing import NamedTuple

from treescribe import Event, Run, TreescribeError, Workspace
from treescribe.events import ReportRead

MOST_BYTES = 64 * 1024 * 1024

Stamp = tuple[int, int, int]


class UnreadableReport(TreescribeError):
    """A report that is not what its pattern says, or cannot be read."""


class _Reports(NamedTuple):
    """What is known of one run's reports.

    :ivar before: the files that were there at its start.
    :ivar accounted: the files whose contents stand among the run's events already: a nested run has read them, or
        their tool has told the run itself.
    """

    before: dict[str, Stamp]
    accounted: dict[str, Stamp]


_reports: dict[Run, _Reports] = {}


def begin(run: Run) -> None:
    """Remember the files that are there."""
    patterns = (*run.settings.junit, *run.settings.sarif)
    _reports[run] = _Reports(dict(_files(run.workspace, patterns)), {})


def note_read(run: Run, event: Event) -> None:
    """A report is accounted for, as it stands now."""
    reports = _reports.get(run)
    if reports is not None and isinstance(event, ReportRead):
        with suppress(OSError):
            reports.accounted[os.path.realpath(event.path)] = _stamp(event.path)


def read(run: Run) -> None:
    """Emit what the reports say that the run has written."""
    from treescribe_reports.junit import junit_events
    from treescribe_reports.sarif import sarif_events

    reports = _reports.pop(run, None)
    if reports is None:
        return
    _read_all(run, reports, run.settings.junit, "junit", junit_events)
    _read_all(run, reports, run.settings.sarif, "sarif", sarif_events)


def _read_all(
    run: Run,
    reports: _Reports,
    patterns: Iterable[str],
    name: str,
    events_of: Callable[[str, Workspace], Iterator[Event]],
) -> None:
    for path, stamp in sorted(_files(run.workspace, patterns)):
        if stamp in (reports.before.get(path), reports.accounted.get(os.path.realpath(path))):
            continue
        try:
            if os.path.getsize(path) > MOST_BYTES:
                raise UnreadableReport(f"it is larger than {MOST_BYTES:,} bytes")
            for event in events_of(path, run.workspace):
                run.emit(event)
        except (OSError, UnreadableReport) as error:
            run.report(f"the {name} report {path} cannot be read: {error}")
        else:
            run.emit(ReportRead(path=path, format=name))


def _files(workspace: Workspace, patterns: Iterable[str]) -> Iterator[tuple[str, Stamp]]:
    """The files that match, each once, absolute."""
    root = os.fspath(workspace.root)
    names = {name for pattern in patterns for name in glob.iglob(pattern, root_dir=root, recursive=True)}
    for name in names:
        path = os.path.join(root, name)
        with suppress(OSError):
            if os.path.isfile(path):
                yield path, _stamp(path)


def _stamp(path: str) -> Stamp:
    """What differs once a file was written again."""
    status = os.stat(path)
    return status.st_ino, status.st_size, status.st_ctime_ns
