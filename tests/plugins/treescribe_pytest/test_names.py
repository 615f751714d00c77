"""What tests, suites and projects are called."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from treescribe.events import SuiteStarted, TestFinished

if TYPE_CHECKING:
    from plugins.treescribe_pytest.conftest import Project

PASSES = "def test_one():\n    pass\n"


def test_the_same_method_of_two_classes_stays_two_tests(project: Project) -> None:
    project.write(
        "tests/test_cart.py",
        """\
        class TestCart:
            def test_empty(self): pass
            class TestNested:
                def test_empty(self): pass
        class TestBasket:
            def test_empty(self): assert 0
        """,
    )
    assert project.pytest().statuses == {
        "tests/test_cart.py::TestCart::test_empty": "passed",
        "tests/test_cart.py::TestCart::TestNested::test_empty": "passed",
        "tests/test_cart.py::TestBasket::test_empty": "failed",
    }


def test_parametrised_ids_are_kept_as_pytest_shows_them(project: Project) -> None:
    project.write(
        "tests/test_cart.py",
        """\
        import pytest

        @pytest.mark.parametrize("value", ["a::b", "[x]", "a b", "", "ü", "a/b.py::test_x[1]", "\\n", "\\udcff"])
        def test_value(value): pass

        @pytest.mark.parametrize("value", [1], ids=["größe"])
        def test_named(value): pass
        """,
    )
    listed = project.plain("--collect-only", "-q").stdout.split("\n\n")[0].splitlines()
    told = [f"{event.suite}::{event.test}" for event in project.pytest().of(TestFinished)]
    assert told == listed
    assert len(told) == 9
    assert all(name.startswith("tests/test_cart.py::test_") for name in told)


def test_ids_are_unicode_where_the_project_asks_for_it(project: Project) -> None:
    project.write(
        "pytest.ini",
        """\
        [pytest]
        addopts = -p no:cacheprovider
        disable_test_id_escaping_and_forfeit_all_rights_to_community_support = True
        """,
    )
    project.write(
        "test_größe.py",
        'import pytest\n@pytest.mark.parametrize("value", ["größe", "日本"])\ndef test_value(value): pass\n',
    )
    assert list(project.pytest().statuses) == ["test_größe.py::test_value[größe]", "test_größe.py::test_value[日本]"]


def test_doctests_of_modules_and_of_text_files_are_tests(project: Project) -> None:
    project.write("README.txt", ">>> 1 + 1\n3\n")
    project.write("shop/cart.py", '"""\n>>> 1 + 1\n2\n"""\n\ndef total():\n    """\n    >>> total()\n    7\n    """\n')
    recorded = project.pytest("--doctest-modules", "--doctest-glob=*.txt")
    assert recorded.statuses == {
        "README.txt::README.txt": "failed",
        "shop/cart.py::cart": "passed",
        "shop/cart.py::cart.total": "failed",
    }
    assert "Expected:" in recorded.test("README.txt").trace
    assert recorded.test("README.txt").message


CUSTOM = """\
    import pytest

    def pytest_collect_file(parent, file_path):
        if file_path.suffix == ".rule":
            return RuleFile.from_parent(parent, path=file_path)

    class RuleFile(pytest.File):
        def collect(self):
            yield Rule.from_parent(self, name="rule", nodeid=self.nodeid)
            yield Rule.from_parent(self, name="other")

    class Rule(pytest.Item):
        def runtest(self):
            raise RuntimeError("broken rule")

        def repr_failure(self, excinfo):
            return f"the rule does not hold: {excinfo.value}"

        def reportinfo(self):
            return self.path, None, "rule"
