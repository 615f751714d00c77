"""References to runs: a number, latest, previous, or a pinned name; and what to say of runs that cannot be had."""

from __future__ import annotations

from typing import TYPE_CHECKING

from treescribe.errors import RunUnavailable, TreescribeError
from treescribe.terminal import count

from treescribe_history.digest import CUT_SHORT, RUNNING, is_nested, kept_digest, load_digest
from treescribe_history.ids import last_id
from treescribe_history.pins import read_pins, unknown_name
from treescribe_history.store import Store, StoredRun
from treescribe_history.transcript import LIVE, Header, Transcript, is_written_to

if TYPE_CHECKING:
    from treescribe.codec import Codec

LATEST = "latest"
PREVIOUS = "previous"

RunReference = str | int
"""How a run is referred to: see `resolve`."""

RUN_HELP = "the run: its number, latest, previous, or a pinned name"


def resolve(store: Store, reference: RunReference) -> StoredRun:
    """Return the run that `reference` names. It may be live: see `ended_transcript`.

    :raises RunUnavailable: where there is no such run, saying whether it never was or is no longer kept.
    :raises InvalidInput: where the reference is none.
    """
    text = str(reference).strip()
    if text == PREVIOUS:
        return previous(store, store.header(latest(store)))
    if text == LATEST:
        return latest(store)
    number = text.removeprefix("#")
    if number.isascii() and number.isdigit():
        return _by_number(store, int(number))
    pins = read_pins(store)
    if text not in pins:
        raise unknown_name(store, text, pins)
    return _by_number(store, pins[text], f" (pinned as {text})")


def latest(store: Store) -> StoredRun:
    """The newest run that no other run of the workspace started (those are part of that one); it may go on."""
    return _newest(store, store.runs())


def latest_ended(store: Store) -> StoredRun:
    """The newest such run that does not go on.

    :raises RunUnavailable: where every run goes on, or there is none.
    """
    runs = store.runs()
    ended = [stored for stored in runs if not is_live(stored)]
    if runs and not ended:
        raise _still_live(store, runs[0])
    return _newest(store, ended)


def _newest(store: Store, runs: list[StoredRun]) -> StoredRun:
    if not runs:
        raise _nothing(store)
    return next((stored for stored in runs if not _is_nested(store, stored)), runs[0])


def _is_nested(store: Store, stored: StoredRun) -> bool:
    digest = kept_digest(stored)
    try:
        return digest.nested if digest is not None else is_nested(store.header(stored))
    except RunUnavailable:
        return False  # whoever reads it says what is wrong with it


def find_previous(store: Store, before: Header, *, same_store: bool = True) -> StoredRun | None:
    """The last run before the one in `before` that has the same backend and targets and reached its end.

    :param same_store: whether that one is of this workspace, so that its number counts here.
    """
    wanted = (before.backend, before.targets)
    for stored in store.runs():
        if stored.id >= before.run and same_store:
            continue
        if _identity(store, stored) == wanted and _reached_its_end(store, stored):
            return stored
    return None


def _reached_its_end(store: Store, stored: StoredRun) -> bool:
    from treescribe.codec import Codec

    try:
        return not is_live(stored) and load_digest(store, stored, Codec).outcome not in (RUNNING, *CUT_SHORT)
    except RunUnavailable:
        return False


def previous(store: Store, before: Header, *, same_store: bool = True) -> StoredRun:
    """`find_previous`, or RunUnavailable."""
    found = find_previous(store, before, same_store=same_store)
    if found is not None:
        return found
    what = f"{' '.join(before.targets)} ({before.backend})"
    where = f"before #{before.run} is kept in" if same_store else "is kept in"
    raise RunUnavailable(
        f"no run of {what} {where} {store.workspace.root}, so there is nothing to compare with.",
        "See which runs there are: treescribe history.list",
    )


def _identity(store: Store, stored: StoredRun) -> tuple[str, tuple[str, ...]] | None:
    """What runs are compared by: backend and targets. None where the run cannot be read."""
    digest = kept_digest(stored)
    if digest is not None:
        return digest.backend, digest.targets
    try:
        header = store.header(stored)
    except TreescribeError:
        return None
    return header.backend, header.targets


def is_live(stored: StoredRun) -> bool:
    """Whether a run goes on at this moment: its writer holds its file."""
    return stored.active and is_written_to(stored.path)


def ended(store: Store, stored: StoredRun) -> StoredRun:
    """Return the run, which must not go on; raises RunUnavailable where it does."""
    if is_live(stored):
        raise _still_live(store, stored)
    return stored


def ended_transcript(store: Store, stored: StoredRun, codec: Codec) -> Transcript:
    """Read a run, which must not go on; raises RunUnavailable where it does, or cannot be read."""
    transcript = store.read(stored, codec)
    if transcript.state == LIVE:
        raise _still_live(store, stored)
    return transcript


def _still_live(store: Store, stored: StoredRun) -> RunUnavailable:
    return RunUnavailable(
        f"run #{stored.id} is still going on in {store.workspace.root}.",
        f"Wait for its end; until then: treescribe history.show {stored.id}",
    )


def _by_number(store: Store, number: int, called: str = "") -> StoredRun:
    stored = store.find(number)
    if stored is not None:
        return stored
    runs = store.runs()
    if not runs:
        raise _nothing(store)
    last = last_id(store)
    if not 1 <= number <= last:
        raise RunUnavailable(
            f"there never was a run #{number} in {store.workspace.root}; the newest is #{last}.",
            "See which runs there are: treescribe history.list",
        )
    pinned = set(read_pins(store).values())
    unpinned = [run for run in runs if run.id not in pinned] or runs
    kept = f"the newest {len(unpinned)} are" if len(unpinned) > 1 else "one run is"
    oldest = unpinned[-1].id
    raise RunUnavailable(
        f"run #{number}{called} is no longer kept in {store.workspace.root} ({kept}; the oldest is #{oldest}).",
        "Keep a run for good with: treescribe history.pin RUN NAME",
    )


def _nothing(store: Store) -> RunUnavailable:
    given = last_id(store)
    ever = f" of the {count(given, 'run')} recorded" if given else ""
    return RunUnavailable(
        f"no runs{ever} are kept in {store.workspace.root}.",
        "Record one: treescribe TASK, or: treescribe exec -- COMMAND",
    )
