"""The event catalogue: what it promises about itself, and whether real tools' streams can be said in it."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator
from dataclasses import FrozenInstanceError, fields, replace
from pathlib import Path
from typing import Any, get_type_hints

import pytest
from event_strategies import events_of
from hypothesis import given
from hypothesis import strategies as st
from treescribe import events
from treescribe.codec import Codec, to_line
from treescribe.events import (
    CATALOGUE,
    CompilationReason,
    CompileFinished,
    CompileProgress,
    CompileStarted,
    Diagnostic,
    Event,
    LockAcquired,
    LockContention,
    LogMessage,
    OperationFinished,
    OperationStarted,
    Output,
    RunFinished,
    SuiteFinished,
    SuiteStarted,
    TestFinished,
    TestStarted,
    UnknownEvent,
)
from treescribe.reduce import reduce

RECORDINGS = Path(__file__).parent.parent / "cases" / "data" / "bleep"

WITH_FACTS = {
    "CommandFinished",
    "CompilationReason",
    "CompileFinished",
    "Diagnostic",
    "IssueChanged",
    "OperationFinished",
    "PatchRecorded",
    "SuiteFinished",
    "TaskFinished",
    "TestFinished",
}


def test_every_event_class_is_in_the_catalogue() -> None:
    defined = {value for value in vars(events).values() if isinstance(value, type) and issubclass(value, Event)}
    assert defined - set(CATALOGUE) == {Event, UnknownEvent}


def test_the_types_are_the_classes_names_and_no_two_are_alike() -> None:
    assert [cls.type for cls in CATALOGUE] == [cls.__name__ for cls in CATALOGUE]
    assert len({cls.type for cls in CATALOGUE}) == len(CATALOGUE)


@pytest.mark.parametrize("cls", CATALOGUE, ids=lambda cls: cls.type)
class TestEveryClass:
    def test_is_described_and_stamped(self, cls: type[Event]) -> None:
        assert (cls.__doc__ or "").strip()
        assert not (cls.__doc__ or "").startswith(f"{cls.__name__}("), "the docstring is the one that dataclass makes"
        assert get_type_hints(cls)["at"] is int

    def test_masks_fields_that_it_has(self, cls: type[Event]) -> None:
        assert set(cls.masked) <= {field.name for field in fields(cls)}

    def test_never_masks_what_identifies_or_decides(self, cls: type[Event]) -> None:
        kept = {
            "at",
            "type",
            "status",
            "outcome",
            "severity",
            "path",
            "paths",
            "cwd",
            "project",
            "suite",
            "test",
            "code",
        }
        assert not kept & set(cls.masked)


@given(st.one_of(*map(events_of, CATALOGUE)))
def test_events_are_frozen_values(event: Event) -> None:
    assert event == replace(event)
    hash(event)
    with pytest.raises(FrozenInstanceError):
        event.at = 1  # type: ignore[misc]


@given(st.one_of(*map(events_of, CATALOGUE)), st.integers(), st.integers())
def test_time_never_enters_a_fact(event: Event, at: int, duration: int) -> None:
    assert (event.fact() is not None) == (event.type in WITH_FACTS)
    changes: dict[str, Any] = {"at": at}
    if any(field.name == "duration_ms" for field in fields(event)):
        changes["duration_ms"] = duration
    assert replace(event, **changes).fact() == event.fact()


def test_an_event_of_a_third_party_is_named_as_it_says_or_after_its_class() -> None:
    @dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
    class Deployed(Event):
        """Something was deployed."""

        place: str

    @dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
    class Undeployed(Deployed):
        """It was taken away."""

        type = "acme.Undeployed"

    assert (Deployed.type, Undeployed.type) == ("Deployed", "acme.Undeployed")
    assert Deployed(place="here").fact() is None


# -- a real tool's stream -------------------------------------------------------------------------------------

Record = dict[str, Any]


def diagnostics(data: Record) -> Iterator[Event]:
    for one in data["diagnostics"]:
        yield Diagnostic(
            severity=one["severity"],
            message=one["message"],
            path=one.get("path") or "",
            line=one.get("line") or 0,
            column=one.get("column") or 0,
            project=data["project"],
        )


def suite_finished(data: Record, outcome: str, message: str = "", trace: str = "") -> SuiteFinished:
    return SuiteFinished(
        project=data["project"],
        suite=data["suite"],
        outcome=outcome,
        message=message,
        trace=trace,
        duration_ms=data.get("durationMs", 0),
    )


def operation(kind: str, data: Record) -> Event:
    name = f"{kind} {data['project']}"
    if "success" not in data:
        return OperationStarted(operation=name, name=name)
    status = "passed" if data["success"] else "failed"
    return OperationFinished(
        operation=name, name=name, status=status, message=data.get("error") or "", duration_ms=data["durationMs"]
    )


def expressed(kind: str, data: Record) -> list[Event]:
    """An event of bleep's in the catalogue's terms."""
    project = data.get("project", "")
    match kind:
        case "CompileStarted":
            return [CompileStarted(project=project)]
        case "CompilationReason":
            return [
                CompilationReason(
                    project=project,
                    reason=data["reason"],
                    total_files=data["totalFiles"],
                    invalidated_files=tuple(data["invalidatedFiles"]),
                    changed_dependencies=tuple(data["changedDependencies"]),
                )
            ]
        case "CompileProgress":
            return [CompileProgress(project=project, percentage=data["percentage"])]
        case "CompilePhaseChanged":
            return [CompileProgress(project=project, phase=data["phase"])]
        case "CompileFinished":
            finished = CompileFinished(
                project=project,
                status=data["status"],
                skipped_because=data.get("skippedBecause") or "",
                duration_ms=data["durationMs"],
            )
            return [*diagnostics(data), finished]
        case "LockContention":
            return [LockContention(lock=project, waiting_ms=data["waitingMs"])]
        case "LockAcquired":
            return [LockAcquired(lock=project, waited_ms=data["waitedMs"])]
        case "WorkspaceBusy":
            holder = f"{data['operation']} of {', '.join(data['projects'])}"
            return [LockContention(lock="bleep", holder=holder, waiting_ms=data["startedAgoMs"])]
        case "SuiteStarted":
            return [SuiteStarted(project=project, suite=data["suite"])]
        case "TestStarted":
            return [TestStarted(project=project, suite=data["suite"], test=data["test"])]
        case "TestFinished":
            location = data.get("location") or {}
            return [
                TestFinished(
                    project=project,
                    suite=data["suite"],
                    test=data["test"],
                    status=data["status"],
                    duration_ms=data["durationMs"],
                    message=data["message"] or "",
                    trace=data["throwable"] or "",
                    path=location.get("path") or "",
                    line=location.get("line") or 0,
                )
            ]
        case "SuiteFinished":
            kinds = {"noFrameworkMatched": "no-framework-matched"}
            outcome = data["outcome"]
            name = kinds.get(outcome["kind"], outcome["kind"])
            return [suite_finished(data, name, outcome.get("message", ""), outcome.get("throwable") or "")]
        case "SuiteError":
            return [suite_finished(data, "errored", data["error"])]
        case "SuiteTimedOut":
            return [suite_finished(data, "timed-out", f"after {data['timeoutMs']} ms", data["threadDump"] or "")]
        case "SuiteCancelled":
            return [suite_finished(data, "cancelled", data["reason"] or "")]
        case "Output":
            return [Output(project=project, suite=data["suite"], stream=data["channel"], text=data["line"] + "\n")]
        case "Error":
            return [LogMessage(level="error", source="bleep", message=data["message"])]
        case "CompileStalled" | "CompileResumed":
            return [LogMessage(source="bleep", message=f"{project}: {kind}")]
        case "DiscoveryStarted" | "SuitesDiscovered" | "TestRunFinished" | "LinkProgress":
            return []  # follows from the others, or is progress of a step
    for step in ("Link", "Sourcegen", "ResolveAnnotationProcessors", "RunSymbolProcessors"):
        if kind in (f"{step}Started", f"{step}Finished"):
            return [operation(step, data)]
    raise AssertionError(f"bleep's {kind} cannot be said")


def recorded(name: str) -> Iterator[tuple[str, Record]]:
    for line in (RECORDINGS / name).read_text().splitlines():
        parameters = json.loads(line)["msg"].get("params")
        if isinstance(parameters, dict) and parameters.get("dataKind") == "bleep":
            yield parameters["data"]["type"], parameters["data"]["data"]


@pytest.mark.parametrize("recording", sorted(path.name for path in RECORDINGS.iterdir()))
def test_a_real_stream_of_bleep_can_be_said_written_and_read(recording: str) -> None:
    said = [event for kind, data in recorded(recording) for event in expressed(kind, data)]
    assert len(said) > 20
    assert [Codec().from_line(to_line(event)) for event in said] == said


LINK = {"project": "app", "success": False, "durationMs": 12, "outputPath": None, "platform": "jvm", "error": "no main"}
STEP = {"project": "app", "success": True, "durationMs": 3}
SUITE = {"project": "app", "suite": "S"}
NOT_IN_THE_RECORDINGS: list[tuple[str, Record]] = [
    ("CompileStalled", {"project": "app"}),
    ("CompileResumed", {"project": "app"}),
    ("LockContention", {"project": "app", "waitingMs": 7}),
    ("LockAcquired", {"project": "app", "waitedMs": 9}),
    ("LinkStarted", {"project": "app"}),
    ("LinkProgress", {"project": "app"}),
    ("LinkFinished", LINK),
    *((f"{step}Started", {"project": "app"}) for step in ("Sourcegen", "RunSymbolProcessors")),
    *((f"{step}Finished", STEP) for step in ("Sourcegen", "ResolveAnnotationProcessors", "RunSymbolProcessors")),
    ("SuiteFinished", {**SUITE, "outcome": {"kind": "noFrameworkMatched"}, "durationMs": 1}),
    ("SuiteFinished", {**SUITE, "outcome": {"kind": "errored", "message": "boom", "throwable": "at"}, "durationMs": 1}),
    ("SuiteFinished", {**SUITE, "outcome": {"kind": "empty"}, "durationMs": 1}),
    ("SuiteCancelled", {**SUITE, "reason": "killed"}),
    ("WorkspaceBusy", {"operation": "test", "projects": ["app"], "startedAgoMs": 2269}),
    ("Error", {"message": "--only matched no test suites", "details": None}),
]


@pytest.mark.parametrize(("kind", "data"), NOT_IN_THE_RECORDINGS)
def test_what_bleep_can_say_beside_these_can_be_said_too(kind: str, data: Record) -> None:
    said = expressed(kind, data)
    assert [Codec().from_line(to_line(event)) for event in said] == said


@pytest.mark.parametrize("recording", ["13-test-jvm-exits.jsonl", "36-suite-idle-timeout.jsonl"])
def test_a_stream_with_a_failure_is_never_green_though_the_server_says_ok(recording: str) -> None:
    said = [event for kind, data in recorded(recording) for event in expressed(kind, data)]
    assert not reduce([*said, RunFinished(outcome="passed", exit_code=0)]).ok
