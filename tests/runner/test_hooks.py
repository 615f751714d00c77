"""Each hook: when it is called, with what, and what becomes of its answer."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import pytest
from treescribe import (
    Backend,
    Event,
    Operation,
    Outcome,
    OutputReader,
    Run,
    Status,
    Target,
    Variable,
    Workspace,
    hookimpl,
)
from treescribe.events import CommandFinished, CommandStarted, Diagnostic, LogMessage, RunFinished, UnknownEvent
from treescribe.testing import ObservedRun, host_of

Observe = Callable[..., ObservedRun]


class Called:
    """A plugin that remembers what one hook was called with; what else it brings is up to the test."""

    def __init__(self) -> None:
        self.calls: list[Any] = []


@dataclass(frozen=True, slots=True, kw_only=True)
class Baked(Event):
    """A third party's event."""

    cake: str = ""


class Oven:
    name = "oven"

    def detect(self, workspace: Workspace) -> bool:
        return True

    def targets(self, workspace: Workspace) -> Sequence[Target]:
        return [Target("cake")]

    def run(self, run: Run) -> Outcome:
        return Outcome("passed", 0)


def test_treescribe_backends_is_asked_once_and_its_backends_are_known_by_name() -> None:
    class Plugin(Called):
        @hookimpl
        def treescribe_backends(self) -> list[Backend]:
            self.calls.append(())
            return [Oven()]

    plugin = Plugin()
    host = host_of(plugin)
    assert isinstance(host.backends()["oven"], Oven)
    assert list(host.backends()) == ["oven"]
    assert len(plugin.calls) == 1


def test_treescribe_event_types_lets_events_be_read_back() -> None:
    class Plugin:
        @hookimpl
        def treescribe_event_types(self) -> list[type[Event]]:
            return [Baked]

    record = {"type": "Baked", "at": 1, "cake": "rye"}
    assert host_of(Plugin()).codec().from_record(record) == Baked(at=1, cake="rye")
    assert isinstance(host_of().codec().from_record(record), UnknownEvent)


def test_treescribe_operations_brings_operations_by_name() -> None:
    class Plugin:
        @hookimpl
        def treescribe_operations(self) -> list[Operation]:
            return [Operation("oven.clean", function="oven:clean", render="oven:render", help="Clean it.")]

    assert host_of(Plugin()).operations()["oven.clean"].help == "Clean it."


def test_treescribe_run_started_comes_before_any_event_and_what_it_emits_comes_after_the_first(
    observed_run: Observe,
) -> None:
    class Plugin(Called):
        @hookimpl
        def treescribe_run_started(self, run: Run) -> None:
            self.calls.append((run.request.targets, run.id))
            run.emit(LogMessage(message="warming up"))

        @hookimpl
        def treescribe_event(self, event: Event) -> None:
            self.calls.append(event.type)

    plugin = Plugin()
    observed_run(plugin)
    assert plugin.calls == [(("test",), None), "RunStarted", "LogMessage"]


def test_treescribe_event_is_called_for_each_event_and_may_emit_more_which_come_after(observed_run: Observe) -> None:
    class Plugin(Called):
        @hookimpl
        def treescribe_event(self, run: Run, event: Event) -> None:
            self.calls.append(event.type)
            if isinstance(event, CommandFinished):
                run.emit(LogMessage(message=f"{event.line} ended with {event.exit_code}"))

    plugin = Plugin()
    observed = observed_run(plugin)
    observed.command("bake", exit_code=3)
    assert observed.events.one(LogMessage).message == "bake ended with 3"
    assert plugin.calls == ["RunStarted", "CommandStarted", "CommandFinished", "LogMessage"]


def test_treescribe_run_finishing_is_the_last_chance_to_emit(observed_run: Observe) -> None:
    class Plugin:
        @hookimpl
        def treescribe_run_finishing(self, run: Run) -> None:
            run.emit(LogMessage(message="the report on disk"))

    observed = observed_run(Plugin())
    observed.run.command_started("left running")
    assert observed.finish().types() == ["RunStarted", "CommandStarted", "CommandFinished", "LogMessage", "RunFinished"]


