"""Secrets never reach what observers are handed, however a stream is cut; everything else passes unchanged."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from treescribe.events import CommandFinished, Event, Output, RunStarted, TaskStarted, TestFinished, UnknownEvent
from treescribe.masking import LONGEST_LINE, MASK, Masker, is_secret_name

SECRET = "hunter2-hunter2"
LETTERS = st.sampled_from("ab\n")
"""Few letters, so that a text is full of beginnings of secrets."""
SECRETS = st.text(LETTERS, min_size=8, max_size=20)


def masked_stream(masker: Masker, pieces: Iterable[str]) -> str:
    written, waiting = [], ""
    for piece in pieces:
        safe, waiting = masker.split(waiting + piece)
        written.append(safe)
    return "".join(written) + masker.text(waiting)


def cut(text: str, places: Iterable[int]) -> list[str]:
    ends = [0, *sorted(place % (len(text) + 1) for place in places), len(text)]
    return [text[start:end] for start, end in pairwise(ends)]


# -- streams --------------------------------------------------------------------------------------------------


@given(st.lists(SECRETS, min_size=1, max_size=3), st.lists(st.text(LETTERS, max_size=12), max_size=12), st.data())
def test_a_secret_never_appears_whatever_the_pieces(
    secrets: list[str], between: list[str], data: st.DataObject
) -> None:
    parts = [part for text in between for part in (text, data.draw(st.sampled_from(secrets)))]
    text = "".join(parts)
    pieces = cut(text, data.draw(st.lists(st.integers(min_value=0), max_size=20)))
    masker = Masker({f"TOKEN_{n}": secret for n, secret in enumerate(secrets)})
    masked = masked_stream(masker, pieces)
    assert not any(secret in masked for secret in secrets)


@given(st.text(), st.lists(st.integers(min_value=0), max_size=20))
def test_a_text_without_secrets_passes_unchanged(text: str, places: list[int]) -> None:
    masker = Masker({"API_KEY": SECRET}, ["no such thing \\d+"])
    assert masked_stream(masker, cut(text, places)) == text
    assert masker.text(text) == text


LINES = st.lists(st.sampled_from(["key=abc", "^", "x key=12 y", "", "plain", "--BEGIN", "é"]), max_size=20)


@given(LINES, st.lists(st.integers(min_value=0), max_size=20))
@example(["x", "key=abc"], [5])
def test_patterns_find_the_same_whatever_the_pieces(lines: list[str], places: list[int]) -> None:
    text = "\n".join(lines)
    masker = Masker({"API_KEY": "a secret\nof three\nlines"}, ["^key=\\w+$", "(?<=key=)\\d+", "--BEGIN"])
    whole = "\n".join(masker.text(line) for line in lines)
    assert masked_stream(masker, cut(text, places)) == whole == masker.text(text)


def test_a_secret_of_several_lines_is_found_across_lines() -> None:
    key = "-----BEGIN KEY-----\nMIIEpAIBAAKCAQEA\n-----END KEY-----\n"
    text = f"before\n{key}after\n"
    masker = Masker({"SSH_PRIVATE_KEY": key})
    assert masked_stream(masker, list(text)) == f"before\n{MASK}after\n"


def test_what_waits_is_the_unfinished_line_only() -> None:
    masker = Masker(patterns=["key=\\w+"])
    assert masker.split("one\ntwo\nkey=a") == ("one\ntwo\n", "key=a")


def test_of_an_endless_line_little_waits_and_values_are_still_found() -> None:
    masker = Masker({"TOKEN": SECRET}, ["x{3,}.*"])
    written, waiting, most = 0, "", 0
    found = ""
    for _ in range(200):
        safe, waiting = masker.split(waiting + "xyz" * 1000 + SECRET)
        written += len(safe)
        most = max(most, len(waiting))
        found += safe
    assert most < 2 * LONGEST_LINE
    assert SECRET not in found
    assert written > 200 * 3000 - 2 * LONGEST_LINE


def test_without_secrets_and_patterns_nothing_waits() -> None:
    assert Masker().split("no newline") == ("no newline", "")


# -- which values are secrets ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name",
    [
        "TOKEN",
        "GITHUB_TOKEN",
        "github_token",
        "GITHUBTOKEN",
        "NPM-TOKEN",
        "AWS_SECRET_ACCESS_KEY",
        "OPENAI_API_KEY",
        "OPENAI_APIKEY",
        "PGPASSWORD",
        "DB_PASSWORD_2",
        "SIGNING_KEY",
        "GIT_PAT",
        "CLIENT_SECRET",
        "VAULT_AUTH",
        "SSH_PASSPHRASE",
        "GITHUB_TOKEN2",
        "API_KEY1",
        "AWSACCESSKEY",
    ],
)
def test_names_of_secrets(name: str) -> None:
    assert is_secret_name(name)
    assert Masker({name: SECRET}).text(f"<{SECRET}>") == f"<{MASK}>"


@pytest.mark.parametrize(
    "name",
    [
        "PATH",
        "HOME",
        "KEYBOARD",
        "TOKENIZERS_PARALLELISM",
        "MAX_TOKENS",
        "AUTHOR",
        "XAUTHORITY",
        "COMPATIBLE",
        "PWD",
        "OLDPWD",
        "GIT_CONFIG_KEY_0",
        "GIT_ASKPASS",
        "SSH_ASKPASS",
        "SSH_AUTH_SOCK",
    ],
)
def test_names_that_only_look_like_it(name: str) -> None:
    assert not is_secret_name(name)
    assert Masker({name: SECRET}).text(SECRET) == SECRET


@pytest.mark.parametrize(("value", "masked"), [("1234567", "1234567"), ("12345678", MASK), ("", "")])
def test_values_shorter_than_eight_characters_are_no_secrets(value: str, masked: str) -> None:
    assert Masker({"TOKEN": value}).text(value) == masked


def test_of_values_within_each_other_the_longest_is_masked() -> None:
    masker = Masker({"A_TOKEN": "abcdefgh", "B_TOKEN": "abcdefgh-and-more"})
    assert masker.text("abcdefgh-and-more abcdefgh") == f"{MASK} {MASK}"


def test_values_are_taken_literally() -> None:
    masker = Masker({"TOKEN": "a.c(d)[e]+"})
    assert masker.text("a.c(d)[e]+ abc(d)[e]+") == f"{MASK} abc(d)[e]+"


def test_what_is_learnt_counts_from_then_on() -> None:
    masker = Masker()
    assert masker.text(SECRET) == SECRET
    masker.learn({"TOKEN": SECRET})
    assert masker.text(SECRET) == MASK
    masker.learn({"TOKEN": "another-value", "HOME": "/home/ana"})
    assert masker.text(f"{SECRET} another-value /home/ana") == f"{MASK} {MASK} /home/ana"


def test_each_pattern_keeps_its_own_flags_and_groups() -> None:
    masker = Masker({"TOKEN": SECRET}, ["(?i)bearer \\w+", "(?P<quote>['\"])pw\\1", "(?P<quote>x)y", "(a)b\\1"])
    text = f"BEARER abc 'pw' \"pw\" 'pw\" xy aba {SECRET}"
    assert masker.text(text) == f"{MASK} {MASK} {MASK} 'pw\" {MASK} {MASK} {MASK}"


# -- events ---------------------------------------------------------------------------------------------------

MASKER = Masker({"TOKEN": SECRET}, ["pin \\d+"])


@pytest.mark.parametrize(
    ("event", "masked"),
    [
        (RunStarted(targets=(f"deploy --to={SECRET}",)), RunStarted(targets=(f"deploy --to={MASK}",))),
        (
            TaskStarted(task=1, name="deploy", arguments=(("to", SECRET), ("n", "1"))),
            TaskStarted(task=1, name="deploy", arguments=(("to", MASK), ("n", "1"))),
        ),
        (
            CommandFinished(command=1, line=f"curl -u {SECRET}", error="pin 1234"),
            CommandFinished(command=1, line=f"curl -u {MASK}", error=MASK),
        ),
        (Output(command=1, text=f"<{SECRET}>"), Output(command=1, text=f"<{MASK}>")),
        (Output(suite="S", text=f"<{SECRET}>"), Output(suite="S", text=f"<{MASK}>")),
        (
            TestFinished(suite="s", test="t", status="failed", message=SECRET, trace=f"a\n{SECRET}\n"),
            TestFinished(suite="s", test="t", status="failed", message=MASK, trace=f"a\n{MASK}\n"),
        ),
    ],
    ids=lambda event: event.type,
)
def test_texts_of_events_are_masked(event: Event, masked: Event) -> None:
    assert MASKER.event(event) == masked


@pytest.mark.parametrize(
    "event",
    [
        TaskStarted(task=1, name=SECRET, role=SECRET),
        TestFinished(project=SECRET, suite=SECRET, test=SECRET, status=SECRET, path=f"/ws/{SECRET}"),
        CommandFinished(command=1, line="x", status=SECRET),
        UnknownEvent(record={"type": SECRET}),
    ],
    ids=lambda event: event.type,
)
def test_names_keys_paths_and_statuses_are_not_touched(event: Event) -> None:
    assert MASKER.event(event) is event


@dataclass(frozen=True, slots=True, kw_only=True)
class Deployed(Event):
    """A third party's event, with fields of its own shapes."""

    masked = ("notes", "answers", "missing_values")

    place: str
    notes: list[str]
    answers: dict[str, tuple[str, int]]
    missing_values: None = None


def test_a_third_partys_event_is_masked_where_it_says_so() -> None:
    event = Deployed(place=SECRET, notes=[SECRET, "x"], answers={SECRET: (SECRET, 1)})
    assert MASKER.event(event) == Deployed(place=SECRET, notes=[MASK, "x"], answers={SECRET: (MASK, 1)})


def test_patterns_that_cannot_be_compiled_are_an_error_here() -> None:
    with pytest.raises(re.error):
        Masker(patterns=["("])
