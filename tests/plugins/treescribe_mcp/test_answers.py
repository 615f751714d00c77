"""Answers: whatever they hold, they are no longer than their ceiling, and say what was cut."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from treescribe_mcp.answers import fitted, size

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=400),
    lambda inner: st.lists(inner, max_size=12) | st.dictionaries(st.text(max_size=8), inner, max_size=6),
    max_leaves=60,
)
REST = "for the rest, narrow it by query"


@given(st.dictionaries(st.sampled_from(["ok", "runs", "tests", "text", "items"]), JSON), st.text(max_size=9000))
def test_an_answer_is_no_longer_than_its_ceiling(answer: dict[str, Any], summary: str) -> None:
    whole = fitted({**answer, "summary": summary}, 4096, REST)
    assert size(whole) <= 4096
    assert next(iter(whole)) == "summary"
    if size({**answer, "summary": summary}) <= 4096 and len(summary) <= 1024:
        assert whole == {"summary": summary, **answer}


def test_the_longest_part_is_cut_and_the_cut_says_how_to_get_the_rest() -> None:
    answer = {"items": [{"name": f"test_{number}"} for number in range(1000)], "summary": "1,000 tests", "total": 1000}
    cut = fitted(answer, 4096, REST)
    kept = len(cut["items"])
    assert 50 < kept < 1000
    assert cut["items"] == answer["items"][:kept]  # type: ignore[index]
    assert cut["cut"] == [f"items: {kept} of 1000", REST]
    assert (cut["summary"], cut["total"]) == ("1,000 tests", 1000)


def test_a_long_text_is_cut_with_a_mark() -> None:
    cut = fitted({"summary": "", "printed": [{"text": "x" * 10_000}]}, 2048, REST)
    assert cut["printed"][0]["text"].endswith("x…")
    assert cut["cut"][0].startswith("printed[0].text: ")
