"""SARIF 2.1.0, the static analysers' exchange format: https://docs.oasis-open.org/sarif/sarif/v2.1.0/"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import unquote, urlsplit

from treescribe import Event, Workspace
from treescribe.events import Diagnostic, Severity

from treescribe_reports.written import UnreadableReport

_SEVERITIES = {"error": Severity.ERROR, "warning": Severity.WARNING, "note": Severity.INFO, "none": Severity.INFO}
_NO_FINDINGS = ("pass", "notApplicable", "informational")
_PLACEHOLDER = re.compile(r"\{(\d+)\}")


def sarif_events(path: str, workspace: Workspace) -> Iterator[Event]:
    """The findings of a report, each a `Diagnostic`. Suppressed ones, and those that are gone, are none.

    :raises UnreadableReport: where it is no SARIF.
    """
    try:
        with open(path, encoding="utf-8-sig") as file:
            log = json.load(file)
    except (ValueError, RecursionError) as error:
        raise UnreadableReport(f"it is no JSON: {error}") from error
    runs = log.get("runs") if isinstance(log, dict) else None
    if not isinstance(runs, list):
        raise UnreadableReport("it has no list of runs, as SARIF has")
    found = [event for number, run in enumerate(runs) for event in _run(run, f"runs[{number}]", workspace)]
    yield from found


def _run(run: Any, place: str, workspace: Workspace) -> Iterator[Diagnostic]:
    analysis = _Analysis(_object(run, place), workspace)
    results = analysis.run.get("results") or []  # null: the analysis did not get to any
    if not isinstance(results, list):
        raise UnreadableReport(f"{place}.results is no list")
    for number, result in enumerate(results):
        if diagnostic := analysis.diagnostic(_object(result, f"{place}.results[{number}]")):
            yield diagnostic


class _Analysis:
    """One ``run`` of a log: a tool, its rules, and where relative paths begin."""

    def __init__(self, run: dict[str, Any], workspace: Workspace) -> None:
        self.run = run
        self._root = os.fspath(workspace.root)
        driver = _get(run, "tool", "driver")
        self._tool = _text(driver, "name")
        self._rules = [rule for rule in _list(driver, "rules") if isinstance(rule, dict)]
        self._by_id = {_text(rule, "id"): rule for rule in self._rules}

    def diagnostic(self, result: dict[str, Any]) -> Diagnostic | None:
        if result.get("kind") in _NO_FINDINGS or result.get("baselineState") == "absent" or _is_suppressed(result):
            return None
        rule = self._rule(result)
        place = _get(next(iter(_list(result, "locations")), {}), "physicalLocation")
        region = _get(place, "region")
        level = _text(result, "level") or _text(_get(rule, "defaultConfiguration"), "level") or "warning"
        return Diagnostic(
            severity=_SEVERITIES.get(level, level),
            message=self._message(_get(result, "message"), rule),
            code=_text(result, "ruleId") or _text(rule, "id"),
            tool=self._tool,
            path=self._path(_get(place, "artifactLocation")),
            line=_number(region, "startLine"),
            column=_number(region, "startColumn"),
        )

    def _rule(self, result: dict[str, Any]) -> dict[str, Any]:
        reference = _get(result, "rule")
        index = result.get("ruleIndex", reference.get("index"))
        if isinstance(index, int) and 0 <= index < len(self._rules):
            return self._rules[index]
        return self._by_id.get(_text(result, "ruleId") or _text(reference, "id"), {})

    def _message(self, message: dict[str, Any], rule: dict[str, Any]) -> str:
        known = _get(_get(rule, "messageStrings"), _text(message, "id"))
        text = _text(message, "text") or _text(known, "text")
        arguments = [str(argument) for argument in _list(message, "arguments")]

        def filled(found: re.Match[str]) -> str:
            place = int(found[1])
            return arguments[place] if place < len(arguments) else found[0]

        return _PLACEHOLDER.sub(filled, text) if arguments else text

    def _path(self, artifact: dict[str, Any]) -> str:
        """The absolute path of a file that lies on this machine, or what the report calls it."""
        uri = _text(artifact, "uri")
        base = _get(_get(self.run, "originalUriBaseIds"), _text(artifact, "uriBaseId"))
        parts = urlsplit(uri)
        if parts.scheme == "file":
            return os.path.normpath(unquote(parts.path))
        if not uri or parts.scheme:
            return uri
        begin = urlsplit(_text(base, "uri"))
        folder = unquote(begin.path) if begin.scheme == "file" else self._root
        return os.path.normpath(os.path.join(folder, unquote(uri)))


def _is_suppressed(result: dict[str, Any]) -> bool:
    """Whether somebody has decided that a finding is none; not one under review or refused."""
    suppressions = [one for one in _list(result, "suppressions") if isinstance(one, dict)]
    return bool(suppressions) and all(one.get("status", "accepted") == "accepted" for one in suppressions)


def _object(value: Any, place: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise UnreadableReport(f"{place} is no object")
    return value


def _get(value: Any, *keys: str) -> dict[str, Any]:
    """The object at the end of a path of keys; an empty one where there is none."""
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value if isinstance(value, dict) else {}


def _list(value: dict[str, Any], key: str) -> list[Any]:
    found = value.get(key)
    return found if isinstance(found, list) else []


def _text(value: dict[str, Any], key: str) -> str:
    found = value.get(key)
    return found if isinstance(found, str) else ""


def _number(value: dict[str, Any], key: str) -> int:
    found = value.get(key)
    return found if isinstance(found, int) and not isinstance(found, bool) and found > 0 else 0
