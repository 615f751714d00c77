"""Plugins: how they are found and checked, and what becomes of one that fails."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.metadata import Distribution, EntryPoint
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from support import entry_point, host_with, new_run, python
from treescribe import hookimpl, spec
from treescribe.environment import Variable
from treescribe.events import Event, LogMessage, TestStarted
from treescribe.host import Host, PluginState, host
from treescribe.operation import Operation
from treescribe.request import Outcome
from treescribe.run import Run
from treescribe.testing import Witness
from treescribe.workspace import Workspace

Write = Callable[[str, str], EntryPoint]


@pytest.fixture
def write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Write]:
    """Writes a module of a third party's and returns the entry point that names it."""
    monkeypatch.syspath_prepend(tmp_path)
    written: list[str] = []

    def write_module(name: str, text: str) -> EntryPoint:
        module = f"acme_{name.replace('-', '_')}"
        (tmp_path / f"{module}.py").write_text(f"from treescribe import hookimpl\n{text}")
        written.append(module)
        return entry_point(name, module)

    yield write_module
    for module in written:
        sys.modules.pop(module, None)


GOOD = """
@hookimpl
def treescribe_operations():
    return []
"""


def states(*points: EntryPoint, environment: dict[str, str] | None = None) -> dict[str, PluginState]:
    return {state.name: state for state in Host(points, environment or {}).plugins}


# -- finding --------------------------------------------------------------------------------------------------


def test_a_plugin_in_use_is_listed_with_its_hooks(write: Write) -> None:
    found = states(write("good", GOOD + "\n@hookimpl\ndef treescribe_event(event): pass\n"))
    assert found["good"] == PluginState("good", "", "", ("treescribe_event", "treescribe_operations"), "")


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("import acme_nothing", "cannot be imported: ModuleNotFoundError: No module named 'acme_nothing'"),
        ("1 / 0", "cannot be imported: ZeroDivisionError: division by zero"),
        ("def (", "cannot be imported: SyntaxError: "),
        ("raise SystemExit('not on this system')", "cannot be imported: SystemExit: not on this system"),
        ("@hookimpl\ndef treescribe_evnt(run): pass", "there is no hook treescribe_evnt"),
        (
            "@hookimpl\ndef treescribe_event(run, evnt): pass",
            "hook treescribe_event takes (run, event), this one takes (run, evnt)",
        ),
        (
            "@hookimpl\ndef treescribe_event(*arguments): pass",
            "hook treescribe_event takes (run, event), this one takes (arguments)",
        ),
        (
            "@hookimpl(wrapper=True)\ndef treescribe_event(run): pass",
            "hook treescribe_event is a generator or wraps others, which hooks of treescribe cannot",
        ),
        (
            "@hookimpl(wrapper=True)\ndef treescribe_event(run): return (yield)",
            "hook treescribe_event is a generator or wraps others, which hooks of treescribe cannot",
        ),
    ],
)
def test_a_plugin_that_cannot_be_used_is_told_by_name_and_the_rest_go_on(write: Write, text: str, problem: str) -> None:
    found = states(write("broken", text), write("good", GOOD))
    assert found["broken"].problem.startswith(problem)
    assert found["broken"].hooks == ()
    assert found["good"].problem == ""


def test_a_class_in_place_of_an_object_is_told(write: Write) -> None:
    good = write("good", GOOD)
    write("classy", "class Plugin:\n    @hookimpl\n    def treescribe_event(self, run, event): pass\n")
    found = states(entry_point("classy", "acme_classy:Plugin"), good)
    assert found["classy"].problem.startswith("its entry point names the class Plugin")
    assert found["good"].problem == ""


def test_a_missing_attribute_is_told(write: Write) -> None:
    write("good", GOOD)
    found = states(entry_point("half", "acme_good:plugin"))
    assert found["half"].problem == "cannot be imported: AttributeError: module 'acme_good' has no attribute 'plugin'"


def test_a_function_may_have_another_name_than_its_hook(write: Write) -> None:
    found = states(write("renamed", "@hookimpl(specname='treescribe_event')\ndef see(event): pass"))
    assert found["renamed"] == PluginState("renamed", "", "", ("treescribe_event",), "")


