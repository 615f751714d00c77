"""Answers of bounded size: what does not fit is cut where it is longest, and the cut says how to get the rest."""

from __future__ import annotations

import json
from typing import Any, NamedTuple

CUT = "cut"
_LONG_TEXT = 200
_KEPT_WHOLE = frozenset({"summary", CUT})


def size(answer: Any) -> int:
    """Bytes of an answer as JSON."""
    return len(json.dumps(answer, ensure_ascii=False, separators=(",", ":")).encode(errors="surrogatepass"))


def fitted(answer: dict[str, Any], ceiling: int, rest: str) -> dict[str, Any]:
    """Return `answer` with ``summary`` first and no more than `ceiling` bytes long.

    The longest list or text in it is halved until it fits; ``cut`` names each, and says how to get the `rest`.
    """
    answer = json.loads(json.dumps(answer))
    answer = {"summary": answer.get("summary", ""), **{key: part for key, part in answer.items() if key != "summary"}}
    answer["summary"] = _shortened(answer["summary"], ceiling // 4)
    if size(answer) <= ceiling:
        return answer
    lengths: dict[str, int] = {}
    room = ceiling - len(rest) - _LONG_TEXT
    while size(answer) + sum(len(place) + 40 for place in lengths) > room:
        found = _longest(answer)
        if found is None:
            break
        lengths.setdefault(found.place, len(found.holder[found.key]))
        _halve(found.holder, found.key)
    marks = []
    for place, whole in lengths.items():
        kept = _length_at(answer, place)
        marks.append(f"{place}: {kept} of {whole}" if kept is not None else f"{place}: left out")
    answer[CUT] = [*marks, *([rest] if rest else [])]
    return answer


class _Part(NamedTuple):
    """A list or a long text in an answer, and where it stands."""

    bytes: int
    holder: Any
    key: Any
    place: str


def _longest(answer: dict[str, Any]) -> _Part | None:
    """The list or text that takes most room, a text before the list that holds little else; None: nothing to cut."""
    lists, texts = _Part(0, None, None, ""), _Part(0, None, None, "")
    waiting: list[tuple[Any, str]] = [(answer, "")]
    while waiting:
        holder, place = waiting.pop()
        for key, value in list(holder.items()) if isinstance(holder, dict) else list(enumerate(holder)):
            if not place and key in _KEPT_WHOLE:
                continue
            inner = f"{place}[{key}]" if isinstance(holder, list) else f"{place}.{key}" if place else str(key)
            if isinstance(value, dict | list):
                waiting.append((value, inner))
            if isinstance(value, list) and value:
                lists = max(lists, _Part(size(value), holder, key, inner), key=_bytes)
            elif isinstance(value, str) and len(value) > _LONG_TEXT:
                texts = max(texts, _Part(size(value), holder, key, inner), key=_bytes)
    longest = texts if 2 * texts.bytes >= lists.bytes else lists
    return longest if longest.bytes else None


def _bytes(part: _Part) -> int:
    return part.bytes


def _halve(holder: Any, key: Any) -> None:
    value = holder[key]
    holder[key] = value[: len(value) // 2] if isinstance(value, list) else _shortened(value, len(value) // 2)


def _shortened(text: str, length: int) -> str:
    return text if len(text) <= length else text[: max(length - 1, 0)] + "…"


def _length_at(answer: Any, place: str) -> int | None:
    current = answer
    for part in place.replace("[", ".").replace("]", "").split("."):
        try:
            current = current[int(part)] if isinstance(current, list) else current[part]
        except (KeyError, IndexError, ValueError, TypeError):
            return None
    return len(current) if isinstance(current, list | str) else None
