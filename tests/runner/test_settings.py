"""What a project can set, where it is read from, and what is said of what cannot be used."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from support import python
from treescribe.errors import InvalidInput
from treescribe.output import OutputLimits
from treescribe.settings import Settings, load_settings, plain

EVERYTHING = {
    "summary": "never",
    "history": {"keep": 5, "bytes": 1000},
    "redact": ["pin \\d+", "(?i)bearer \\w+"],
    "effects": {"lint": "read-only", "deploy": "destructive", "gen": "additive"},
    "output": {"head": 10, "tail": 20},
    "junit": ["target/surefire-reports/*.xml", "**/junit.xml"],
    "sarif": "out/*.sarif",
}
READ = Settings(
    summary="never",
    history_keep=5,
    history_bytes=1000,
    redact=("pin \\d+", "(?i)bearer \\w+"),
    effects={"lint": "read-only", "deploy": "destructive", "gen": "additive"},
    output=OutputLimits(10, 20),
    junit=("target/surefire-reports/*.xml", "**/junit.xml"),
    sarif=("out/*.sarif",),
)


def test_every_setting_is_read() -> None:
    assert Settings.read(EVERYTHING) == READ


ONE_BY_ONE: dict[str, tuple[Any, Settings]] = {
    "summary": ("never", Settings(summary="never")),
    "history.keep": (5, Settings(history_keep=5)),
    "history.bytes": (1000, Settings(history_bytes=1000)),
    "redact": (["pin"], Settings(redact=("pin",))),
    "effects": ({"lint": "read-only"}, Settings(effects={"lint": "read-only"})),
    "output.head": (10, Settings(output=OutputLimits(head=10))),
    "output.tail": (20, Settings(output=OutputLimits(tail=20))),
    "junit": (["build/*.xml"], Settings(junit=("build/*.xml",))),
    "sarif": (["*.sarif"], Settings(sarif=("*.sarif",))),
}


@pytest.mark.parametrize("key", ONE_BY_ONE)
def test_a_setting_changes_nothing_but_itself(key: str) -> None:
    value, settings = ONE_BY_ONE[key]
    for part in reversed(key.split(".")):
        value = {part: value}
    assert Settings.read(value) == settings


@pytest.mark.parametrize("nothing", [None, {}, {"history": None}, {"history": {}, "output": None, "effects": None}])
def test_what_is_not_set_has_its_default(nothing: Any) -> None:
    assert Settings.read(nothing) == Settings()


def test_the_defaults_are_those_of_the_documentation() -> None:
    assert Settings() == ("auto", 32, 64 * 1024 * 1024, (), {}, (65536, 65536), (), ())


POSITIVE = "must be a whole number of at least 1."
REFUSED: list[tuple[Any, str]] = [
    ("fast", "the setting treescribe must be a mapping, not str."),
    ([], "the setting treescribe must be a mapping, not list."),
    ({"history": 5}, "the setting treescribe.history must be a mapping, not int."),
    ({"output": [1]}, "the setting treescribe.output must be a mapping, not list."),
    ({"effects": "read-only"}, "the setting treescribe.effects must be a mapping, not str."),
    ({"summary": "sometimes"}, "the setting treescribe.summary must be one of auto, always, never."),
    ({"summary": None}, "the setting treescribe.summary must be one of auto, always, never."),
    ({"summary": ["auto"]}, "the setting treescribe.summary must be one of auto, always, never."),
    *(
        ({"history": {"keep": value}}, f"the setting treescribe.history.keep {POSITIVE}")
        for value in (0, -1, "5", 1.5, True)
    ),
    ({"history": {"bytes": None}}, f"the setting treescribe.history.bytes {POSITIVE}"),
    ({"output": {"head": 0}}, f"the setting treescribe.output.head {POSITIVE}"),
    ({"output": {"tail": "1k"}}, f"the setting treescribe.output.tail {POSITIVE}"),
    ({"redact": "pin"}, "the setting treescribe.redact must be a list of regular expressions."),
    ({"redact": [5]}, "the setting treescribe.redact must be a list of regular expressions."),
    ({"redact": {"a": "b"}}, "the setting treescribe.redact must be a list of regular expressions."),
    (
        {"redact": ["ok", "(total"]},
        "the setting treescribe.redact holds '(total', which is no regular expression: "
        "missing ), unterminated subpattern at position 0.",
    ),
    ({"redact": ["x*"]}, "the setting treescribe.redact holds 'x*', which matches the empty text."),
    (
        {"effects": {"lint": "harmless"}},
        "the setting treescribe.effects.lint must be one of read-only, additive, destructive.",
    ),
    ({"junit": 5}, "the setting treescribe.junit must be a glob pattern or a list of them."),
    ({"sarif": [""]}, "the setting treescribe.sarif must be a glob pattern or a list of them."),
    ({"junit": "/tmp/*.xml"}, "the setting treescribe.junit holds '/tmp/*.xml', which leads out of the workspace."),
    ({"sarif": ["a/../../b"]}, "the setting treescribe.sarif holds 'a/../../b', which leads out of the workspace."),
    ({"colour": "red"}, "unknown setting treescribe.colour."),
    ({"history": {"kept": 1}}, "unknown setting treescribe.history.kept."),
    ({"output": {"middle": 1}}, "unknown setting treescribe.output.middle."),
]


@pytest.mark.parametrize(("configured", "message"), REFUSED)
def test_what_cannot_be_used_is_refused_by_name(configured: Any, message: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        Settings.read(configured)
    assert caught.value.message == message


def test_an_unknown_setting_is_answered_with_the_known_ones() -> None:
    with pytest.raises(InvalidInput) as caught:
        Settings.read({"colour": "red"})
    known = "summary, history.keep, history.bytes, redact, effects, output.head, output.tail, junit, sarif"
    assert caught.value.hint == f"Known: {known}."
    assert all(name.rpartition(".")[2] in caught.value.hint for name in EVERYTHING)


# -- where they are read from ---------------------------------------------------------------------------------

YAML = """
treescribe:
  summary: never
  history: {keep: 5, bytes: 1000}
  redact:
    - pin \\d+
    - (?i)bearer \\w+
  effects: {lint: read-only, deploy: destructive, gen: additive}
  output: {head: 10, tail: 20}
  junit: ['target/surefire-reports/*.xml', '**/junit.xml']
  sarif: 'out/*.sarif'
