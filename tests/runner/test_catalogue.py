"""Each event of the catalogue, written as a line of a transcript, read back, and compared by its fact."""

from __future__ import annotations

import json
from typing import Any, NamedTuple

import pytest
from treescribe import events
from treescribe.codec import Codec, to_line
from treescribe.events import Event
from treescribe.facts import Fact


class Case(NamedTuple):
    """What is written of an event beside its ``type`` and ``at``, and its fact."""

    written: dict[str, Any]
    fact: Fact | None = None


CASES = {
    "RunStarted": Case({"targets": ["test"]}),
    "RunFinished": Case({"outcome": "failed", "exit_code": 1, "duration_ms": 5, "error": "no rule"}),
    "TaskStarted": Case({"task": 2, "parent": 1, "name": "ns.build", "arguments": [["force", "True"]], "role": "call"}),
    "TaskFinished": Case(
        {"task": 2, "name": "ns.build", "arguments": [["force", "True"]], "status": "failed", "duration_ms": 5},
        Fact("task", ("ns.build", "force=True"), (("status", "failed"),)),
    ),
    "CommandStarted": Case({"command": 3, "task": 2, "line": "make", "cwd": "/ws", "pty": True}),
    "CommandFinished": Case(
        {"command": 3, "line": "make", "status": "signalled", "signal": 9},
        Fact("command", ("make",), (("status", "signalled"), ("exit_code", None), ("signal", 9))),
    ),
    "Output": Case({"command": 3, "stream": "stderr", "text": "slow\n", "omitted_bytes": 7}),
    "CompileStarted": Case({"project": "core"}),
    "CompilationReason": Case(
        {"project": "core", "reason": "incremental", "total_files": 9, "invalidated_files": ["b", "a"]},
        Fact(
            "compile",
            ("core",),
            (("changed_dependencies", ()), ("invalidated_files", ("a", "b")), ("reason", "incremental")),
            merges=True,
        ),
    ),
    "CompileProgress": Case({"project": "core", "percentage": 50, "phase": "typer"}),
    "CompileFinished": Case(
        {"project": "core", "status": "skipped", "skipped_because": "util"},
        Fact("compile", ("core",), (("skipped_because", "util"), ("status", "skipped")), merges=True),
    ),
    "Diagnostic": Case(
        {"severity": "error", "message": "no such name", "code": "F821", "path": "/ws/a.py", "line": 3},
        Fact(
            "diagnostic",
            ("error", "/ws/a.py", "no such name"),
            shown=(("line", 3), ("column", 0), ("code", "F821"), ("tool", ""), ("project", "")),
        ),
    ),
    "SuiteStarted": Case({"project": "core", "suite": "CartTest", "tests": 4}),
    "TestStarted": Case({"suite": "CartTest", "test": "adds"}),
    "TestFinished": Case(
        {"suite": "CartTest", "test": "adds", "status": "failed", "message": "1 != 2", "trace": "at …", "line": 7},
        Fact("test", ("", "CartTest", "adds"), (("status", "failed"), ("message", "1 != 2"))),
    ),
    "SuiteFinished": Case(
        {"suite": "CartTest", "outcome": "errored", "message": "no module"},
        Fact("suite", ("", "CartTest"), (("outcome", "errored"), ("message", "no module"))),
    ),
    "ReportRead": Case({"path": "/ws/junit.xml", "format": "junit"}),
    "IssueChanged": Case(
        {"tracker": "beads", "issue": "b-1", "field": "status", "before": "open", "after": "closed", "actor": "ana"},
        Fact("issue", ("beads", "b-1", "status"), (("before", "open"), ("after", "closed")), (("actor", "ana"),)),
    ),
    "OperationStarted": Case({"operation": "7", "parent": "6", "name": "from alpine"}),
    "OperationFinished": Case(
        {"operation": "7", "name": "from alpine", "status": "passed", "cached": True},
        Fact("operation", ("from alpine",), (("status", "passed"), ("message", "")), (("cached", True),)),
    ),
    "PatchRecorded": Case(
        {"patch": "4.patch", "paths": ["b", "a"], "added_lines": 2, "private": True},
        Fact("patch", ("workspace",), (("added_lines", 2), ("paths", ("a", "b")), ("removed_lines", 0))),
    ),
    "StateCopied": Case({"unit": "core", "source": "/main", "files": 3, "bytes": 900}),
    "LockContention": Case({"lock": "workspace", "holder": "ana", "waiting_ms": 5}),
    "LockAcquired": Case({"lock": "workspace", "waited_ms": 9}),
    "LogMessage": Case({"level": "warning", "source": "acme", "message": "no report"}),
}


@pytest.mark.parametrize("name", CASES)
def test_an_event_is_written_read_back_and_compared_as_the_documentation_has_it(name: str) -> None:
    case = CASES[name]
    line = json.dumps({"type": name, "at": 1, **case.written}).encode()
    event: Event = Codec().from_line(line)
    assert type(event) is getattr(events, name)
    assert json.loads(to_line(event)) == json.loads(line)
    assert event.fact() == case.fact
