"""Operations: the function's signature is the contract of both surfaces."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Annotated, Any

import pytest
from invoke.collection import Collection
from pydantic import BaseModel, ConfigDict, ValidationError
from treescribe.effects import EFFECTS, UNKNOWN
from treescribe.host import host
from treescribe.operation import Operation, Parameter, described
from treescribe.operation_tasks import OperationTask, operations_collection
from treescribe.result import Result
from treescribe.terminal import Style
from treescribe.workspace import Workspace


class Greeting(BaseModel):
    """What was said."""

    model_config = ConfigDict(frozen=True)

    text: str


def greet(
    workspace: Workspace,
    name: Annotated[str, Parameter("Whom to greet.", positional=True)],
    place: Annotated[str | None, Parameter("Where.", positional=True)] = None,
    times: Annotated[int, Parameter("How often.")] = 1,
    loud: Annotated[bool, Parameter("Whether to shout.")] = False,
    with_words: Annotated[tuple[str, ...], Parameter("What else to say.")] = (),
    extra: Annotated[str, Parameter("More of it.")] = "",
) -> Greeting:
    """Greet somebody."""
    text = " ".join([f"hello {name}", *([f"in {place}"] if place else []), *with_words])
    return Greeting(text=(text.upper() if loud else text) * times)


def render_greeting(result: Greeting, style: Style) -> str:
    return style.paint(result.text, "good")


def code_of_greeting(result: Greeting, parameters: dict[str, Any]) -> int:
    return int(parameters.get("times", 1))


@dataclass(frozen=True)
class Count(Result):
    """A result without pydantic."""

    number: int
    of: str | None = None


def count_things(workspace: None) -> Count:
    """Count."""
    return Count(3)


GREET = Operation(
    "acme.greet",
    function=f"{__name__}:greet",
    render=f"{__name__}:render_greeting",
    help="Greet.",
    exit_code=f"{__name__}:code_of_greeting",
)
COUNT = Operation("count", function=f"{__name__}:count_things", render="x:y", help="Count.", needs_workspace=False)


# -- the contract ---------------------------------------------------------------------------------------------


def test_the_parameters_are_the_functions_without_the_workspace() -> None:
    parameters = GREET.parameters()
    assert list(parameters) == ["name", "place", "times", "loud", "with_words", "extra"]
    assert described(parameters["place"]) == Parameter("Where.", positional=True)


def test_the_model_of_the_parameters_describes_them() -> None:
    schema = GREET.parameters_model().model_json_schema()
    assert schema["title"] == "AcmeGreetParameters"
    assert schema["required"] == ["name"]
    assert schema["additionalProperties"] is False
    assert {name: part["description"] for name, part in schema["properties"].items()} == {
        "name": "Whom to greet.",
        "place": "Where.",
        "times": "How often.",
        "loud": "Whether to shout.",
        "with_words": "What else to say.",
        "extra": "More of it.",
    }


@pytest.mark.parametrize(
    "given",
    [
        {"name": "Ana"},
        {"name": "Ana", "place": None, "times": 2, "loud": True, "with_words": ["and", "bye"], "extra": "x"},
    ],
)
def test_parameters_of_the_right_types_are_taken(given: dict[str, Any]) -> None:
    model = GREET.parameters_model().model_validate_json(json.dumps(given))
    assert model.model_dump(exclude_unset=True, mode="json") == given


@pytest.mark.parametrize(
    ("given", "place"),
    [
        ({}, "name"),
        ({"name": 5}, "name"),
        ({"name": None}, "name"),
        ({"name": "Ana", "times": "2"}, "times"),
        ({"name": "Ana", "times": True}, "times"),
        ({"name": "Ana", "loud": 1}, "loud"),
        ({"name": "Ana", "loud": "yes"}, "loud"),
        ({"name": "Ana", "with_words": "and"}, "with_words"),
        ({"name": "Ana", "with_words": [1]}, "with_words"),
        ({"name": "Ana", "nmae": "Ana"}, "nmae"),
        ({"name": "Ana", "workspace": "/ws"}, "workspace"),
    ],
)
def test_nothing_is_coerced_and_unknown_parameters_are_refused(given: dict[str, Any], place: str) -> None:
    with pytest.raises(ValidationError) as caught:
        GREET.parameters_model().model_validate_json(json.dumps(given))
    assert caught.value.errors()[0]["loc"][0] == place


def test_parameters_that_were_taken_cannot_be_changed() -> None:
    model: Any = GREET.parameters_model().model_validate({"name": "Ana"})
    with pytest.raises(ValidationError):
        model.name = "Bo"


def test_the_result_has_a_model_also_where_it_is_no_pydantic_one() -> None:
    assert GREET.result_model() is Greeting
    assert COUNT.result_model().model_json_schema()["required"] == ["number"]
    assert COUNT.result_model().model_validate({"number": 3, "of": None})


def test_it_is_called_rendered_and_has_an_exit_code(workspace: Workspace) -> None:
    result = GREET.call(workspace, name="Ana", times=2)
    assert result == Greeting(text="hello Anahello Ana")
    assert GREET.text(result, Style()) == "hello Anahello Ana"
    assert GREET.text(result, Style(colour=True)) == "\x1b[32mhello Anahello Ana\x1b[0m"
    assert GREET.code(result, {"name": "Ana", "times": 2}) == 2
    assert COUNT.code(COUNT.call(None), {}) == 0


def test_an_operation_that_nobody_reviewed_is_unknown() -> None:
    assert GREET.effect == UNKNOWN


# -- as an invoke task ----------------------------------------------------------------------------------------


def task_of(collection: Collection, name: str) -> OperationTask:
    task = collection[name]
    assert isinstance(task, OperationTask)
    return task


def test_its_arguments_are_its_parameters_and_json() -> None:
    task = task_of(operations_collection([GREET], lambda: "/", ["acme.greet"]), "acme.greet")
    arguments = {argument.names[0]: argument for argument in task.get_arguments()}
    assert list(arguments) == ["name", "place", "times", "loud", "with-words", "extra", "json"]
    assert {name: argument.kind for name, argument in arguments.items()} == {
        "name": str,
        "place": str,
        "times": int,
        "loud": bool,
        "with-words": list,
        "extra": str,
        "json": bool,
    }
    assert [name for name, argument in arguments.items() if argument.positional] == ["name"]
    assert arguments["with-words"].attr_name == "with_words"
    assert arguments["times"].default == 1
    assert arguments["name"].help == "Whom to greet."
    assert task.__doc__ == "Greet somebody."


def test_one_that_is_not_named_is_not_imported() -> None:
    nowhere = Operation("acme.gone", function="acme_gone:f", render="acme_gone:r", help="Gone.")
    collection = operations_collection([nowhere, GREET], lambda: "/", ["acme.greet"])
    task = task_of(collection, "acme.gone")
    assert (task.get_arguments(), task.__doc__) == ([], "Gone.")


def test_two_tasks_of_operations_are_never_one_to_invoke() -> None:
    """invoke tells tasks apart by their bodies' code, which all operations share."""
    one, other = (OperationTask(operation, lambda: "/", named=False) for operation in (GREET, COUNT))
    assert one != other
    assert one == one
    assert len({one, other}) == 2


# -- those that come with treescribe --------------------------------------------------------------------------

OPERATIONS = sorted(host().operations().values(), key=lambda operation: operation.name)


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda operation: operation.name)
class TestEveryOperation:
    def test_can_be_loaded_and_is_described(self, operation: Operation) -> None:
        assert (operation.load().__doc__ or "").strip()
        assert operation.help.endswith(".")
        assert callable(operation.load())

    def test_says_what_each_parameter_is_for(self, operation: Operation) -> None:
        for name, parameter in operation.parameters().items():
            assert described(parameter).help, name

    def test_has_schemas(self, operation: Operation) -> None:
        parameters = operation.parameters_model()
        assert parameters.model_json_schema()["additionalProperties"] is False
        assert parameters.model_config["strict"] is True
        assert operation.result_model().model_json_schema()["type"] == "object"

    def test_was_reviewed(self, operation: Operation) -> None:
        assert operation.name in EFFECTS
