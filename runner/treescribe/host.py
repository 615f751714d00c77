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
from treescribe.environment import Variable

if TYPE_CHECKING:
    from treescribe.backend import Backend
    from treescribe.codec import Codec
    from treescribe.operation import Operation

ENTRY_POINT_GROUP = "treescribe"
DISABLE_VARIABLE = "TREESCRIBE_DISABLE_PLUGINS"
TRACE_VARIABLE = "TREESCRIBE_TRACE"
OWN_DISTRIBUTION = "treescribe"
_MARK = f"{spec.PROJECT_NAME}_impl"  # what `hookimpl` puts on a function

log = logging.getLogger("treescribe")


class PluginState(NamedTuple):
    """A plugin that was found. ``problem`` says why it was left out; empty where it is in use."""

    name: str
    version: str
    distribution: str
    hooks: tuple[str, ...]
    problem: str = ""


class _Implementation(NamedTuple):
    """A function of a plugin that implements a hook."""

    hook: str
    function: Callable[..., Any]
    wraps_others: bool


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
        self._answers: dict[str, list[tuple[str, Any]]] = {}
        self._codec: Codec | None = None
        self._specs = {
            name: tuple(inspect.signature(function).parameters)
            for name, function in vars(spec).items()
            if name.startswith("treescribe_")
        }
        if environment.get(TRACE_VARIABLE):
            self._manager.trace.root.setwriter(lambda text: print(text, end="", file=sys.stderr))
            self._manager.enable_tracing()
        disabled = {name.strip() for name in environment.get(DISABLE_VARIABLE, "").split(",")}
        named = sorted(((_origin(point), point) for point in points), key=_load_order)
        self.plugins = tuple(self._load(point, origin, disabled) for origin, point in named)

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
        implementations = self._implementations(plugin)
        problem = self._problem_of(plugin, implementations)
        if problem:
            raise ValueError(f"plugin {name}: {problem}")
        self._manager.register(self._isolated(implementations, name), name)
        self._answers.clear()
        self._codec = None

    def operations(self) -> dict[str, Operation]:
        """Every operation by name; the first plugin to bring a name keeps it."""
        found: dict[str, Operation] = {}
        for plugin, operation in self._brought("treescribe_operations"):
            if operation.name in found:
                self._note(f"operation {operation.name} of plugin {plugin} is left out: the name is taken")
            else:
                found[operation.name] = operation
        return found

    def backends(self) -> dict[str, Backend]:
        """Every backend by name; the first plugin to bring a name keeps it."""
        found: dict[str, Backend] = {}
        for plugin, backend in self._brought("treescribe_backends"):
            if backend.name in found:
                self._note(f"backend {backend.name} of plugin {plugin} is left out: the name is taken")
            else:
                found[backend.name] = backend
        return found

    def codec(self) -> Codec:
        """A codec that knows the built-in catalogue and the plugins' event types; one for all, since it learns."""
        if self._codec is not None:
            return self._codec
        from treescribe.codec import Codec
        from treescribe.events import CATALOGUE

        types = {cls.type: cls for cls in CATALOGUE}
        extra = []
        for plugin, cls in self._brought("treescribe_event_types"):
            if cls.type in types:
                self._note(f"event type {cls.type} of plugin {plugin} is left out: the name is taken")
            else:
                types[cls.type] = cls
                extra.append(cls)
        self._codec = Codec(extra)
        return self._codec

    def _brought(self, hook: str) -> list[tuple[str, Any]]:
        """(plugin, part) of what all plugins returned from `hook`, in the order they were registered; asked once."""
        if hook not in self._answers:
            caller = getattr(self.hook, hook)
            plugins = [implementation.plugin_name for implementation in caller.get_hookimpls()]
            answers = reversed(caller())  # pluggy calls the latest registered first
            self._answers[hook] = [
                (plugin, part) for plugin, answer in zip(plugins, answers, strict=True) for part in answer
            ]
        return self._answers[hook]

    def _note(self, text: str) -> None:
        if text not in self._notes:
            self._notes.append(text)
            log.warning("treescribe: %s", text)

    def _load(self, point: EntryPoint, origin: _Origin, disabled: set[str]) -> PluginState:
        def state(hooks: tuple[str, ...] = (), problem: str = "") -> PluginState:
            return PluginState(point.name, origin.version, origin.distribution, hooks, problem)

        if point.name in disabled:
            return state(problem=f"switched off by {DISABLE_VARIABLE}")
        if self._manager.has_plugin(point.name):
            return state(problem="another plugin of this name is in use already")
        try:
            plugin = point.load()
            implementations = self._implementations(plugin)
            problem = self._problem_of(plugin, implementations)
            if problem:
                return state(problem=problem)
            self._manager.register(self._isolated(implementations, point.name), point.name)
        except (Exception, SystemExit) as error:  # noqa: BLE001 - a broken plugin must not take the rest with it
            return state(problem=f"cannot be imported: {type(error).__name__}: {error}")
        return state(hooks=tuple(sorted(found.hook for found in implementations)))

    def _implementations(self, plugin: object) -> list[_Implementation]:
        """Every function that is marked as a hook's implementation."""
        found = []
        members = vars(plugin).items() if inspect.ismodule(plugin) else ()  # of which most are none: a quick look first
        names = [name for name, member in members if hasattr(member, _MARK)] if members else dir(plugin)
        for name in names:
            options = self._manager.parse_hookimpl_opts(plugin, name)
            if options is not None:
                wraps_others = bool(options.get("wrapper") or options.get("hookwrapper"))
                found.append(_Implementation(options.get("specname") or name, getattr(plugin, name), wraps_others))
        return found

    def _problem_of(self, plugin: object, implementations: Iterable[_Implementation]) -> str:
        """Why a plugin cannot be used; empty where it can."""
        if inspect.isclass(plugin):
            return f"its entry point names the class {plugin.__name__}; name a module, or an object made of the class"
        for name, function, wraps_others in implementations:
            if name not in self._specs:
                return f"there is no hook {name}"
            if wraps_others or inspect.isgeneratorfunction(function):
                return f"hook {name} is a generator or wraps others, which hooks of treescribe cannot"
            known = self._specs[name]
            taken = tuple(inspect.signature(function).parameters)
            if not set(taken) <= set(known):
                return f"hook {name} takes ({', '.join(known)}), this one takes ({', '.join(taken)})"
        return ""

    def _isolated(self, implementations: Iterable[_Implementation], name: str) -> object:
        """A plugin's hook implementations, each guarded, as an object to register in its place."""
        isolated = _Isolated()
        for hook, function, _ in implementations:
            setattr(isolated, hook, self._guarded(name, hook, function))
        return isolated

    def _guarded(self, plugin: str, hook: str, function: Callable[..., Any]) -> Callable[..., Any]:
        """`function` as a hook of all arguments; a failure of it is reported once and counts as an empty answer."""
        known = self._specs[hook]
        taken = [known.index(parameter) for parameter in inspect.signature(function).parameters]
        run_at = known.index("run") if "run" in known else None
        answers = _ANSWERS.get(hook)

        @wraps(function)
        def guarded(*arguments: Any) -> Any:
            try:
                answer = function(*[arguments[place] for place in taken])
                return answers(answer) if answers is not None else answer
            except Exception as error:  # one observer that raises never stops the run or the others
                text = f"plugin {plugin} failed in {hook}: {type(error).__name__}: {error}"
                if (plugin, hook) not in self._failed:
                    self._failed.add((plugin, hook))
                    log.warning("treescribe: %s", text)
                    log.debug("the traceback:", exc_info=error)
                if run_at is not None:
                    arguments[run_at].report_once(f"{plugin} {hook}", text)
                return None if answers is None else answers(None)

        guarded.__wrapped__ = getattr(spec, hook)  # which pluggy asks for the arguments to hand over
        return guarded


