"""The `treescribe` program: everything ``inv`` takes, the user's tasks and treescribe's operations side by side."""

from __future__ import annotations

import copy
import os
import sys
from importlib import import_module
from importlib.metadata import version
from typing import Any

import invoke
from invoke.collection import Collection
from invoke.exceptions import Exit, ParseError
from invoke.executor import Executor
from invoke.program import Program as InvokeProgram

from treescribe.errors import TreescribeError
from treescribe.host import host
from treescribe.loader import WorktreeLoader
from treescribe.operation_tasks import ALIAS_PREFIX, OperationTask, OwnTask, operations_collection

WITHOUT_TASKS = ("init", "exec", "demo", ALIAS_PREFIX)
"""First words whose meaning is treescribe's own, so that no ``tasks.py`` is loaded for them."""

COMMANDS = {
    "exec": "Record one command: treescribe exec -- COMMAND …",
    "demo": "Show a whole session in a throw-away worktree: treescribe demo",
}


class Program(InvokeProgram):
    """An invoke program whose runs are recorded."""

    def __init__(self) -> None:
        super().__init__(name="treescribe", binary="treescribe", loader_class=WorktreeLoader)
        self._shadowed: list[str] = []

    def run(self, argv: list[str] | None = None, exit: bool = True) -> None:
        """Run the command line; what treescribe itself refuses is told in one or two lines, with exit code 1."""
        try:
            super().run(argv, exit)
        except TreescribeError as error:
            sys.stdout.flush()
            print(f"treescribe: {error}", file=sys.stderr)
            sys.exit(1)

    def print_version(self) -> None:
        print(f"treescribe {version('treescribe')} (invoke {invoke.__version__})")

    # -- collections ------------------------------------------------------------------------------------

    def load_collection(self) -> None:
        """Load the user's tasks where they are wanted, and put treescribe's operations beside them."""
        words = self.core.unparsed
        own = operations_collection(host().operations().values(), self._directory, [*words, *self._help_words()])
        for name, text in COMMANDS.items():
            own.add_task(_command_task(name, text))
        users = None if self._first_word().partition(".")[0] in WITHOUT_TASKS else self._users_collection(own)
        self.collection, self._shadowed = beside(users, own)

    def _users_collection(self, own: Collection) -> Collection | None:
        try:
            super().load_collection()
        except Exit:
            if self.args.collection.value is not None:
                raise
            return None  # there is no tasks.py here: treescribe's operations work all the same
        except (Exception, SystemExit) as error:
            if self._first_word() not in own:
                raise
            problem = f"{type(error).__name__}: {error}"
            print(f"treescribe: the tasks here cannot be loaded, going on without them: {problem}", file=sys.stderr)
            return None
        collection: Collection = self.collection
        return collection

    def _first_word(self) -> str:
        return next(iter(self.core.unparsed), "")

    def _help_words(self) -> list[str]:
        return [self.args.help.value] if isinstance(self.args.help.value, str) else []

    def _directory(self) -> str:
        return os.path.abspath(self.args["search-root"].value or os.getcwd())

    # -- parsing ----------------------------------------------------------------------------------------

    def parse_tasks(self) -> None:
        self.core.unparsed = self._with_flags(list(self.core.unparsed))
        try:
            super().parse_tasks()
        except ValueError as error:  # a value that is not of its argument's type
            raise ParseError(f"A value cannot be used: {error}") from error

    def _with_flags(self, words: list[str]) -> list[str]:
        """Give the values after an operation's name the flags that they may go without (``history.show 12``)."""
        names = {name for names in self._names().items() for name in (names[0], *names[1])}
        result: list[str] = []
        pending: list[str] = []
        for word in words:
            if word.startswith("-"):
                pending = []
            elif word in names:
                task = self.collection[word]
                pending = task.optional_positionals() if isinstance(task, OperationTask) else []
            elif pending:
                result.append(pending.pop(0))
            result.append(word)
        return result

    def _names(self) -> dict[str, list[str]]:
        names: dict[str, list[str]] = self.collection.task_names
        return names

    # -- showing ----------------------------------------------------------------------------------------

    def print_help(self) -> None:
        super().print_help()
        print("treescribe's own:\n")
        print("  treescribe exec -- COMMAND …   record one command, in any git worktree")
        print("  treescribe --list              the tasks of this project and the operations of treescribe")
        print("  treescribe --help OPERATION    what an operation takes\n")

    def list_tasks(self) -> None:
        if self.list_root is None:
            self.scoped_collection = _without_alias(self.collection)
        super().list_tasks()
        if self._shadowed and self.list_format != "json":
            for name in self._shadowed:
                print(f"{name} is this project's own; treescribe's is {ALIAS_PREFIX}.{name}")

    # -- executing --------------------------------------------------------------------------------------

    def execute(self) -> None:
        """Execute with recording mixed over the executor class that the project configures.

        Operations alone need neither: what records is not even imported for them.
        """
        executor_class = self._configured_executor() if self._has_users_tasks() else Executor
        executor_class(self.collection, self.config, self.core).execute(*self.tasks)

    def _has_users_tasks(self) -> bool:
        return not self.tasks or any(not isinstance(self.collection[task.name], OwnTask) for task in self.tasks)

    def _configured_executor(self) -> type[Executor]:
        from treescribe.executor import recording

        configured = self.config.tasks.executor_class
        if configured is None:
            return recording(self.executor_class, "treescribe")
        module, _, name = configured.rpartition(".")
        return recording(getattr(import_module(module), name), "treescribe")


def beside(users: Collection | None, own: Collection) -> tuple[Collection, list[str]]:
    """Put treescribe's operations beside the user's tasks, whose names win; also return the names that they took.

    All of treescribe's stay reachable below ``treescribe.``.
    """
    root = users if users is not None else Collection()
    taken = {*root.task_names, *(alias for aliases in root.task_names.values() for alias in aliases)}
    taken |= set(root.collections)
    shadowed = sorted(name for name in (*own.tasks, *own.collections) if name in taken)
    for name, task in own.tasks.items():
        if name not in taken:
            root.add_task(task, name=name)
    for name, below in own.collections.items():
        if name not in taken:
            root.add_collection(below, name=name)
    if ALIAS_PREFIX not in taken:
        root.add_collection(own, name=ALIAS_PREFIX)
    return root, shadowed


def _without_alias(collection: Collection) -> Collection:
    if ALIAS_PREFIX not in collection.collections:
        return collection
    shown = copy.copy(collection)
    shown.collections = copy.copy(collection.collections)
    del shown.collections[ALIAS_PREFIX]  # type: ignore[no-untyped-call]
    return shown


def _command_task(name: str, text: str) -> OwnTask:
    """A task that stands for a command which is not invoke's, so that it is listed."""

    def body(context: Any) -> None:
        raise Exit(text, code=2)

    body.__doc__ = text
    return OwnTask(body, name=name)
