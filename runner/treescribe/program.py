"""The `treescribe` program: everything ``inv`` takes, the user's tasks and treescribe's operations side by side."""

from __future__ import annotations

import copy
import os
import re
import sys
from difflib import get_close_matches
from importlib import import_module
from importlib.metadata import version
from typing import Any

import invoke
from invoke.collection import Collection
from invoke.exceptions import Exit, ParseError
from invoke.executor import Executor
from invoke.parser.context import ParserContext, to_flag
from invoke.parser.parser import Parser
from invoke.program import Program as InvokeProgram

from treescribe.collector import leave_quickly
from treescribe.errors import TreescribeError
from treescribe.follower import PROTOCOL, Follower, follower
from treescribe.host import host
from treescribe.loader import WorktreeLoader
from treescribe.operation_tasks import ALIAS_PREFIX, OperationTask, OwnTask, operations_collection
from treescribe.saying import say
from treescribe.terminal import show_any_text
from treescribe.workspace import Workspace, current_directory

REFUSED = 2

WITHOUT_TASKS = ("exec", ALIAS_PREFIX)
"""First words whose meaning is treescribe's own, so that no ``tasks.py`` is loaded for them.

``init`` is none of them: a project's own task of that name must run, and not have a file of the project changed.
"""


class Program(InvokeProgram):
    """An invoke program whose runs are recorded."""

    def __init__(self) -> None:
        super().__init__(name="treescribe", binary="treescribe", loader_class=WorktreeLoader)
        self._shadowed: list[str] = []
        self._made_parser: Parser | None = None

    def run(self, argv: list[str] | None = None, exit: bool = True) -> None:
        """Run the command line; what treescribe itself refuses is told in one or two lines, with exit code 2.

        1 is what differences are told by (``history.diff --exit-code``), as by diff.
        """
        try:
            super().run(argv, exit)
        except TreescribeError as error:
            sys.stdout.flush()
            say(f"treescribe: {error}")
            sys.exit(REFUSED)

    def print_version(self) -> None:
        print(f"treescribe {version('treescribe')} (invoke {invoke.__version__}, run protocol {PROTOCOL})")

    # -- collections ------------------------------------------------------------------------------------

    def load_collection(self) -> None:
        """Load the user's tasks where they are wanted, and put treescribe's operations beside them."""
        words = self.core.unparsed
        own = operations_collection(host().operations().values(), self._directory, [*words, *self._help_words()])
        own.add_task(_exec_task())
        own.add_task(_demo_task())
        self._add_targets(own)
        users = None if self._first_word().partition(".")[0] in WITHOUT_TASKS else self._users_collection(own)
        self.collection, self._shadowed = beside(users, own)

    def _add_targets(self, own: Collection) -> None:
        """Put the targets of backends that are named, or of all for a list, beside treescribe's operations."""
        words = [word.removeprefix(f"{ALIAS_PREFIX}.") for word in (*self.core.unparsed, *self._help_words())]
        named = {word.partition(".")[0] for word in words}
        lists = bool(self.args.list.value or self.args.complete.value)
        backends = [backend for name, backend in host().backends().items() if lists or name in named]
        if not backends:
            return
        from treescribe.backend_tasks import add_targets

        try:
            workspace = Workspace.open(self._directory())
        except TreescribeError:
            return  # whoever needs one says so
        add_targets(own, backends, workspace)

    def _users_collection(self, own: Collection) -> Collection | None:
        try:
            super().load_collection()
        except Exit:
            if self.args.collection.value is not None:
                raise
            return None  # there is no tasks.py here: treescribe's operations work all the same
        except (Exception, SystemExit) as error:
            if self._first_word() not in own.task_names:
                raise
            problem = f"{type(error).__name__}: {error}"
            say(f"treescribe: the tasks here cannot be loaded, going on without them: {problem}")
            return None
        collection: Collection = self.collection
        return collection

    def _first_word(self) -> str:
        return next(iter(self.core.unparsed), "")

    def _help_words(self) -> list[str]:
        return [self.args.help.value] if isinstance(self.args.help.value, str) else []

    def _directory(self) -> str:
        return os.path.normpath(os.path.join(current_directory(), self.args["search-root"].value or ""))

    # -- parsing ----------------------------------------------------------------------------------------

    def parse_tasks(self) -> None:
        self.core.unparsed = self._with_flags(list(self.core.unparsed))
        try:
            super().parse_tasks()
        except ParseError as error:
            raise ParseError(f"{error}{self._suggestion(str(error))}", error.context) from error
        except ValueError as error:  # a value that is not of its argument's type
            raise ParseError(f"A value cannot be used: {error}") from error

    def _make_parser(self) -> Parser:
        """invoke's parser, made once: making it takes the help texts out of the tasks."""
        if self._made_parser is None:
            self._made_parser = super()._make_parser()
        return self._made_parser

    def _with_flags(self, words: list[str]) -> list[str]:
        """Let values of operations go without their flags, before and after options: ``history.show 12``.

        The words are walked as invoke's parser will, so that no value of a user's task is taken for an operation.
        """
        contexts = self._make_parser().contexts
        result: list[str] = []
        while words:
            word, *words = words
            result.append(word)
            if word in contexts:
                task = self.collection[word]
                optional = task.optional_positionals() if isinstance(task, OperationTask) else []
                own, words = take_words(words, contexts[word], optional)
                result += own
        return result

    def _names(self) -> set[str]:
        """Every name that a task can be called by."""
        names = self.collection.task_names
        return {*names, *(alias for aliases in names.values() for alias in aliases)}

    def _suggestion(self, message: str) -> str:
        """What may have been meant by a word that invoke has no idea of; empty where nothing is near."""
        found = re.match(r"No idea what '(.+)' is!", message)
        if found is None:
            return ""
        word = found[1]
        flags = {flag for task in self._named_tasks() for flag in task.flags()}
        known = flags if word.startswith("-") else self._names()
        near = [name for name in sorted(known) if name.startswith(f"{word}.")] or get_close_matches(word, sorted(known))
        return f" Did you mean: {', '.join(near)}" if near else ""

    def _named_tasks(self) -> list[OperationTask]:
        tasks = [self.collection[word] for word in self.core.unparsed if word in self._names()]
        return [task for task in tasks if isinstance(task, OperationTask)]

    # -- showing ----------------------------------------------------------------------------------------

    def print_help(self) -> None:
        show_any_text(sys.stdout)
        super().print_help()
        print("treescribe's own:\n")
        print("  treescribe exec -- COMMAND …   record one command, in any git worktree")
        print("  treescribe --list              the tasks of this project and the operations of treescribe")
        print("  treescribe --help OPERATION    what an operation takes\n")

    def print_task_help(self, name: str) -> None:
        show_any_text(sys.stdout)
        super().print_task_help(name)

    def list_tasks(self) -> None:
        show_any_text(sys.stdout)
        if self.list_root is None:
            self.scoped_collection = _without_alias(self.collection)
        super().list_tasks()
        if self._shadowed and self.list_format != "json":
            for name in self._shadowed:
                print(_shadowing(name))

    # -- executing --------------------------------------------------------------------------------------

    def execute(self) -> None:
        """Execute with recording mixed over the executor class that the project configures.

        Operations alone need neither: what records is not even imported for them.
        """
        tasks = [self.collection[task.name] for task in self.tasks]
        if (following := follower()) is not None:
            self._refuse_core_options(following)
        if any(isinstance(task, OwnTask) and task.backend is not None for task in tasks):
            from treescribe.backend_tasks import run_targets

            raise Exit(code=run_targets(tasks, self._directory(), dry=self.config.run.dry))
        if self._has_users_tasks():
            executor_class = self._configured_executor()
        else:
            if following is not None:
                names = ", ".join(task.name or "" for task in tasks)
                raise following.refused(f"{names}: an operation of treescribe, not a target.", "Call it as a tool.")
            leave_quickly()
            executor_class = Executor
        executor_class(self.collection, self.config, self.core).execute(*self.tasks)

    def _refuse_core_options(self, following: Follower) -> None:
        """Who follows a run names targets and their options; an option that no target has would be one of invoke."""
        given = [f"--{name}" for name, argument in self.core[0].args.items() if argument.got_value]
        if given:
            raise following.refused(f"{', '.join(given)}: none of the targets has an option of that name.")

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


