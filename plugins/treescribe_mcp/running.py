"""The tools that run something: ``run``, ``check`` and ``exec``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any

from anyio import to_thread
from pydantic import BaseModel, ConfigDict, Field
from treescribe.commands import command_of
from treescribe.effects import ADDITIVE, DESTRUCTIVE, Effect, effect_of
from treescribe.errors import InvalidInput, TreescribeError
from treescribe.events import Event, SuiteStarted, TestFinished
from treescribe.reduce import Reducer, test_fails

from treescribe_mcp.children import ChildRun, follow_run
from treescribe_mcp.run_answer import RunAnswer, answer_of_record, answer_of_verdict
from treescribe_mcp.slots import Slots
from treescribe_mcp.tool import Call, Reports, Tool

_TAIL_LINES = 15
_CEILING = 4 * 1024

Timeout = Annotated[float | None, Field(gt=0, le=86_400, description="Seconds; then the run is cancelled.")]
OptionValue = str | int | float | bool | list[str]


class _Arguments(BaseModel):
    model_config = ConfigDict(strict=True, frozen=True, extra="forbid")


class RunArguments(_Arguments):
    """What ``run`` and ``check`` take."""

    targets: Annotated[list[str], Field(description="Names, in order, as the tool targets lists them.", min_length=1)]
    options: Annotated[
        dict[str, dict[str, OptionValue]],
        Field(description='Options by target: {"test": {"only": "tests/test_a.py", "fast": true}}.'),
    ] = {}
    timeout: Timeout = None


class ExecArguments(_Arguments):
    """What ``exec`` takes."""

    command: Annotated[
        list[str], Field(description="The program and its arguments; no shell reads them.", min_length=1)
    ]
    timeout: Timeout = None


def running_tools(slots: Slots, *, allow_exec: bool) -> Iterator[Tool]:
    """``run`` and ``check``; ``exec`` where it is allowed."""
    yield _tool(
        "run",
        "Run targets of the project (tasks of tasks.py), recorded. Answers with the verdict, the failing tests "
        "and what changed since the run before. A failing build is an answer with ok: false.",
        effect_of("run"),
        RunArguments,
        _Runner(slots, DESTRUCTIVE).run,
    )
    yield _tool(
        "check",
        "As run, for targets that the project declares read-only or additive (see targets); others are refused.",
        effect_of("check"),
        RunArguments,
        _Runner(slots, ADDITIVE).run,
    )
    if allow_exec:
        yield _tool(
            "exec",
            "Run one command in the directory and record it: its tests where it runs pytest, its compilers' messages, "
            "what it printed. Answers like run.",
            effect_of("exec"),
            ExecArguments,
            _Runner(slots, DESTRUCTIVE).exec,
        )


def _tool(name: str, description: str, effect: Effect, arguments: type[BaseModel], call: Any) -> Tool:
    rest = "history_show has the whole run"
    return Tool(name, "run", description, effect, arguments, RunAnswer, call, ceiling=_CEILING, rest=rest)


class _Runner:
    """Runs something with at most one effect."""

    def __init__(self, slots: Slots, max_effect: str) -> None:
        self._slots = slots
        self._max_effect = max_effect

    async def run(self, call: Call) -> dict[str, Any]:
        arguments = call.arguments
        assert isinstance(arguments, RunArguments)
        words = tuple(task_words(arguments))
        return await self._recorded(call, words, str(call.place.root), arguments.timeout)

    async def exec(self, call: Call) -> dict[str, Any]:
        arguments = call.arguments
        assert isinstance(arguments, ExecArguments)
        if any("\0" in word for word in arguments.command):
            raise InvalidInput("command: a NUL character cannot be part of an argument.")
        return await self._recorded(call, ("exec", "--", *arguments.command), call.directory, arguments.timeout)

    async def _recorded(
        self, call: Call, words: tuple[str, ...], directory: str, timeout: float | None
    ) -> dict[str, Any]:
        progress = Progress(call.report)

        async def waiting(seconds: float) -> None:
            taken = f"all {self._slots.number} slots of this machine are taken"
            await call.report(f"waiting for {seconds:.0f} s: {taken}", seconds)

        async with self._slots.one(waiting):
            child = await follow_run(
                call,
                words,
                directory=directory,
                max_effect=self._max_effect,
                timeout=timeout,
                saw=progress.saw,
            )
        return await self._answer(call, child, progress)

    async def _answer(self, call: Call, child: ChildRun, progress: Progress) -> dict[str, Any]:
        if child.refused is not None:
            raise InvalidInput(*child.refused)
        output = child.tail(_TAIL_LINES)
        if child.begun is None:
            if child.timed_out:
                raise TreescribeError("it timed out before a run began.", output)
            raise TreescribeError(f"no run began: treescribe ended with exit code {child.exit_code}.", output)
        number, targets = child.begun["run"], tuple(child.begun["targets"])
        if number is not None:
            return await to_thread.run_sync(answer_of_record, call.place, number, output)
        return answer_of_verdict(call.place, targets, progress.verdict, output)


class Progress:
    """Tells the client what happens in a run, as it happens: failures at once, counts now and then."""

    _EVERY = 25

    def __init__(self, report: Reports) -> None:
        self._report = report
        self._reducer = Reducer()
        self._total = 0
        self._seen = 0
        self._failed = 0

    @property
    def verdict(self) -> Any:
        return self._reducer.verdict()

    async def saw(self, event: Event) -> None:
        self._reducer.add(event)
        if isinstance(event, SuiteStarted):
            self._total += getattr(event, "tests", 0) or 0
        elif isinstance(event, TestFinished):
            self._seen += 1
            fails = test_fails(event.status)
            self._failed += fails
            if fails or self._seen % self._EVERY == 0:
                await self._tell(f": {event.suite}::{event.test}" if fails else "")

    async def _tell(self, failure: str) -> None:
        total = self._total if self._total >= self._seen else None
        of = f" of {total}" if total else ""
        failed = f", {self._failed} failed" if self._failed else ""
        await self._report(f"{self._seen}{of} tests{failed}{failure}", self._seen, total)


def task_words(arguments: RunArguments) -> Iterator[str]:
    """The targets and their options as words of a command line.

    :raises InvalidInput: for what would be read as something else there.
    """
    for target in arguments.options:
        if target not in arguments.targets:
            raise InvalidInput("options: they are given by target, and one of these names is not among targets.")
    for number, target in enumerate(arguments.targets):
        if not target or target.startswith("-") or any(sign.isspace() or sign == "\0" for sign in target):
            raise InvalidInput(
                f"targets[{number}] is no name of a target: it is empty, begins with - or holds white space.",
                'Options go into options: {"TARGET": {"name": "value"}}.',
            )
        if command_of(target) is not None:
            raise InvalidInput(f"targets[{number}] is a command of treescribe, not a target.", "See the tool targets.")
        yield target
        for name, value in arguments.options.get(target, {}).items():
            yield from _option_words(target, name, value)


def _option_words(target: str, name: str, value: OptionValue) -> Iterator[str]:
    bare = name.lstrip("-")
    if not bare or not all(sign.isalnum() or sign in "-_" for sign in bare):
        raise InvalidInput(f"options.{target}: one of the names is no name of an option.")
    flag = ("-" if len(bare) == 1 else "--") + bare.replace("_", "-")
    if value is True:
        yield flag
    elif value is False:
        yield f"--no-{bare.replace('_', '-')}"
    else:
        for part in value if isinstance(value, list) else [value]:
            if "\0" in str(part):
                raise InvalidInput(f"options.{target}: a NUL character cannot be part of a value.")
            yield f"{flag}={part}"
