"""The plugin host: finds plugins, checks them, isolates their failures, traces their calls."""

from __future__ import annotations

import inspect
import logging
import os
import sys
from collections.abc import Callable, Iterable, Mapping
from functools import cache, wraps
from importlib.metadata import EntryPoint, entry_points
from typing import TYPE_CHECKING, Any, NamedTuple

import pluggy

from treescribe import spec

if TYPE_CHECKING:
    from treescribe.backend import Backend
    from treescribe.codec import Codec
    from treescribe.operation import Operation

ENTRY_POINT_GROUP = "treescribe"
DISABLE_VARIABLE = "TREESCRIBE_DISABLE_PLUGINS"
TRACE_VARIABLE = "TREESCRIBE_TRACE"
OWN_DISTRIBUTION = "treescribe"

log = logging.getLogger("treescribe")


class PluginState(NamedTuple):
    """A plugin that was found. ``problem`` says why it was left out; empty where it is in use."""

    name: str
    version: str
    distribution: str
    hooks: tuple[str, ...]
    problem: str = ""


class Host:
    """The plugins of this process.

    :param points: what to load; treescribe's own come first, then by name.
    :param environment: read for ``TREESCRIBE_DISABLE_PLUGINS`` and ``TREESCRIBE_TRACE``.
    """

    def __init__(self, points: Iterable[EntryPoint], environment: Mapping[str, str] = os.environ) -> None:
        self._manager = pluggy.PluginManager(spec.PROJECT_NAME)
        self._manager.add_hookspecs(spec)
        self._failed: set[tuple[str, str]] = set()
        self._notes: list[str] = []
        self._specs = {
            name: tuple(inspect.signature(function).parameters)
            for name, function in vars(spec).items()
            if name.startswith("treescribe_")
        }
        if environment.get(TRACE_VARIABLE):
            self._manager.trace.root.setwriter(lambda text: print(text, end="", file=sys.stderr))
            self._manager.enable_tracing()
        disabled = {name.strip() for name in environment.get(DISABLE_VARIABLE, "").split(",")}
        self.plugins = tuple(self._load(point, disabled) for point in sorted(points, key=_load_order))

    @property
    def hook(self) -> pluggy.HookRelay:
        """The hooks. An implementation that raises counts as one that returned None."""
        return self._manager.hook

    @property
    def notes(self) -> tuple[str, ...]:
        """What plugins brought that could not be used: names that were taken already."""
        return tuple(self._notes)

    def register(self, plugin: object, name: str) -> None:
        """Add a plugin that is at hand already, as tests do.

        :raises ValueError: where it cannot be used, saying why.
        """
        problem = self._problem_of(plugin)
        if problem:
            raise ValueError(f"plugin {name}: {problem}")
        self._manager.register(self._isolated(plugin, name), name)

    def operations(self) -> dict[str, Operation]:
        """Every operation by name; the first plugin to bring a name keeps it."""
        found: dict[str, Operation] = {}
        for operation in self._brought("treescribe_operations"):
            if operation.name in found:
                self._note(f"operation {operation.name} is brought twice; the first one stays")
            else:
                found[operation.name] = operation
        return found

    def backends(self) -> dict[str, Backend]:
        """Every backend by name; the first plugin to bring a name keeps it."""
        found: dict[str, Backend] = {}
        for backend in self._brought("treescribe_backends"):
            if backend.name in found:
                self._note(f"backend {backend.name} is brought twice; the first one stays")
            else:
                found[backend.name] = backend
        return found

    def codec(self) -> Codec:
        """A codec that knows the built-in catalogue and the plugins' event types."""
        from treescribe.codec import Codec
        from treescribe.events import CATALOGUE

        types = {cls.type: cls for cls in CATALOGUE}
        extra = []
        for cls in self._brought("treescribe_event_types"):
            if cls.type in types:
                self._note(f"event type {cls.type} is declared twice; the first one stays")
            else:
                types[cls.type] = cls
                extra.append(cls)
        return Codec(extra)

    def _brought(self, hook: str) -> list[Any]:
        """What all plugins returned from `hook`, in the order they were registered."""
        answers = reversed(getattr(self.hook, hook)())  # pluggy calls the latest registered first
        return [part for answer in answers for part in answer]

    def _note(self, text: str) -> None:
        if text not in self._notes:
            self._notes.append(text)
            log.warning("treescribe: %s", text)

    def _load(self, point: EntryPoint, disabled: set[str]) -> PluginState:
        version, distribution = (point.dist.version, point.dist.name) if point.dist else ("", "")

        def state(hooks: tuple[str, ...] = (), problem: str = "") -> PluginState:
            return PluginState(point.name, version, distribution, hooks, problem)

        if point.name in disabled:
            return state(problem=f"switched off by {DISABLE_VARIABLE}")
        try:
            plugin = point.load()
        except Exception as error:  # noqa: BLE001 - a plugin that cannot be imported must not take the rest with it
            return state(problem=f"cannot be imported: {type(error).__name__}: {error}")
        problem = self._problem_of(plugin)
        if problem:
            return state(problem=problem)
        if self._manager.has_plugin(point.name):
            return state(problem="another plugin of this name is in use already")
        self._manager.register(self._isolated(plugin, point.name), point.name)
        return state(hooks=tuple(sorted(name for name, _ in self._implementations(plugin))))

    def _implementations(self, plugin: object) -> list[tuple[str, Callable[..., Any]]]:
        names = [name for name in dir(plugin) if self._manager.parse_hookimpl_opts(plugin, name) is not None]
        return [(name, getattr(plugin, name)) for name in names]

    def _problem_of(self, plugin: object) -> str:
        """Why a plugin cannot be used; empty where it can."""
        for name, function in self._implementations(plugin):
            if name not in self._specs:
                return f"there is no hook {name}"
            known = self._specs[name]
            taken = tuple(p for p in inspect.signature(function).parameters if p != "self")
            if not set(taken) <= set(known):
                return f"hook {name} takes ({', '.join(known)}), this one takes ({', '.join(taken)})"
        return ""

    def _isolated(self, plugin: object, name: str) -> object:
        """The plugin's hook implementations, each guarded, as an object to register in its place."""
        isolated = _Isolated()
        for hook, function in self._implementations(plugin):
            setattr(isolated, hook, self._guarded(name, hook, function))
        return isolated

    def _guarded(self, plugin: str, hook: str, function: Callable[..., Any]) -> Callable[..., Any]:
        """`function`, but a failure of it is reported once and counts as an answer of None."""
        parameters = tuple(inspect.signature(function).parameters)
        run_at = parameters.index("run") if "run" in parameters else None

        @wraps(function)
        def guarded(*arguments: Any) -> Any:
            try:
                return function(*arguments)
            except Exception as error:  # one observer that raises never stops the run or the others
                if (plugin, hook) not in self._failed:
                    self._failed.add((plugin, hook))
                    text = f"plugin {plugin} failed in {hook}: {type(error).__name__}: {error}"
                    log.warning("treescribe: %s", text)
                    log.debug("the traceback:", exc_info=error)
                    if run_at is not None:
                        arguments[run_at].report(text)
                return None

        return guarded


class _Isolated:
    """What stands for a plugin in the plugin manager: its hook implementations, each guarded."""


def _load_order(point: EntryPoint) -> tuple[bool, str]:
    return (point.dist is None or point.dist.name != OWN_DISTRIBUTION, point.name)


@cache
def host() -> Host:
    """The host of this process, with every plugin that is installed."""
    return Host(entry_points(group=ENTRY_POINT_GROUP))
