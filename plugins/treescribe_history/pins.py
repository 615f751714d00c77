"""Pins: names for runs that are kept for good. A name serves wherever a run does."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager

from treescribe.errors import InvalidInput, RunUnavailable

from treescribe_history.store import Store, StoredRun

RESERVED = ("latest", "previous")
_NAME = re.compile(r"[A-Za-z0-9._/-]+")
_LONGEST_NAME = 100


def read_pins(store: Store) -> dict[str, int]:
    """Return every pin: name → id.

    :raises RunUnavailable: where the file is damaged.
    """
    path = store.folder / "pins.json"
    try:
        pins = json.loads(path.read_bytes())
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, RecursionError) as error:
        raise _damaged(store, str(error)) from error
    if not isinstance(pins, dict) or not all(type(number) is int for number in pins.values()):
        raise _damaged(store, "a JSON object of names and run numbers is expected")
    return pins


def names_of(pins: dict[str, int], number: int) -> tuple[str, ...]:
    """The names of a run, in order."""
    return tuple(sorted(name for name, pinned in pins.items() if pinned == number))


def pin(store: Store, stored: StoredRun, name: str) -> None:
    """Give a finished run a name. Doing it twice is once.

    :raises InvalidInput: where the name cannot be one, or another run has it.
    :raises RunUnavailable: where the run was evicted meanwhile.
    """
    check_name(name)
    with _changing(store):
        pins = read_pins(store)
        if pins.get(name, stored.id) != stored.id:
            raise InvalidInput(
                f"the name {name} is taken, by run #{pins[name]} of {store.workspace.root}.",
                f"Free it with: treescribe history.unpin {name}",
            )
        if not (stored.path.exists() or (store.folder / stored.path.name).exists()):
            raise RunUnavailable(f"run #{stored.id} is no longer kept in {store.workspace.root}.")
        _write(store, pins | {name: stored.id})


def unpin(store: Store, name: str) -> int:
    """Take a name away and return the id of the run that had it.

    :raises InvalidInput: where there is no such name.
    """
    if name not in read_pins(store):  # and nothing is made where there is no history to change
        raise unknown_name(store, name, read_pins(store))
    with _changing(store):
        pins = read_pins(store)
        if name not in pins:
            raise unknown_name(store, name, pins)
        number = pins.pop(name)
        _write(store, pins)
    return number


def check_name(name: str) -> None:
    """Refuse what cannot be a pin's name: it must be told from a run's number and from the words for runs."""
    hint = "A name has letters, digits and . _ - /, for example: main"
    if not name:
        raise InvalidInput("a pin needs a name.", hint)
    if not _NAME.fullmatch(name):
        bad = next(char for char in name if not _NAME.fullmatch(char))
        raise InvalidInput(f"{name!r} cannot be a pin's name: it holds {bad!r}.", hint)
    if name.startswith("-"):
        raise InvalidInput(f"{name!r} cannot be a pin's name: it would be taken for an option.", hint)
    if name.isdigit():
        raise InvalidInput(f"{name!r} cannot be a pin's name: it would be taken for a run's number.", hint)
    if name in RESERVED:
        raise InvalidInput(f"{name!r} cannot be a pin's name: it stands for a run already.", hint)
    if len(name) > _LONGEST_NAME:
        raise InvalidInput(f"a pin's name has at most {_LONGEST_NAME} characters, this one {len(name)}.", hint)


def unknown_name(store: Store, name: str, pins: dict[str, int]) -> InvalidInput:
    """The error that there is no such pin, naming those there are."""
    known = ", ".join(f"{pinned} (#{pins[pinned]})" for pinned in sorted(pins)) or "none"
    return InvalidInput(
        f"no run is called {name!r} in {store.workspace.root}.",
        f"A run is a number, latest, previous, or a pinned name. Pinned here: {known}.",
    )


def _write(store: Store, pins: dict[str, int]) -> None:
    store.replace(store.folder / "pins.json", json.dumps(pins, indent=1, sort_keys=True).encode() + b"\n")


@contextmanager
def _changing(store: Store) -> Iterator[None]:
    """Hold the store's lock; what keeps the pins from being written is told as such."""
    try:
        with store.locked():
            yield
    except OSError as error:
        raise InvalidInput(f"the pins of {store.workspace.root} cannot be written: {error.strerror}.") from error


def _damaged(store: Store, problem: str) -> RunUnavailable:
    path = store.folder / "pins.json"
    return RunUnavailable(
        f"the pins of {store.workspace.root} cannot be read: {path}: {problem}",
        "Mend the file, or delete it; until then no run is evicted.",
    )