def test_plugins_are_switched_off_by_name(write: Write) -> None:
    points = [write(name, GOOD) for name in ("one", "two", "three")]
    found = states(*points, environment={"TREESCRIBE_DISABLE_PLUGINS": " one,three , four"})
    assert {name: state.problem for name, state in found.items()} == {
        "one": "switched off by TREESCRIBE_DISABLE_PLUGINS",
        "two": "",
        "three": "switched off by TREESCRIBE_DISABLE_PLUGINS",
    }
    assert "acme_one" not in sys.modules, "what is switched off is not imported"


def test_the_second_plugin_of_a_name_is_left_out(write: Write) -> None:
    write("same", GOOD)
    loaded = Host([entry_point("same", "acme_same"), entry_point("same", "acme_same")], {})
    assert [state.problem for state in loaded.plugins] == ["", "another plugin of this name is in use already"]


class Installed(Distribution):
    """A distribution as installed metadata would describe it."""

    def __init__(self, name: str, version: str) -> None:
        self._metadata = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"

    def read_text(self, filename: str) -> str | None:
        return self._metadata if filename == "METADATA" else None

    def locate_file(self, path: Any) -> Any:
        return path


def point_of(distribution: Distribution, point: EntryPoint) -> EntryPoint:
    vars(point)["dist"] = distribution
    return point


def test_treescribes_own_come_first_and_then_the_order_is_by_name(write: Write) -> None:
    third, own = Installed("treescribe-acme", "2.0"), Installed("treescribe", "1.0")
    points = [
        point_of(third, write("b", GOOD)),
        point_of(third, write("a", GOOD)),
        point_of(own, write("z", GOOD)),
        point_of(own, write("y", GOOD)),
    ]
    listed = [(state.name, state.distribution, state.version) for state in Host(points, {}).plugins]
    assert listed == [
        ("y", "treescribe", "1.0"),
        ("z", "treescribe", "1.0"),
        ("a", "treescribe-acme", "2.0"),
        ("b", "treescribe-acme", "2.0"),
    ]


def test_the_plugins_that_come_with_treescribe_are_found_and_in_use() -> None:
    problems = {state.name: state.problem for state in host().plugins if state.distribution == "treescribe"}
    assert problems == dict.fromkeys(("core", "diagnostics", "history", "jobs", "pytest", "reports"), "")


def test_loading_the_plugins_imports_nothing_heavy() -> None:
    code = """if True:
        import sys
        from treescribe.host import host
        host().operations()
        heavy = ("pydantic", "pydantic_core", "invoke", "mcp", "docker", "opentelemetry")
        print([name for name in heavy if name in sys.modules])
    """
    assert python(code).stdout == "[]\n"


def test_tracing_prints_every_hook_call(capsys: pytest.CaptureFixture[str], workspace: Workspace) -> None:
    traced = host_with(Witness(), environment={"TREESCRIBE_TRACE": "1"})
    run = new_run(workspace, host=traced)
    run.start()
    run.finish(Outcome("passed", 0))
    traced.operations()
    printed = capsys.readouterr().err
    hooks = ("treescribe_run_started", "treescribe_event", "treescribe_run_finished", "treescribe_operations")
    for hook in hooks:
        assert f"{hook} [hook]" in printed
    assert "RunFinished(" in printed


def test_without_tracing_nothing_is_printed(capsys: pytest.CaptureFixture[str], workspace: Workspace) -> None:
    run = new_run(workspace, Witness())
    run.start()
    run.finish(Outcome("passed", 0))
    assert capsys.readouterr() == ("", "")


# -- plugins that fail ----------------------------------------------------------------------------------------

HOOKS = {name: function for name, function in vars(spec).items() if name.startswith("treescribe_")}


def raising(hook: str, *, naming_arguments: bool) -> object:
    """A plugin that raises in `hook`, another text at each call."""
    arguments = ", ".join(
        HOOKS[hook].__code__.co_varnames[: HOOKS[hook].__code__.co_argcount] if naming_arguments else ()
    )
    namespace: dict[str, Any] = {"hookimpl": hookimpl, "calls": []}
    code = f"@hookimpl\ndef {hook}({arguments}):\n    calls.append(1)\n    raise KeyError(len(calls))"
    exec(code, namespace)
    return SimpleNamespace(**{hook: namespace[hook], "calls": namespace["calls"]})