def test_treescribe_run_finished_has_the_outcome_and_can_emit_nothing_any_more(observed_run: Observe) -> None:
    class Plugin(Called):
        @hookimpl
        def treescribe_run_finished(self, run: Run, outcome: Outcome) -> None:
            self.calls.append(outcome)
            run.emit(LogMessage(message="too late"))

    plugin = Plugin()
    events = observed_run(plugin).finish(exit_code=4)
    assert plugin.calls == [Outcome("failed", 4)]
    assert isinstance(events[-1], RunFinished)


def test_treescribe_run_abandoned_is_asked_until_a_plugin_has_completed_the_record(
    treescribe_workspace: Workspace,
) -> None:
    class Plugin(Called):
        def __init__(self, answer: bool | None) -> None:
            super().__init__()
            self.answer = answer

        @hookimpl
        def treescribe_run_abandoned(self, run_id: int, outcome: Outcome) -> bool | None:
            self.calls.append((run_id, outcome))
            return self.answer

    never, second, first = Plugin(True), Plugin(True), Plugin(None)
    killed = Outcome.cancelled(None, "it had to be killed")
    hook = host_of(never, second, first).hook
    assert hook.treescribe_run_abandoned(workspace=treescribe_workspace, run_id=3, outcome=killed) is True
    assert (first.calls, second.calls, never.calls) == ([(3, killed)], [(3, killed)], [])


def test_treescribe_workspace_status_has_a_part_from_each_plugin_that_has_one(treescribe_workspace: Workspace) -> None:
    class Plugin(Called):
        def __init__(self, answer: Any) -> None:
            super().__init__()
            self.answer = answer

        @hookimpl
        def treescribe_workspace_status(self, workspace: Workspace) -> Any:
            self.calls.append(workspace)
            return self.answer

    hot, wrong, silent = Plugin(Status("oven", "hot", {"degrees": 180})), Plugin("hot"), Plugin(None)
    answers = host_of(hot, wrong, silent).hook.treescribe_workspace_status(workspace=treescribe_workspace)
    assert answers == [Status("oven", "hot", {"degrees": 180})]
    assert wrong.calls == silent.calls == [treescribe_workspace]


def test_treescribe_command_environment_is_asked_once_a_run_for_what_its_commands_get(
    observed_run: Observe,
) -> None:
    class Plugin(Called):
        @hookimpl
        def treescribe_command_environment(self, workspace: Workspace, run: Run) -> list[Variable]:
            self.calls.append(workspace == run.workspace)
            return [Variable("OVEN", "hot"), Variable("OVEN_PATH", "/racks", ":")]

    plugin = Plugin()
    run = observed_run(plugin).run
    assert run.environment({})["OVEN"] == "hot"
    environment = run.environment({"OVEN": "cold", "OVEN_PATH": "/mine"})
    assert (environment["OVEN"], environment["OVEN_PATH"]) == ("hot", "/mine:/racks")
    assert plugin.calls == [True]


class Burnt:
    def read(self, stream: str, text: str) -> Iterable[Event]:
        return [Diagnostic(severity="error", message=line) for line in text.splitlines() if "burnt" in line]

    def end(self) -> Iterable[Event]:
        return [Diagnostic(severity="info", message="that was all")]


def test_treescribe_output_readers_is_asked_for_each_command_and_its_readers_events_come_before_the_end(
    observed_run: Observe,
) -> None:
    class Plugin(Called):
        @hookimpl
        def treescribe_output_readers(self, command: CommandStarted) -> list[OutputReader]:
            self.calls.append(command.line)
            return [Burnt()] if command.line == "bake" else []

    plugin = Plugin()
    observed = observed_run(plugin)
    observed.command("bake", stderr="the rye is burnt\nthe rest is fine\n")
    observed.command("eat", stdout="it tastes burnt\n")
    assert plugin.calls == ["bake", "eat"]
    assert [event.message for event in observed.events.of(Diagnostic)] == ["the rye is burnt", "that was all"]
    types = observed.events.types()
    assert types.index("Diagnostic") < types.index("CommandFinished")


@pytest.mark.parametrize("wrong", [5, [5], "text"], ids=repr)
def test_treescribe_output_readers_that_are_none_are_told(wrong: Any, observed_run: Observe) -> None:
    class Plugin:
        @hookimpl
        def treescribe_output_readers(self) -> Any:
            return wrong

    observed = observed_run(Plugin())
    observed.command("bake", stdout="done\n")
    assert "failed in treescribe_output_readers: TypeError" in observed.events.one(LogMessage).message
