"""What is added to the environment of commands."""

from __future__ import annotations

import pytest
from treescribe.environment import Variable, with_variables


@pytest.mark.parametrize(
    ("before", "variable", "after"),
    [
        ({}, Variable("A", "1"), {"A": "1"}),
        ({"A": "0"}, Variable("A", "1"), {"A": "1"}),
        ({}, Variable("P", "/x", ":"), {"P": "/x"}),
        ({"P": ""}, Variable("P", "/x", ":"), {"P": "/x"}),
        ({"P": "/a"}, Variable("P", "/x", ":"), {"P": "/a:/x"}),
        ({"P": "/x:/a"}, Variable("P", "/x", ":"), {"P": "/x:/a"}),
        ({"P": "/x/y"}, Variable("P", "/x", ":"), {"P": "/x/y:/x"}),
        ({"O": "-q"}, Variable("O", "-p acme", " "), {"O": "-q -p acme"}),
        ({"O": "-q -p acme -x"}, Variable("O", "-p acme", " "), {"O": "-q -p acme -x"}),
        ({}, Variable("P", "/x", ":", only_with="FLAG"), {}),
        ({"FLAG": ""}, Variable("P", "/x", ":", only_with="FLAG"), {"FLAG": ""}),
        ({"FLAG": "1"}, Variable("P", "/x", ":", only_with="FLAG"), {"FLAG": "1", "P": "/x"}),
    ],
)
def test_a_variable_is_added(before: dict[str, str], variable: Variable, after: dict[str, str]) -> None:
    given = dict(before)
    assert with_variables(given, [variable]) == after
    assert given == before, "what was given is left as it was"


def test_adding_twice_is_adding_once() -> None:
    variables = [Variable("P", "/x", ":"), Variable("O", "-p acme", " "), Variable("A", "1")]
    once = with_variables({"P": "/a", "O": "-q"}, variables)
    assert with_variables(once, variables) == once