def use_everything(loaded: Host, workspace: Workspace) -> Run:
    """Everything that a host is asked for in the life of a run."""
    loaded.operations()
    loaded.backends()
    loaded.codec()
    run = new_run(workspace, host=loaded)
    run.start()
    run.environment({})
    run.emit(TestStarted(suite="s", test="t"))
    run.capture(run.command_started("make"), "stdout").feed(b"built\n")
    run.finish(Outcome("passed", 0))
    loaded.hook.treescribe_workspace_status(workspace=workspace)
    loaded.hook.treescribe_run_abandoned(workspace=workspace, run_id=1, outcome=Outcome("cancelled", None))
    return run


@pytest.mark.parametrize("naming_arguments", [True, False], ids=["with its arguments", "without arguments"])
@pytest.mark.parametrize("hook", HOOKS)
def test_a_plugin_that_raises_stops_nobody_and_is_told_once(
    hook: str, naming_arguments: bool, workspace: Workspace, caplog: pytest.LogCaptureFixture
) -> None:
    plain, before, after = Witness(), Witness(), Witness()
    use_everything(host_with(plain), workspace)
    loaded = host_with(before)
    failing: Any = raising(hook, naming_arguments=naming_arguments)
    loaded.register(failing, "acme")
    loaded.register(after, "after")
    with caplog.at_level(logging.WARNING, "treescribe"):
        use_everything(loaded, workspace)
    assert failing.calls, "it was called"
    for witness in (before, after):
        assert [call for call in witness.calls if call != "LogMessage"] == plain.calls
    text = f"plugin acme failed in {hook}: KeyError: 1"
    assert [record.getMessage() for record in caplog.records] == [f"treescribe: {text}"]
    in_a_run = "run" in HOOKS[hook].__code__.co_varnames and hook != "treescribe_run_finished"
    for witness in (before, after):
        expected = [("warning", text)] if in_a_run else []
        assert [(event.level, event.message) for event in witness.events.of(LogMessage)] == expected


def test_each_run_in_which_a_plugin_fails_tells_of_it(workspace: Workspace, caplog: pytest.LogCaptureFixture) -> None:
    witness = Witness()
    loaded = host_with(witness)
    loaded.register(raising("treescribe_event", naming_arguments=True), "acme")
    use_everything(loaded, workspace)
    use_everything(loaded, workspace)
    assert len(witness.events.of(LogMessage)) == 2
    assert len(caplog.records) == 1


class Wrong:
    """Answers with what no hook should be answered with."""

    def __init__(self, answer: Any) -> None:
        self.answer = answer

    @hookimpl
    def treescribe_operations(self) -> Any:
        return self.answer

    @hookimpl
    def treescribe_backends(self) -> Any:
        return self.answer

    @hookimpl
    def treescribe_event_types(self) -> Any:
        return self.answer

    @hookimpl
    def treescribe_command_environment(self, workspace: Workspace) -> Any:
        return self.answer


@pytest.mark.parametrize("answer", [5, [5], "text", [None], [("NAME", "value")]], ids=repr)
def test_an_answer_that_is_no_list_of_the_right_kind_counts_as_a_failure(
    answer: Any, workspace: Workspace, caplog: pytest.LogCaptureFixture
) -> None:
    witness = Witness()
    use_everything(host_with(witness, Wrong(answer)), workspace)
    assert witness.events.types()[-1] == "RunFinished"
    assert len(caplog.records) == 4
    assert all("TypeError" in record.getMessage() for record in caplog.records)


@pytest.mark.parametrize("answer", [None, [], ()], ids=repr)
def test_an_answer_of_nothing_is_fine(answer: Any, workspace: Workspace, caplog: pytest.LogCaptureFixture) -> None:
    use_everything(host_with(Wrong(answer)), workspace)
    assert not caplog.records


def test_ctrl_c_in_a_plugin_is_not_swallowed(workspace: Workspace) -> None:
    class Interrupted:
        @hookimpl
        def treescribe_event(self) -> None:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        new_run(workspace, Interrupted()).start()


