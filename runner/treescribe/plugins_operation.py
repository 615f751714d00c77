"""The operation ``plugins``: what was found, what it brings, and what is wrong with it."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict

from treescribe.errors import TreescribeError
from treescribe.host import host
from treescribe.operation import Operation
from treescribe.terminal import Style, columns
from treescribe.workspace import Workspace


class PluginInfo(BaseModel):
    """A plugin. ``problem`` is empty where it is in use."""

    model_config = ConfigDict(frozen=True)

    name: str
    version: str
    distribution: str
    hooks: tuple[str, ...]
    ok: bool
    problem: str = ""


class PluginsResult(BaseModel):
    """Every plugin that was found, treescribe's own first; `notes` tell of names that were brought twice."""

    model_config = ConfigDict(frozen=True)

    summary: str
    plugins: tuple[PluginInfo, ...]
    notes: tuple[str, ...] = ()


def plugins(workspace: Workspace | None) -> PluginsResult:
    """List the plugins that were found, with the hooks they implement and what keeps any of them from being used.

    TREESCRIBE_DISABLE_PLUGINS=a,b switches plugins off by name; TREESCRIBE_TRACE=1 prints every hook call.
    """
    found = host()
    found.codec()
    found.backends()
    problems = [problem for operation in found.operations().values() if (problem := _problem_of(operation))]
    infos = tuple(
        PluginInfo(
            name=state.name,
            version=state.version,
            distribution=state.distribution,
            hooks=state.hooks,
            ok=not state.problem,
            problem=state.problem,
        )
        for state in found.plugins
    )
    return PluginsResult(summary=_summary(infos), plugins=infos, notes=(*found.notes, *problems))


def _summary(infos: tuple[PluginInfo, ...]) -> str:
    left_out = [info.name for info in infos if not info.ok]
    how = f"left out: {', '.join(left_out)}" if left_out else "all in use"
    return f"{len(infos)} plugin{'' if len(infos) == 1 else 's'}, {how}"


def _problem_of(operation: Operation) -> str:
    """Why an operation cannot be used; empty where it can."""
    try:
        operation.parameters_model()
        operation.result_model()
        operation.load_render()
    except Exception as error:  # noqa: BLE001 - whatever a plugin's module does when it is loaded is its problem
        text = error.message if isinstance(error, TreescribeError) else f"{type(error).__name__}: {error}"
        return f"operation {operation.name}: {text}"
    return ""


def render(result: PluginsResult, style: Style) -> str:
    """A table: name, version, distribution, state."""
    rows: list[tuple[str, ...]] = [("name", "version", "from", "state")]
    rows += [
        (info.name, info.version, info.distribution, f"left out: {info.problem}" if info.problem else "ok")
        for info in result.plugins
    ]
    header, *lines = columns(rows)
    painted = [line if info.ok else style.paint(line, "bad") for line, info in zip(lines, result.plugins, strict=True)]
    return "\n".join([style.paint(header, "dim"), *painted, *result.notes])