def _shadowing(name: str) -> str:
    """What to know of a name that both the project and treescribe have."""
    if name in WITHOUT_TASKS:
        return f"treescribe {name} is treescribe's own; this project's {name} is run by: inv {name}"
    return f"{name} is this project's own; treescribe's is {ALIAS_PREFIX}.{name}"


def _without_alias(collection: Collection) -> Collection:
    if ALIAS_PREFIX not in collection.collections:
        return collection
    shown = copy.copy(collection)
    shown.collections = copy.copy(collection.collections)
    del shown.collections[ALIAS_PREFIX]  # type: ignore[no-untyped-call]
    return shown


def take_words(words: list[str], context: ParserContext, optional: list[str]) -> tuple[list[str], list[str]]:
    """Split the words that follow a task's name into its own and the rest.

    :param optional: flags whose values may stand by themselves after the required ones; they are given their flags.
    """
    required = [to_flag(argument.names[0]) for argument in context.positional_args]
    pending = [flag for flag in (*required, *optional) if flag not in words]
    own: list[str] = []
    while words:
        if words[0].startswith("-"):
            argument = context.flags.get(words[0])
            taken = 2 if argument is not None and argument.takes_value and not argument.optional else 1
            own, words = own + words[:taken], words[taken:]
        elif pending:
            flag = pending.pop(0)
            own, words = [*own, *([flag] if flag in optional else []), words[0]], words[1:]
        else:
            break
    return own, words


def _exec_task() -> OwnTask:
    """Stands in the list for ``treescribe exec``, which is handled before invoke's parser sees its arguments."""

    def body(context: Any) -> None:
        raise Exit("exec comes first, and its command after --: treescribe exec -- COMMAND …", code=2)

    body.__doc__ = "Record one command: treescribe exec -- COMMAND …"
    return OwnTask(body, name="exec")


def _demo_task() -> OwnTask:
    def body(context: Any, keep: bool = False) -> None:
        from treescribe.demo import play

        raise Exit(code=play(keep=keep))

    body.__doc__ = "Show a whole session in a throw-away git worktree, with real commands and what they print."
    return OwnTask(body, name="demo", help={"keep": "Leave the worktree where it is, to go on with it."})