"""
FILES = {
    "invoke.yaml": YAML,
    "invoke.yml": YAML,
    "invoke.json": json.dumps({"treescribe": EVERYTHING}),
    "invoke.py": f"treescribe = {EVERYTHING!r}\n",
}


@pytest.mark.parametrize("name", FILES)
def test_they_stand_in_any_file_that_invoke_reads(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text(FILES[name])
    assert load_settings(tmp_path) == READ


def test_a_project_outweighs_the_users_own_file(tmp_path: Path) -> None:
    Path("~/.invoke.json").expanduser().write_text('{"treescribe": {"summary": "never", "history": {"keep": 7}}}')
    assert load_settings(tmp_path) == Settings(summary="never", history_keep=7)
    (tmp_path / "invoke.yaml").write_text("treescribe: {summary: always}\n")
    assert load_settings(tmp_path) == Settings(summary="always", history_keep=7)


def test_a_configuration_of_other_things_leaves_the_defaults(tmp_path: Path) -> None:
    (tmp_path / "invoke.yaml").write_text("run: {echo: true}\n")
    assert load_settings(tmp_path) == Settings()


@pytest.mark.parametrize(
    ("name", "text"),
    [("invoke.yaml", "a: [1"), ("invoke.json", "{"), ("invoke.py", "1 / 0"), ("invoke.yaml", "- a\n")],
)
def test_a_file_that_cannot_be_read_is_told(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(InvalidInput, match=f"^the invoke configuration of {tmp_path} cannot be read: "):
        load_settings(tmp_path)


def test_a_setting_that_cannot_be_used_is_told_from_a_file_too(tmp_path: Path) -> None:
    (tmp_path / "invoke.yaml").write_text("treescribe: {summary: sometimes}\n")
    with pytest.raises(InvalidInput, match=r"^the setting treescribe.summary must be one of auto, always, never.$"):
        load_settings(tmp_path)


def test_the_environment_outweighs_the_files_as_invoke_has_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "invoke.yaml").write_text("treescribe: {summary: always, history: {keep: 5}}\n")
    monkeypatch.setenv("INVOKE_TREESCRIBE_SUMMARY", "never")
    monkeypatch.setenv("INVOKE_TREESCRIBE_HISTORY_KEEP", "9")
    assert load_settings(tmp_path) == Settings(summary="never", history_keep=9)


def test_without_a_file_nothing_of_invoke_is_imported(tmp_path: Path) -> None:
    code = """if True:
        import sys
        from pathlib import Path
        from treescribe.settings import load_settings
        print(load_settings(Path(sys.argv[1])).summary, [name for name in sys.modules if name.startswith("invoke")])
    """
    assert python(code, tmp_path).stdout == "auto []\n"


def test_a_proxy_of_invokes_becomes_plain_values(tmp_path: Path) -> None:
    from invoke.config import Config

    config = Config(overrides={"treescribe": EVERYTHING})
    assert plain(config.get("treescribe")) == EVERYTHING
    assert Settings.read(config.get("treescribe")) == READ