# -- what plugins bring ---------------------------------------------------------------------------------------


class FakeBackend:
    def __init__(self, name: str, owner: str) -> None:
        self.name = name
        self.owner = owner

    def detect(self, workspace: Workspace) -> bool:
        return False

    def targets(self, workspace: Workspace) -> list[Any]:
        return []

    def run(self, run: Run) -> Outcome:
        return Outcome("passed", 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Deployed(Event):
    """A third party's event."""

    place: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Mine(Event):
    """An event that takes the name of a built-in one."""

    type = "TestFinished"


class Bringing:
    def __init__(self, owner: str) -> None:
        self.owner = owner
        self.asked = 0

    @hookimpl
    def treescribe_operations(self) -> list[Operation]:
        self.asked += 1
        return [Operation("deploy", function="x:y", render="x:z", help=self.owner)]

    @hookimpl
    def treescribe_backends(self) -> list[FakeBackend]:
        return [FakeBackend("acme", self.owner)]

    @hookimpl
    def treescribe_event_types(self) -> list[type[Event]]:
        return [Deployed, Mine]


def test_the_first_to_bring_a_name_keeps_it_and_the_other_is_told_by_its_plugin(
    caplog: pytest.LogCaptureFixture,
) -> None:
    class Nothing:
        @hookimpl
        def treescribe_operations(self) -> None:
            """Nothing, so that answers and plugins could be confused."""

    loaded = host_with(Bringing("first"), Nothing(), Bringing("second"))
    assert loaded.operations()["deploy"].help == "first"
    backend: Any = loaded.backends()["acme"]
    assert backend.owner == "first"
    loaded.codec()
    loaded.operations()
    assert loaded.notes == (
        "operation deploy of plugin plugin-2 is left out: the name is taken",
        "backend acme of plugin plugin-2 is left out: the name is taken",
        "event type TestFinished of plugin plugin-0 is left out: the name is taken",
        "event type Deployed of plugin plugin-2 is left out: the name is taken",
        "event type TestFinished of plugin plugin-2 is left out: the name is taken",
    )
    assert [record.getMessage() for record in caplog.records] == [f"treescribe: {note}" for note in loaded.notes]


def test_a_plugins_event_type_can_be_read(caplog: pytest.LogCaptureFixture) -> None:
    codec = host_with(Bringing("first")).codec()
    assert codec.from_record({"type": "Deployed", "at": 1, "place": "here"}) == Deployed(at=1, place="here")
    assert (
        codec.from_record({"type": "TestFinished", "suite": "s", "test": "t", "status": "passed"}).type
        == "TestFinished"
    )


def test_a_plugin_is_asked_once_for_what_it_brings() -> None:
    bringing = Bringing("first")
    loaded = host_with(bringing)
    loaded.operations()
    loaded.operations()
    assert bringing.asked == 1


def test_a_plugin_that_is_registered_later_is_asked_too() -> None:
    loaded = host_with()
    assert loaded.operations() == {}
    loaded.register(Bringing("late"), "late")
    assert set(loaded.operations()) == {"deploy"}


def test_registering_what_cannot_be_used_is_an_error() -> None:
    class Broken:
        @hookimpl
        def treescribe_event(self, evnt: Event) -> None: ...

    with pytest.raises(ValueError, match=r"^plugin acme: hook treescribe_event takes \(run, event\)"):
        host_with().register(Broken(), "acme")


def test_variables_of_plugins_come_in_the_order_of_the_plugins(workspace: Workspace) -> None:
    class Variables:
        def __init__(self, value: str) -> None:
            self.value = value

        @hookimpl
        def treescribe_command_environment(self) -> list[Variable]:
            return [Variable("ACME_PATH", self.value, ":")]

    run = new_run(workspace, Variables("one"), Variables("two"))
    run.start()
    assert run.environment({"ACME_PATH": "mine"})["ACME_PATH"] == "mine:one:two"
    run.finish(Outcome("passed", 0))


def test_every_hook_is_described() -> None:
    for name, function in HOOKS.items():
        assert (function.__doc__ or "").strip(), name