def _list_of(fits: Callable[[Any], bool], expected: str) -> Callable[[Any], list[Any]]:
    """What turns a hook's answer into a list, and raises where a part of it is not what the hook is to return."""

    def answers(answer: Any) -> list[Any]:
        parts = [] if answer is None else list(answer)
        for part in parts:
            if not fits(part):
                raise TypeError(f"a list of {expected} is expected, this one has a {type(part).__name__}")
        return parts

    return answers


def _is_named(part: Any) -> bool:
    return isinstance(getattr(part, "name", None), str)


def _is_event_type(part: Any) -> bool:
    from treescribe.events import Event

    return isinstance(part, type) and issubclass(part, Event)


def _is_reader(part: Any) -> bool:
    return callable(getattr(part, "read", None)) and callable(getattr(part, "end", None))


def _one(fits: Callable[[Any], bool], expected: str) -> Callable[[Any], Any]:
    """What raises where a hook's answer is neither None nor what the hook is to return."""

    def answers(answer: Any) -> Any:
        if answer is not None and not fits(answer):
            raise TypeError(f"{expected} is expected, this is a {type(answer).__name__}")
        return answer

    return answers


def _is_status(answer: Any) -> bool:
    return isinstance(getattr(answer, "summary", None), str) and isinstance(getattr(answer, "details", None), dict)


_ANSWERS: dict[str, Callable[[Any], Any]] = {
    "treescribe_backends": _list_of(_is_named, "backends"),
    "treescribe_event_types": _list_of(_is_event_type, "event classes"),
    "treescribe_operations": _list_of(_is_named, "operations"),
    "treescribe_command_environment": _list_of(lambda part: isinstance(part, Variable), "variables"),
    "treescribe_output_readers": _list_of(_is_reader, "output readers"),
    "treescribe_workspace_status": _one(_is_status, "a Status"),
}
"""What is made of the answers of hooks, and of a failure: an empty list, or None."""


class _Isolated:
    """What stands for a plugin in the plugin manager: its hook implementations, each guarded."""


class _Origin(NamedTuple):
    """The distribution that brings a plugin; empty where there is none."""

    distribution: str
    version: str


def _load_order(named: tuple[_Origin, EntryPoint]) -> tuple[bool, str]:
    origin, point = named
    return (origin.distribution != OWN_DISTRIBUTION, point.name)


def _origin(point: EntryPoint) -> _Origin:
    """Where a plugin comes from.

    Read off the head of its metadata: to have the whole parsed, README and all, takes longer than importing a plugin.
    """
    text = (point.dist.read_text("METADATA") or point.dist.read_text("PKG-INFO") or "") if point.dist else ""
    head = dict(line.partition(": ")[::2] for line in text.partition("\n\n")[0].splitlines())
    return _Origin(head.get("Name", ""), head.get("Version", ""))


@cache
def host() -> Host:
    """The host of this process, with every plugin that is installed."""
    return Host(entry_points(group=ENTRY_POINT_GROUP))
