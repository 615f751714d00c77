"""The operation ``targets``: what can be run in a workspace, what it takes, and what it may do."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

from treescribe.effects import DESTRUCTIVE
from treescribe.errors import TreescribeError
from treescribe.frozen import Frozen, frozen
from treescribe.host import host
from treescribe.result import Result
from treescribe.settings import load_settings
from treescribe.terminal import Style, columns
from treescribe.workspace import Workspace

if TYPE_CHECKING:
    from invoke.collection import Collection
    from invoke.parser.argument import Argument
    from invoke.tasks import Task


@frozen
class TargetInfo(Frozen):
    """A target.

    :ivar name: by which it is run.
    :ivar effect: what it may do: read-only, additive or destructive (which all are unless the project declares it).
    :ivar options: what it takes, as on the command line.
    """

    name: str
    effect: str
    help: str | None = None
    options: tuple[str, ...] | None = None
    aliases: tuple[str, ...] | None = None
    default: bool | None = None


@frozen
class TargetsResult(Result):
    """What can be run in the workspace."""

    summary: str
    workspace: str
    targets: tuple[TargetInfo, ...]


def targets(workspace: Workspace) -> TargetsResult:
    """List what can be run here: the tasks of tasks.py and the targets of backends, with their options and effects.

    A target is destructive unless the project declares its effect under treescribe.effects in its invoke
    configuration.
    """
    effects = load_settings(workspace.root).effects
    collection = _collection(workspace)
    found = _tasks(collection, effects) if collection is not None else []
    for name, backend in host().backends().items():
        for target in backend.targets(workspace) if backend.detect(workspace) else ():
            full = f"{name}.{target.name}"
            found.append(
                TargetInfo(name=full, effect=str(effects.get(full, DESTRUCTIVE)), help=_first_line(target.help))
            )
    count = f"{len(found)} target{'' if len(found) == 1 else 's'}" if found else "no targets: there is no tasks.py here"
    return TargetsResult(summary=count, workspace=str(workspace.root), targets=tuple(found))


def render(result: TargetsResult, style: Style) -> str:
    """A table: name and options, effect, help."""
    if not result.targets:
        return result.summary
    rows: list[tuple[str, ...]] = [("target", "effect", "")]
    rows += [
        (" ".join((target.name, *(target.options or ()))), target.effect, target.help or "")
        for target in result.targets
    ]
    header, *lines = columns(rows)
    return "\n".join([style.paint(header, "dim"), *lines])


def _collection(workspace: Workspace) -> Collection | None:
    """The project's tasks, loaded as ``treescribe`` loads them; None where there are none."""
    from invoke.collection import Collection
    from invoke.config import Config
    from invoke.exceptions import CollectionNotFound

    from treescribe.loader import WorktreeLoader

    config = Config(project_location=workspace.root)
    config.load_project()
    config.load_shell_env()
    try:
        module, folder = WorktreeLoader(start=str(workspace.root), config=config).load(config.tasks.collection_name)
    except CollectionNotFound:
        return None
    except (Exception, SystemExit) as error:
        raise TreescribeError(
            f"the tasks of {workspace.root} cannot be loaded: {type(error).__name__}: {error}", "Mend tasks.py there."
        ) from error
    collection: Collection = Collection.from_module(
        module, loaded_from=folder, auto_dash_names=config.tasks.auto_dash_names
    )
    return collection


def _tasks(collection: Collection, effects: Any) -> list[TargetInfo]:
    names: dict[str, list[str]] = collection.task_names
    return [_task(name, aliases, collection, effects) for name, aliases in sorted(names.items())]


def _task(name: str, aliases: list[str], collection: Collection, effects: Any) -> TargetInfo:
    task: Task[Any] = collection[name]
    return TargetInfo(
        name=name,
        effect=str(effects.get(name, DESTRUCTIVE)),
        help=_first_line(inspect.getdoc(task) or ""),
        options=tuple(_option(argument) for argument in task.get_arguments()) or None,
        aliases=tuple(aliases) or None,
        default=True if collection.default == name else None,
    )


def _option(argument: Argument) -> str:
    """An option as it may be given: its name, and the kind of its value."""
    name = f"--{argument.name}"
    if argument.kind is bool:
        return name if not argument.default else f"--no-{argument.name}"
    return f"{name}={argument.kind.__name__}"


def _first_line(text: str) -> str | None:
    return text.strip().partition("\n")[0] or None
