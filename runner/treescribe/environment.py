"""What a run adds to the environment of its child commands.

Lists that the user set are added to, never replaced; a variable that is no list is the plugin's own to set.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

FOLLOWER_VARIABLE = "TREESCRIBE_FOLLOWER"
"""Names the socket on which a run is followed (`treescribe.follower`); taken by the process that it is meant for."""


class Variable(NamedTuple):
    """One variable for child commands.

    :ivar separator: what joins `value` to a value that is there already; without one the variable is treescribe's
        own, and set.
    :ivar only_with: the name of another variable: without it, this one is left as it is.
    """

    name: str
    value: str
    separator: str = ""
    only_with: str = ""


def with_variables(environment: Mapping[str, str], variables: Iterable[Variable]) -> dict[str, str]:
    """Return `environment` with `variables` added. A value that is part of a list already is not added twice."""
    result = dict(environment)
    for name, value, separator, only_with in variables:
        if only_with and not result.get(only_with):
            continue
        before = result.get(name, "")
        if not separator or not before:
            result[name] = value
        elif f"{separator}{value}{separator}" not in f"{separator}{before}{separator}":
            result[name] = before + separator + value
    return result
