"""Secrets: no chosen one reaches the disk, however the output comes, and no fact changes for it."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import fields
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
import treescribe_history.plugin
from event_strategies import events_of
from hypothesis import given, settings
from hypothesis import strategies as st
from support import new_run
from treescribe.events import (
    CATALOGUE,
    Diagnostic,
    Event,
    IssueChanged,
    LogMessage,
    OperationFinished,
    OperationStarted,
    SuiteFinished,
    TaskFinished,
    TaskStarted,
    TestFinished,
)
from treescribe.masking import Masker
from treescribe.request import Outcome, RunRequest
from treescribe.workspace import Workspace

SECRETS = st.text("ζξ€'\"\\\n\r\t $#/-é7", min_size=8, max_size=30).filter(lambda text: len(text.strip()) >= 8)
"""Of characters that are written in another way by JSON, Python or a shell, or stand in no word of ours."""

TEXTS = st.text("aζ€'\"\\\n ", max_size=12)


@contextmanager
def workspace() -> Iterator[Workspace]:
    """A workspace without a history."""
    with TemporaryDirectory() as folder:
        (Path(folder) / "tasks.py").touch()
        yield Workspace.open(os.path.realpath(folder))


def kept(root: Path) -> Iterator[str]:
    """Every text that stands below the state folder: the lines of files, and the texts within those that are JSON."""
    for path in (root / ".treescribe").rglob("*"):
        for line in path.read_bytes().decode().splitlines() if path.is_file() else ():
            try:
                yield from texts_in(json.loads(line))
            except ValueError:
                yield line


def texts_in(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        yield from texts_in([*value, *value.values()])
    elif isinstance(value, list):
        for part in value:
            yield from texts_in(part)


def with_secret(event: Event, secret: str, before: str) -> Event:
    """The event with the secret in every text of it that is searched for secrets."""

    def put(value: Any) -> Any:
        if isinstance(value, str):
            return before + secret + before
        if isinstance(value, tuple):
            return tuple(put(part) for part in value)
        return value

    values = {field.name: getattr(event, field.name) for field in fields(event)}
    return type(event)(**{name: put(value) if name in event.masked else value for name, value in values.items()})


SAMPLES: list[Event] = [
    TaskStarted(task=1, name="deploy", arguments=(("to", ""),)),
    TaskFinished(task=1, name="deploy", arguments=(("to", ""),), status="failed"),
    Diagnostic(severity="error", message="", path="/ws/a.py"),
    TestFinished(suite="s", test="t", status="failed"),
    SuiteFinished(suite="s", outcome="errored"),
    IssueChanged(tracker="bd", issue="x-1", field="title", before="", after="", actor="ana"),
    OperationStarted(operation="1", name=""),
    OperationFinished(operation="1", name="", status="failed"),
    LogMessage(level="warning", source="x", message=""),
]
SURFACES_OWN = {"RunStarted", "RunFinished", "CommandStarted", "CommandFinished", "Output"}
"""Events that have secrets put into them by the run of the test itself."""


def test_every_event_that_may_hold_a_secret_is_tried() -> None:
    assert {event.type for event in SAMPLES} | SURFACES_OWN == {cls.type for cls in CATALOGUE if cls.masked}


@settings(deadline=None, max_examples=120)
@given(
    secret=SECRETS,
    before=TEXTS,
    events=st.lists(st.sampled_from(SAMPLES), max_size=4),
    printed=st.lists(st.one_of(TEXTS, st.none()), max_size=6),
    places=st.lists(st.integers(0, 400), max_size=12),
)
def test_no_secret_reaches_the_disk_whatever_the_pieces(
    secret: str, before: str, events: list[Event], printed: list[str | None], places: list[int]
) -> None:
    """None stands for the secret in what a command prints. The pieces end anywhere, within characters too."""
    with workspace() as place:
        request = RunRequest("invoke", (f"deploy --to={secret}",), client="cli")
        environment = {"DEPLOY_TOKEN": secret}
        run = new_run(place, treescribe_history.plugin, request=request, environment=environment)
        run.start()
        for event in events:
            run.emit(with_secret(event, secret, before))
        number = run.command_started(f"curl {secret}")
        capture = run.capture(number, "stdout")
        data = "".join(secret if text is None else text for text in printed).encode()
        ends = (*sorted(end for end in places if end < len(data)), len(data))
        for start, end in pairwise((0, *ends)):
            capture.feed(data[start:end])
        run.command_finished(number, "exited", exit_code=1, error=f"no {secret}")
        run.finish(Outcome("failed", 1, f"because of {secret}"))
        found = list(kept(place.root))
    assert run.id is not None
    assert not [text for text in found if secret in text]
    assert any("***" in text for text in found)


@settings(max_examples=200)
@given(data=st.data())
def test_no_fact_changes_but_in_its_texts(data: st.DataObject) -> None:
    """Kind, key and status are those of the event, even where a secret has the very same text."""
    event = data.draw(events_of(TestFinished))
    assert isinstance(event, TestFinished)
    texts = [event.project, event.suite, event.test, event.status, event.path, event.message]
    secret = data.draw(st.sampled_from(texts))
    masked = Masker({"TOKEN": secret}).event(event)
    before, after = event.fact(), masked.fact()
    assert after is not None
    assert (after.kind, after.key, dict(after.value)["status"]) == (before.kind, before.key, event.status)


@pytest.mark.parametrize("secret", ["cancelled", "TestFinished", "tests/test_cart.py", "test_total"])
def test_a_secret_that_reads_like_a_fact_spoils_none(secret: str) -> None:
    event = TestFinished(suite="tests/test_cart.py", test="test_total", status="cancelled", message="cancelled by hand")
    masked = Masker({"TOKEN": secret}).event(event)
    assert isinstance(masked, TestFinished)
    assert (masked.type, masked.suite, masked.test, masked.status) == (
        "TestFinished",
        "tests/test_cart.py",
        "test_total",
        "cancelled",
    )
    assert masked.message == ("*** by hand" if secret == "cancelled" else "cancelled by hand")
