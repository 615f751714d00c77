"""Reports on disk: which are read, that each is read once, and what becomes of bad ones."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from programs import Project
from treescribe.events import Diagnostic, LogMessage, ReportRead, SuiteFinished, TestFinished
from treescribe.reduce import reduce
from treescribe_history.transcript import Transcript
from treescribe_reports import written

PASSES = '<testsuite name="cart"><testcase classname="cart" name="total"/></testsuite>'
FAILS = '<testsuite name="cart"><testcase classname="cart" name="total"><failure message="9"/></testcase></testsuite>'
SARIF = '{"version": "2.1.0", "runs": [{"tool": {"driver": {"name": "t"}}, "results": [{"message": {"text": "no"}}]}]}'
MERE_CONFIGURATION = "treescribe: {junit: ['out/*.xml', '**/TEST-*.xml'], sarif: 'out/*.sarif'}\n"


@pytest.fixture
def project(repository: Path, tmp_path: Path) -> Project:
    project = Project.make(repository, tmp_path / "unused.yaml")
    (repository / "invoke.yaml").write_text(MERE_CONFIGURATION)
    (repository / "out").mkdir()
    return project


def run(project: Project, script: str, surface: str = "exec") -> Transcript:
    """The run of a shell script."""
    project.start(project.recorded(surface, script))
    return project.runs()[-1]


def write(path: str, text: str) -> str:
    return f"cat > {path} <<'END'\n{text}\nEND\n"


def recorded_tests(transcript: Transcript) -> list[tuple[str, str, str]]:
    return [(one.suite, one.test, one.status) for one in transcript.events if isinstance(one, TestFinished)]


def messages(transcript: Transcript) -> list[str]:
    return [event.message for event in transcript.events if isinstance(event, LogMessage)]


@pytest.mark.parametrize("surface", ["exec", "treescribe"])
def test_a_report_that_the_run_writes_is_read(project: Project, surface: str) -> None:
    script = f"mkdir -p deep/er\n{write('deep/er/TEST-cart.xml', FAILS)}"
    transcript = run(project, script, surface)
    assert recorded_tests(transcript) == [("cart", "total", "failed")]
    (report,) = [event for event in transcript.events if isinstance(event, ReportRead)]
    assert report == ReportRead(at=report.at, path=str(project.root / "deep/er/TEST-cart.xml"), format="junit")
    assert reduce(transcript.events).outcome == "failed"


def test_reports_that_were_there_before_are_not(project: Project) -> None:
    (project.root / "out" / "old.xml").write_text(FAILS)
    assert recorded_tests(run(project, write("out/fresh.xml", PASSES))) == [("cart", "total", "passed")]
    assert recorded_tests(run(project, "true")) == []


def test_one_that_is_written_again_with_the_same_bytes_is(project: Project) -> None:
    (project.root / "out" / "cart.xml").write_text(f"{PASSES}\n")
    assert recorded_tests(run(project, write("out/cart.xml", PASSES))) == [("cart", "total", "passed")]


def test_a_report_that_two_patterns_match_is_read_once(project: Project) -> None:
    assert len(recorded_tests(run(project, write("out/TEST-cart.xml", PASSES)))) == 1


def test_a_report_that_a_run_within_the_run_has_read_is_read_once(project: Project) -> None:
    (project.root / "inner.sh").write_text(write("out/cart.xml", PASSES))
    inner = f"{sys.executable} -m treescribe exec -- sh inner.sh"
    run(project, inner)
    for transcript in project.runs():
        assert recorded_tests(transcript) == [("cart", "total", "passed")]
    assert len(project.runs()) == 2


def test_the_report_of_a_pytest_that_is_recorded_itself_is_not_read(project: Project) -> None:
    (project.root / "test_cart.py").write_text("def test_total(): pass\n")
    command = f"{sys.executable} -m pytest -q -p no:cacheprovider --junitxml=out/pytest.xml"
    assert recorded_tests(run(project, command)) == [("test_cart.py", "test_total", "passed")]
    hidden = f"{sys.executable} -m pytest -q -p no:cacheprovider -p no:treescribe_pytest_recorder"
    assert recorded_tests(run(project, f"{hidden} --junitxml=out/pytest.xml")) == [
        ("test_cart", "test_total", "passed")
    ]


def test_a_report_that_is_cut_short_is_told_and_no_green_suite(project: Project) -> None:
    transcript = run(project, write("out/cart.xml", PASSES[:-20]) + write("out/other.xml", PASSES))
    (message,) = messages(transcript)
    assert message.startswith(
        f"the junit report {project.root}/out/cart.xml cannot be read: it is no well-formed XML: "
    )
    suites = {event.suite: event.outcome for event in transcript.events if isinstance(event, SuiteFinished)}
    assert suites == {"out/cart.xml": "errored", "cart": "executed"}
    assert reduce(transcript.events).outcome == "failed"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("<coverage/>", "its root is <coverage>, not <testsuites> or <testsuite>"),
        ("<!DOCTYPE x [<!ENTITY a 'b'>]><testsuite>&a;</testsuite>", ""),
    ],
)
def test_xml_of_another_kind_is_told_and_takes_nothing_from_the_run(project: Project, text: str, reason: str) -> None:
    transcript = run(project, write("out/cart.xml", text))
    assert reason in "".join(messages(transcript))
    assert reduce(transcript.events).outcome == "passed"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("{", "it is no JSON: "),
        ("[]", "it has no list of runs, as SARIF has"),
        ('{"runs": {}}', "it has no list of runs, as SARIF has"),
        ('{"runs": [7]}', "runs[0] is no object"),
        ('{"runs": [{"results": 7}]}', "runs[0].results is no list"),
        ('{"runs": [{"results": [{}, 7]}]}', "runs[0].results[1] is no object"),
    ],
)
def test_a_sarif_report_that_is_none_is_told_with_its_fault(project: Project, text: str, reason: str) -> None:
    transcript = run(project, write("out/a.sarif", text) + write("out/b.sarif", SARIF))
    (message,) = messages(transcript)
    assert message.startswith(f"the sarif report {project.root}/out/a.sarif cannot be read: {reason}")
    assert [event.message for event in transcript.events if isinstance(event, Diagnostic)] == ["no"]
    assert reduce(transcript.events).outcome == "passed"


def test_a_folder_or_a_link_to_nothing_is_no_report(project: Project) -> None:
    transcript = run(project, "mkdir out/a.xml\nln -s nowhere out/b.xml\n")
    assert messages(transcript) == []


def test_a_report_that_is_too_large_is_told(project: Project) -> None:
    transcript = run(project, f"truncate -s {written.MOST_BYTES + 1} out/cart.xml")
    (message,) = messages(transcript)
    assert message.endswith("cannot be read: it is larger than 67,108,864 bytes")