"""


def test_an_item_that_is_a_whole_file_is_named_like_the_file(project: Project) -> None:
    project.write("conftest.py", CUSTOM)
    path = project.write("rules/first.rule", "x")
    recorded = project.pytest()
    assert recorded.statuses == {"rules/first.rule::first.rule": "failed", "rules/first.rule::other": "failed"}
    test = recorded.test("first.rule")
    assert (test.path, test.line, test.message) == (str(path), 0, "the rule does not hold: broken rule")


def test_every_file_is_a_suite_with_the_number_of_its_tests(project: Project) -> None:
    project.write("tests/test_a.py", PASSES + "def test_two(): pass\n")
    project.write("tests/test_b.py", PASSES)
    recorded = project.pytest("--deselect", "tests/test_a.py::test_two")
    assert [(event.suite, event.tests) for event in recorded.of(SuiteStarted)] == [
        ("tests/test_a.py", 1),
        ("tests/test_b.py", 1),
    ]
    assert recorded.outcomes == [("tests/test_a.py", "executed"), ("tests/test_b.py", "executed")]


def test_interleaved_files_are_told_once_each(project: Project) -> None:
    project.write("conftest.py", "def pytest_collection_modifyitems(items):\n    items.sort(key=lambda i: i.name)\n")
    for name in "ab":
        project.write(f"test_{name}.py", "def test_1(): pass\ndef test_2(): pass\n")
    recorded = project.pytest()
    assert [event.suite for event in recorded.of(SuiteStarted)] == ["test_a.py", "test_b.py"]
    assert recorded.outcomes == [("test_a.py", "executed"), ("test_b.py", "executed")]


def test_collecting_only_tells_of_no_test(project: Project) -> None:
    project.write("test_a.py", PASSES)
    recorded = project.pytest("--collect-only")
    assert not recorded.of(SuiteStarted)
    assert recorded.outcomes == []


def test_names_do_not_depend_on_the_folder_that_pytest_was_started_in(project: Project) -> None:
    project.write("tests/test_a.py", PASSES)
    recorded = project.command([sys.executable, "-m", "pytest"], cwd=project.root / "tests")
    assert recorded.statuses == {"tests/test_a.py::test_one": "passed"}


def test_a_rootdir_below_the_workspace_is_a_project_of_its_own(project: Project) -> None:
    for name in ("api", "web/shop"):
        project.write(f"{name}/pytest.ini", "[pytest]\n")
        project.write(f"{name}/tests/test_a.py", PASSES)
    recorded = project.command(
        ["sh", "-c", f"cd api && {sys.executable} -m pytest; cd ../web/shop && {sys.executable} -m pytest"]
    )
    assert [(event.project, event.suite, event.path) for event in recorded.of(TestFinished)] == [
        ("api", "tests/test_a.py", str(project.root / "api/tests/test_a.py")),
        ("web/shop", "tests/test_a.py", str(project.root / "web/shop/tests/test_a.py")),
    ]


def test_a_rootdir_above_the_workspace_is_named_relative_to_it(project: Project) -> None:
    project.write("service/tasks.py", "")
    path = project.write("service/tests/test_a.py", PASSES)
    service = project.root / "service"
    (test,) = project.command([sys.executable, "-m", "pytest"], root=service, cwd=service).of(TestFinished)
    assert (test.project, test.suite, test.path) == ("", "tests/test_a.py", str(path))


def test_paths_below_a_rootdir_above_are_spelt_like_the_workspace(project: Project, tmp_path: Path) -> None:
    project.write("service/tasks.py", "")
    project.write("service/tests/test_a.py", PASSES)
    link = tmp_path / "link"
    link.symlink_to(project.root / "service")
    (test,) = project.command([sys.executable, "-m", "pytest"], root=link, cwd=link).of(TestFinished)
    assert (test.project, test.suite, test.path) == ("", "tests/test_a.py", str(link / "tests/test_a.py"))


def test_a_rootdir_beside_the_workspace_is_named_relative_to_it(project: Project) -> None:
    project.write("service/tasks.py", "")
    project.write("other/pytest.ini", "[pytest]\n")
    path = project.write("other/test_a.py", PASSES)
    service = project.root / "service"
    (test,) = project.command([sys.executable, "-m", "pytest", "../other"], root=service, cwd=service).of(TestFinished)
    assert (test.project, test.suite, test.path) == ("../other", "test_a.py", str(path))


def test_a_rootdir_elsewhere_is_named_by_its_folder(project: Project, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "pytest.ini").write_text("[pytest]\n")
    (elsewhere / "test_a.py").write_text(PASSES)
    (test,) = project.command([sys.executable, "-m", "pytest"], cwd=elsewhere).of(TestFinished)
    assert (test.project, test.suite, test.path) == ("elsewhere", "test_a.py", str(elsewhere / "test_a.py"))


def test_paths_are_spelt_like_the_workspace(project: Project, tmp_path: Path) -> None:
    project.write("tests/test_a.py", PASSES)
    link = tmp_path / "link"
    link.symlink_to(project.root)
    (test,) = project.command([sys.executable, "-m", "pytest"], root=link, cwd=link).of(TestFinished)
    assert (test.project, test.path) == ("", str(link / "tests/test_a.py"))


def test_a_suite_takes_as_long_as_its_tests(project: Project) -> None:
    project.write("test_a.py", "import time\ndef test_one(): time.sleep(0.02)\ndef test_two(): time.sleep(0.01)\n")
    recorded = project.pytest()
    assert recorded.test("test_one").duration_ms >= 20
    assert recorded.suite("test_a.py").duration_ms == sum(event.duration_ms for event in recorded.of(TestFinished))


def test_two_sessions_of_one_process_are_told_apart(project: Project) -> None:
    project.write("test_a.py", PASSES)
    project.write("twice.py", "import pytest\npytest.main(['-q'])\nraise SystemExit(pytest.main(['-q']))\n")
    recorded = project.command([sys.executable, "twice.py"])
    assert [event.test for event in recorded.of(TestFinished)] == ["test_one", "test_one"]
    assert recorded.outcomes == [("test_a.py", "executed"), ("test_a.py", "executed")]


def test_importing_the_plugin_loads_neither_pytest_nor_pydantic() -> None:
    code = "import sys, treescribe_pytest.plugin; print(*{'pytest', 'pydantic', 'json', 'invoke'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() in ("", "json")
